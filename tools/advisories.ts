/**
 * `npm run advisories`: asks the registry which versions of our packages have known vulnerabilities, and fails
 * where a serious one has no reasoned exception in `tools/advisory-exceptions.json`. Registries that do not
 * answer this question skip the check, visibly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAnswer } from './advisory-report.ts';
import { runNpm } from './npm/run-npm.ts';
import { root } from './tree/repository.ts';

const exceptions = readFileSync(join(root, 'tools', 'advisory-exceptions.json'), 'utf8');
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean }>;
};
const { stdout, stderr } = await runNpm(['audit', '--package-lock-only', '--json']);
const isForDevelopment = (path: string) => packages[path]?.dev === true;
const { lines, isGood } = readAnswer(stdout || stderr, exceptions, isForDevelopment, new Date());
for (const line of lines) console.log(line);
process.exitCode = isGood ? 0 : 1;
