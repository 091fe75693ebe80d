/**
 * An init whose providers come from the agent's cache. The tool finds there what is there, and fails where
 * something is missing; missing packages are then fetched and verified once for all runs, and init continues.
 * So the rules by which a tool chooses stay the tool's own.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { fillCache } from './fill-cache.ts';
import {
  makeRoom,
  openProviderCache,
  packagesFolder,
  type ProviderCacheOptions,
  readCache,
} from './provider-cache.ts';
import { nameOf, type ProviderPackage } from './provider-package.ts';
import type { Upstream } from './registry-client.ts';
import type { RegistryProxy } from './registry-proxy.ts';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import { logLine, scratchPath, warn } from '../attempt/attempt-log.ts';
import type { CommandEnd } from '../attempt/run-command.ts';
import { checkLock, completeLock, keepUntil, removeDamaged, settleProviders } from './cached-providers.ts';
import { RunFailure } from '../processes/failure.ts';

/** One round learns everything that is missing; another is for what changes meanwhile. */
const maxRounds = 3;

export interface Installing {
  readonly attempt: AttemptContext;
  readonly cache: ProviderCacheOptions;
  readonly proxy: RegistryProxy;
  /** Where packages come from, by host. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly step: string;
  /** The configuration's. */
  readonly folder: string;
  /** Whether the code came with a lock file, or an earlier init has left one. */
  readonly hasLockFile: boolean;
  readonly signal: AbortSignal;
  /** Runs the tool's init once, its output going to the given file. */
  readonly start: (log: string) => Promise<CommandEnd>;
}

/**
 * @returns the end of the last init
 * @throws RunFailure that names the provider that could not be obtained, or whose files or checksums do not
 * fit
 */
export async function installThroughCache(installing: Installing): Promise<CommandEnd> {
  const { attempt, cache, step } = installing;
  const { end, hasFetched } = await goThrough(installing);
  if (hasFetched)
    await makeRoom(cache).catch((error: unknown) =>
      warn(attempt, step, `the cache of providers cannot be tidied up: ${(error as Error).message}`),
    );
  return end;
}

async function goThrough(installing: Installing): Promise<{ end: CommandEnd; hasFetched: boolean }> {
  if (!existsSync(packagesFolder(installing.cache.folder))) await openProviderCache(installing.cache.folder);
  await using _reading = await readCache(installing.cache);
  for (let round = 1; ; round += 1) {
    if (installing.hasLockFile || round > 1) await completeLock(installing, await checkLock(installing));
    const { end, wanted } = await runOnce(installing, round);
    if (wanted === null) return { end, hasFetched: round > 1 };
    await fetchAll(installing, wanted);
  }
}

/** @returns what has to be fetched before it continues; null: it fails */
async function runOnce(
  installing: Installing,
  round: number,
): Promise<{ end: CommandEnd; wanted: ProviderPackage[] | null }> {
  const { attempt, proxy, step, start } = installing;
  const log = scratchPath(attempt, `init-${round}.log`);
  rmSync(log, { force: true });
  const end = await start(log);
  const [wanted, problems] = [proxy.takeWanted(), proxy.takeProblems()];
  const output = existsSync(log) ? readFileSync(log) : Buffer.alloc(0);
  const hasFailed = end.exitCode !== 0 && end.stop === null;
  const isRepaired =
    hasFailed && wanted.length === 0 && saysDamaged(output) && (await removeDamaged(installing));
  const goesOn = hasFailed && (wanted.length > 0 || isRepaired) && round < maxRounds;
  // Errors that are being seen to are not shown.
  appendFileSync(attempt.spool.stepLog(step), goesOn ? beforeErrors(output) : output, { mode: 0o600 });
  for (const problem of problems) warn(attempt, step, problem);
  if (end.exitCode === 0 && proxy.isUsed()) await settleProviders(installing);
  if (hasFailed && wanted.length === 0 && problems.length > 0) throw new RunFailure(problems.join('\n'));
  return { end, wanted: goesOn ? wanted : null };
}

async function fetchAll(
  { attempt, cache, upstreams, step, signal }: Installing,
  wanted: readonly ProviderPackage[],
): Promise<void> {
  const context = {
    signal,
    log: (text: string) => logLine(attempt, step, text),
    keepUntil: keepUntil(attempt),
  };
  const results = await Promise.allSettled(
    wanted.map(async (one) => {
      const upstream = upstreams.get(one.host);
      if (!upstream) throw new Error(`provider ${nameOf(one)}: its registry is not known`);
      await fillCache(cache, one, upstream, context);
    }),
  );
  attempt.stop.throwIfStopped();
  const problems = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as Error).message] : [],
  );
  if (problems.length > 0)
    throw new RunFailure(problems.join('\n'), { result: 'failed', failedCommand: 'init' });
}

// The tools break their sentences at the width of a page and frame them.
function saysDamaged(output: Buffer): boolean {
  const text = stripVTControlCharacters(output.toString('utf8')).replaceAll(/[│╷╵\s]+/g, ' ');
  return /match any of (the )?checksums/.test(text);
}

/** The output before the first error, and before the frame around it. */
function beforeErrors(output: Buffer): string {
  const text = output.toString('utf8');
  let at = 0;
  for (const line of text.split('\n')) {
    if (/^[│╷\s]*(Error: |╷$)/.test(stripVTControlCharacters(line))) return text.slice(0, at);
    at += line.length + 1;
  }
  return text;
}
