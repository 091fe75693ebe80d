/**
 * Checks what tests claim by calling `covers`: the test has to fail when the field is dropped from replies and ignored
 * in requests. All runs of a file share one process. If a test fails there with all fields, or ends late, its claims are
 * checked again in processes of their own, where a run that does not end within the longest time has failed.
 */
import { fork } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Covered, readCoverage } from '#contract/documents/coverage.ts';
import { expectedToolsVariable } from '../toolbox/places.ts';
import { root } from '../tree/repository.ts';
import {
  type ClaimRun,
  type ClaimState,
  isTitle,
  type SkippedTest,
  stateVariable,
  writeState,
} from './state.ts';

/** Result of a check. */
export interface ClaimVerdict {
  readonly claim: Covered;
  /** Null: the test checks the field. */
  readonly problem: string | null;
  /** Why the test did not run. */
  readonly skip?: string;
}

/** Runs of one process, and the reasons of tests that it left out. */
interface FileRuns {
  readonly runs: ClaimRun[];
  readonly skips: SkippedTest[];
  /** Status of the process; null: a signal ended it. */
  readonly status: number | null;
  /** The end of what the process has printed. */
  readonly output: string;
}

export function nameOf({ subject, field, test }: Covered): string {
  return `${subject}${field && `.${field}`} by "${test}"`;
}

/** @param file relative to the root */
export function claimsOf(file: string): Covered[] {
  return readCoverage(file, readFileSync(join(root, file), 'utf8'));
}

async function runFile(
  file: string,
  claims: readonly Covered[],
  only?: ClaimState['only'],
): Promise<FileRuns> {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  // Services of tests run as other users.
  chmodSync(folder, 0o755);
  const state = join(folder, 'state.json');
  writeState(state, { claims, dropped: null, ...(only ? { only } : {}) });
  const dropFields = new URL(`drop-fields.ts?state=${state}`, import.meta.url).href;
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    [stateVariable]: state,
    NODE_OPTIONS: `--import=${dropFields}`,
  };
  // With these it would report to the runner of this test, and find no tools.
  for (const name of ['NODE_TEST_CONTEXT', expectedToolsVariable]) delete env[name];
  const child = fork(join(root, file), {
    cwd: root,
    env,
    execArgv: ['--import', import.meta.resolve('./run-claims.ts')],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const endChild = () => child.kill('SIGKILL');
  process.once('exit', endChild);
  const runs: ClaimRun[] = [];
  const skips: SkippedTest[] = [];
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2000)));
  child.on('message', (message: ClaimRun | SkippedTest) => {
    if ('skip' in message) return void skips.push(message);
    runs.push(message);
    if (!process.env.CLAIMS_VERBOSE) return;
    const { claim, error, seconds } = message;
    const field = claim ? nameOf(claim) : `as it is: "${message.test}"`;
    console.log(
      `  ${seconds.toFixed(1).padStart(6)} s  ${error === null ? 'passes' : 'fails '}  ${field}  ${error?.split('\n', 1)[0] ?? ''}`,
    );
  });
  try {
    const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { runs, skips, status, output };
  } finally {
    process.off('exit', endChild);
    rmSync(folder, { recursive: true, force: true });
  }
}

const isSame = (one: Covered | null, other: Covered) =>
  one !== null && one.subject === other.subject && one.field === other.field && one.test === other.test;

const hasPassed = ({ error }: ClaimRun) => error === null;
const passesWithout = 'its test passes without the field';

async function verdictOf(
  file: string,
  claim: Covered,
  { runs, skips, status, output }: FileRuns,
): Promise<ClaimVerdict> {
  // A title with placeholders is that of several tests, of which one has to check the field.
  const own = runs.filter((run) => isSame(run.claim, claim));
  const titles = new Set(own.map(({ test }) => test));
  // Each test runs with all fields before and after its claims.
  const completeRuns = runs.filter((run) => run.claim === null && titles.has(run.test));
  // Tests of a skipped suite are not reported by name: then the process must not have failed.
  const skipped = skips.find(({ test }) => (test === null ? status === 0 : isTitle(claim.test, test)));
  if (own.length === 0)
    return skipped
      ? { claim, problem: null, skip: skipped.skip }
      : { claim, problem: `did not run: ${output}` };
  if (completeRuns.length % 2 === 1)
    return { claim, problem: `its process ended before the last run: ${output}` };
  if (own.every(hasPassed)) return { claim, problem: passesWithout };
  const hasFailed = own.some((run) => !hasPassed(run) && !run.isLate);
  if (hasFailed && completeRuns.every(hasPassed)) return { claim, problem: null };
  // Earlier runs have left something behind, or the machine was slow.
  const firstRuns = completeRuns.filter((_, index) => index % 2 === 0);
  const whole = firstRuns.every(hasPassed) ? undefined : await runFile(file, [claim], 'with');
  if (whole && !(whole.runs.length > 0 && whole.runs.every(hasPassed)))
    return { claim, problem: `its test fails alone: ${whole.runs[0]?.error ?? whole.output}` };
  const alone = await runFile(file, [claim], 'without');
  if (alone.runs.length === 0) return { claim, problem: `its test does not run alone: ${alone.output}` };
  return { claim, problem: alone.runs.every(hasPassed) ? passesWithout : null };
}

/** Checks claims of a test file. @param file relative to the root @param claims all of the same file */
export async function checkClaims(
  file: string,
  claims: readonly Covered[] = claimsOf(file),
): Promise<ClaimVerdict[]> {
  const runs = await runFile(file, claims);
  const verdicts: ClaimVerdict[] = [];
  for (const claim of claims) verdicts.push(await verdictOf(file, claim, runs));
  return verdicts;
}
