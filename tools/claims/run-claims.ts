/**
 * Loaded before a test file: runs only its tests that claim to check a field (`covers`), each once as it is, once for
 * each claim without the field, and once more as it is. Tells the parent how each run ended.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Covered } from '#contract/documents/coverage.ts';
import {
  type ClaimRun,
  type ClaimState,
  isTitle,
  readState,
  type SkippedTest,
  stateVariable,
  writeState,
} from './state.ts';

interface Options {
  readonly skip?: string | boolean;
  concurrency?: unknown;
}
type TestFunction = (...args: unknown[]) => unknown;
type Declare = (...args: unknown[]) => unknown;

const { [stateVariable]: file } = process.env;
// Workers and children of the tests load this, too.
delete process.env[stateVariable];
const state: ClaimState = file === undefined ? { claims: [], dropped: null } : readState(file);

const drop = (dropped: Covered | null) => file && writeState(file, { ...state, dropped });
const tell = (message: ClaimRun | SkippedTest) => process.send?.(message);

function partsOf(args: readonly unknown[]): {
  title: string;
  options: Options;
  body: TestFunction | undefined;
} {
  const title = typeof args[0] === 'string' ? args[0] : '';
  const options = args.find((part) => typeof part === 'object' && part !== null) as Options | undefined;
  return {
    title,
    options: { ...options },
    body: args.find((part) => typeof part === 'function') as TestFunction,
  };
}

const longestSeconds = 180;
/** A test that waits in vain for a missing field does not end; others take about as long as with it. */
let limitSeconds = longestSeconds;

async function runOnce(body: TestFunction, context: unknown): Promise<Pick<ClaimRun, 'error' | 'isLate'>> {
  const running = Promise.resolve().then(() => body(context));
  const ended = running.then(
    () => null,
    (error: Error) => `${error.message ?? error}`.slice(0, 300) || 'failed',
  );
  const { promise: late, resolve } = Promise.withResolvers<string>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve(`did not end in ${limitSeconds} seconds`);
  }, limitSeconds * 1000);
  const error = await Promise.race([ended, late]);
  clearTimeout(timer);
  drop(null);
  // It continues with the field, and must not disturb the next run.
  if (error !== null)
    await Promise.race([ended, new Promise((done) => setTimeout(done, longestSeconds * 1000).unref())]);
  return { error, isLate };
}

function declareRuns(declare: Declare, args: readonly unknown[]): unknown {
  const { title, options, body } = partsOf(args);
  const own = state.claims.filter(({ test }) => isTitle(test, title));
  if (own.length === 0 || !body) return Promise.resolve();
  if (options.skip) tell({ test: title, skip: String(options.skip) });
  const runsOfOnly = { with: [null], without: own };
  const runs = state.only ? runsOfOnly[state.only] : [null, ...own, null];
  return runs
    .map((claim, index) =>
      declare(`${title} (${index})`, { ...options, timeout: undefined }, async (context: unknown) => {
        const start = performance.now();
        drop(claim);
        if (claim === null) limitSeconds = longestSeconds;
        const end = await runOnce(body, context);
        const seconds = (performance.now() - start) / 1000;
        if (index === 0 && !state.only) limitSeconds = Math.min(longestSeconds, Math.ceil(seconds * 3 + 15));
        tell({ test: title, claim, ...end, seconds });
      }),
    )
    .at(-1);
}

function declareSuite(declare: Declare, args: readonly unknown[]): unknown {
  const { title, options, body } = partsOf(args);
  if (options.skip) tell({ test: null, skip: String(options.skip) });
  delete options.concurrency;
  return declare(title, options, body);
}

function replaceDeclarations(): void {
  const tests = createRequire(import.meta.url)('node:test') as Record<string, Declare>;
  for (const name of ['test', 'it', 'describe', 'suite']) {
    const declare = tests[name] as Declare;
    const replace = name === 'test' || name === 'it' ? declareRuns : declareSuite;
    tests[name] = Object.assign((...args: unknown[]) => replace(declare, args), declare);
  }
  syncBuiltinESMExports();
}

if (file !== undefined) replaceDeclarations();
