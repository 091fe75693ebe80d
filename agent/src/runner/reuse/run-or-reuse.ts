/**
 * Replaces an installing command by the result of an earlier one, if all that it depends on is the same, and
 * stores its result otherwise. In doubt, the command runs.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { sha256 } from '#protocol/approved.ts';
import { sizeOf } from '../../attempt/run-command.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { ReuseCapability } from '../../drivers/interface/driver.ts';
import { maskText } from '../../logs/mask.ts';
import { ownPlatform } from '../../own/own-platform.ts';
import { findProgram, requireProgram } from '../../processes/programs.ts';
import { findLinked, linkAgain } from '../../providers/install-providers.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import { type Configuration, stateFilesOf } from '../configuration/configuration.ts';
import { stampOf } from '../tool/resolve-tool.ts';
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
  const isWanted = attempt.environment[place.reuse.variable] !== 'false';
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

/** Place of the stored result of the command; null if it is not stored. */
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

/** A command that may be replaced by the result of an earlier one. */
interface InstallCommand {
  readonly configuration: Configuration;
  readonly command: Command;
  /** Empty if the code was uploaded. */
  readonly commit: string;
}

/** Changes with the format of results and keys. */
const formatVersion = 2;

/** Hash of all that the result depends on. @returns null if it may depend on something else */
async function resultKey(
  attempt: RunnerAttempt,
  reuse: ReuseCapability,
  installing: InstallCommand,
): Promise<string | null> {
  const { job, driver, providers, tree } = attempt;
  const { configuration, command, commit } = installing;
  const { context, tool, written } = configuration;
  if (providers === null) return null;
  const [kind, state] = await Promise.all([
    tree.kind(context.configurationFolder, reuse.folder),
    currentState(attempt),
  ]);
  const more = kind !== 'none' || state === undefined ? null : reuse.inputs(context, command, state);
  if (more === null) return null;
  const { repository, archive } = job.source;
  const inputs = {
    formatVersion,
    organization: job.organizationId,
    platform: ownPlatform,
    tool: [driver.type, tool.version, stampOf(requireProgram(command.program, tool.paths))],
    code: archive === undefined ? { repository, commit } : { sha256: archive.sha256 },
    path: attempt.path,
    hasLfs: findProgram('git-lfs') !== null,
    written: written.sha256,
    args: command.args,
    environment: environmentOf(attempt, reuse, installing),
    credentials: job.delivered?.versions ?? [],
    providers: providers.settings,
    more,
  };
  return sha256(JSON.stringify(inputs));
}

/** The state that the command will find; null: none. Undefined if a command of the run has put it there. */
async function currentState(attempt: RunnerAttempt): Promise<Uint8Array | null | undefined> {
  const { job, driver, folders, spool, tree } = attempt;
  if (driver.state === undefined) return null;
  if (job.state.current !== undefined) return readFileSync(spool.inputState);
  const { file } = driver.state;
  if (file === undefined) return null;
  const kind = await tree.kind(folders.state, stateFilesOf(attempt, file).name);
  return kind === 'none' ? null : undefined;
}

/** Without what belongs to one run, its names and the paths of its folders, and without values that install nothing. */
function environmentOf(
  { job }: RunnerAttempt,
  { ignoredVariables, variable, isInputVariable }: ReuseCapability,
  { configuration, command }: InstallCommand,
): [string, string][] {
  const { context, environment } = configuration;
  const ofRun = new Set([...Object.keys(context.job.systemVariables), ...ignoredVariables, variable]);
  const own = new Set(job.variables.environment.map(({ name }) => name));
  const delivered = job.delivered?.environment ?? {};
  // Their values differ from run to run.
  const isDelivered = (name: string) => Object.hasOwn(delivered, name) && !own.has(name);
  const isPath = (name: string) => (name === 'HOME' || name === 'TMPDIR') && !own.has(name);
  return Object.entries({ ...environment, ...command.environment })
    .filter(([name]) => !ofRun.has(name) && !isDelivered(name))
    .map(([name, value]): [string, string] => [name, isPath(name) || isInputVariable(name) ? '' : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
