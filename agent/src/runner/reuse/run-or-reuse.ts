/**
 * Replaces an installing command by the result of an earlier one, if all that it depends on is the same, and
 * stores its result otherwise. In doubt, the command runs.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { runEnvironment } from '#protocol/run-environment.ts';
import { sizeOf } from '../../attempt/run-command.ts';
import type { ReuseCapability } from '../../drivers/interface/driver.ts';
import { maskText } from '../../logs/mask.ts';
import { findLinked, linkAgain } from '../../providers/linked-packages.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import { type InstallCommand, resultKey } from './result-key.ts';
import { type CachedResult, readResult, removeResult, writeResult } from './results.ts';

const maxLogBytes = 64_000;

/** @param run runs the command */
export async function runOrReuse(
  attempt: RunnerAttempt,
  installing: InstallCommand,
  run: () => Promise<unknown>,
): Promise<void> {
  const place = await findPlace(attempt, installing).catch(() => null);
  if (place === null) return void (await run());
  const { job, stop, driver } = attempt;
  const { context } = installing.configuration;
  const isWanted = runEnvironment(job)[place.reuse.variable] !== 'false';
  const known = isWanted ? readResult(place.folder, place.key) : null;
  if (known !== null) {
    if (await restore(attempt, installing, place.reuse, known)) return;
    removeResult(place.folder, place.key);
    await attempt.tree.remove(context.configurationFolder, place.reuse.folder);
  }
  stop.throwIfStopped();
  const { lockFile: lockName } = driver;
  const lockFile = lockName === undefined ? null : await context.tree.text(lockName);
  const [at, warnings] = [new Date().toISOString(), attempt.events.warnings];
  const log = attempt.spool.stepLog(installing.command.step);
  const from = sizeOf(log);
  await run();
  // Without the warning, another run would look better than it is.
  if (attempt.events.warnings > warnings || sizeOf(log) - from > maxLogBytes) return;
  const left = await read(attempt, installing, place.reuse, lockFile).catch(() => null);
  if (left === null) return;
  const output = readFileSync(log).subarray(from).toString('utf8');
  const result = { at, log: maskText(output, job.secrets), ...left };
  try {
    writeResult(place.folder, place.key, result);
  } catch {
    // A full disk is reported by what needs the space.
  }
}

interface ReuseEntry {
  readonly reuse: ReuseCapability;
  readonly folder: string;
  readonly key: string;
}

/** Where the result of the command is stored; null if it is not. */
async function findPlace(attempt: RunnerAttempt, installing: InstallCommand): Promise<ReuseEntry | null> {
  const { reuse } = attempt.driver;
  const folder = attempt.order.reuseFolder;
  if (reuse === undefined || folder === undefined || installing.command.installsProviders !== true)
    return null;
  const key = await resultKey(attempt, reuse, installing);
  return key === null ? null : { reuse, folder, key };
}

/** @returns what the command has left; null if another run cannot use it */
async function read(
  attempt: RunnerAttempt,
  { configuration, command }: InstallCommand,
  reuse: ReuseCapability,
  lockFile: string | null,
): Promise<Pick<CachedResult, 'files' | 'packages'> | null> {
  const { driver, tree, folders, providers } = attempt;
  const { context } = configuration;
  const code = tree.reader(folders.tree);
  const installed = await reuse.read(context, command, { code, lockFile });
  if (installed === null || (await driver.state?.file?.checkPrepared(context))) return null;
  const cache = providers?.cache ?? null;
  const packages = await findLinked(attempt, cache, context.configurationFolder, installed.packages);
  return packages === null ? null : { files: installed.files, packages };
}

/** Leaves in the tree what the command would leave. @returns false if that failed */
async function restore(
  attempt: RunnerAttempt,
  { configuration, command, commit }: InstallCommand,
  reuse: ReuseCapability,
  { at, log, files, packages }: CachedResult,
): Promise<boolean> {
  const { tree, providers, driver, spool } = attempt;
  const { context } = configuration;
  const { configurationFolder: folder } = context;
  try {
    if (!(await linkAgain(attempt, providers?.cache ?? null, folder, packages))) return false;
    // Files elsewhere come last: if something fails, only one folder has to be removed.
    const names = Object.keys(files);
    const [own, others] = [true, false].map((isOwn) =>
      names.filter((name) => name.startsWith(`${reuse.folder}/`) === isOwn),
    );
    await Promise.all((own ?? []).map((name) => tree.write(folder, name, files[name] ?? '')));
    if (await driver.state?.file?.checkPrepared(context)) return false;
    await providers?.readyInstalled(folder);
    for (const name of others ?? []) await tree.write(folder, name, files[name] ?? '');
  } catch {
    return false;
  }
  const time = `${at.slice(0, 19).replace('T', ' ')} UTC`;
  const code = commit === '' ? 'code' : 'commit';
  attempt.steps.log(
    command.step,
    `The ${command.label} of ${time} is reused, because ${code}, tool, lock file and settings are the same ` +
      `(set the variable ${reuse.variable} to false to run it again). Its output was:`,
  );
  appendFileSync(spool.stepLog(command.step), log);
  return true;
}
