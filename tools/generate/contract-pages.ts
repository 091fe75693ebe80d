/** Pages of the contract that need more than the contract: the version, and what the tests declare. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { coveragePage, readCoverage } from '#contract/documents/coverage.ts';
import { openApiDocument } from '#contract/documents/openapi.ts';
import { referencePage } from '#contract/documents/reference-page.ts';
import { repositoryFiles, root } from '../tree/repository.ts';

function version(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** docs/openapi.json */
export function openApiFile(): Record<string, unknown> {
  return openApiDocument({ version: version() });
}

/** dist/docs/reference.html */
export function referenceFile(): string {
  return referencePage({ version: version() });
}

/** dist/docs/coverage.md: reads the calls of `covers` in every test file. */
export function coverageFile(): string {
  const tests = repositoryFiles().filter((file) => file.endsWith('.test.ts'));
  return coveragePage(tests.flatMap((file) => readCoverage(file, readFileSync(join(root, file), 'utf8'))));
}
