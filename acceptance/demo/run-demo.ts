/** For tests: the demo as a person would start it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { pathWith } from '../../tools/toolbox/places.ts';

const run = promisify(execFile);

/** Many times what it takes, also on a busy machine. */
const patienceMilliseconds = 300_000;

/** @param programs whose folders are on the PATH @returns what the demo printed */
export async function demo(
  args: readonly string[],
  programs: readonly (string | null)[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const PATH = pathWith(...programs);
  const program = join(import.meta.dirname, 'main.ts');
  // The test runner's own variables would make the demo report to it.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const { stdout } = await run(process.execPath, [program, ...args], {
    env: { ...inherited, ...environment, PATH },
    maxBuffer: 50_000_000,
    timeout: patienceMilliseconds,
  });
  return stripVTControlCharacters(stdout);
}

/** Fails unless the tour went through to its end. */
export function checkTour(output: string): void {
  assert.match(output, /Drift status: OK/);
  assert.match(output, /The environment is INACTIVE; its history of 4 deployments/);
}
