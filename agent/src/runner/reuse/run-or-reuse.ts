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
import { type CachedResult, readResults, removeResult, writeResult } from './results.ts';

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
  const { lockFile: lockName } = driver;
  const lockFile = lockName === undefined ? null : await context.tree.text(lockName);
  const known = isWanted ? await findResult(attempt, installing, place, lockFile) : undefined;
  if (known !== undefined) {
    if (await restore(attempt, installing, place.reuse, known)) return;
    removeResult(place.folder, place.key, known);
    await attempt.tree.remove(context.configurationFolder, place.reuse.folder);
  }
  stop.throwIfStopped();
  const [at, warnings] = [new Date().toISOString(), attempt.events.warnings];
  const log = attempt.spool.stepLog(installing.command.step);
  const from = sizeOf(log);
  await run();
  // Without the warning, another run would look better than it is.
  if (attempt.events.warnings > warnings || sizeOf(log) - from > maxLogBytes) return;
  const left = await read(attempt, installing, place.reuse, lockFile).catch(() => null);
  if (left === null) return;
  const output = readFileSync(log).subarray(from).toString('utf8');
  const code = codeOf(attempt, installing);
  const result = { at, log: maskText(output, job.secrets), code, ...left };
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

function codeOf({ job }: RunnerAttempt, { commit }: InstallCommand): string {
  return job.source.archive?.sha256 ?? commit;
}

/** @returns null if the code cannot be read in parts */
async function hashCode(
  { tree, folders: { tree: root } }: RunnerAttempt,
  reuse: ReuseCapability,
  folders: readonly string[],
  lockFile: string | null,
): Promise<string | null> {
  const hash = await reuse.hashOf(tree.reader(root), folders).catch(() => null);
  return hash === null ? null : sha256(JSON.stringify([hash, lockFile]));
}

/** The newest result of the same commit, or of another one that changes nothing that the command reads. */
async function findResult(
  attempt: RunnerAttempt,
  installing: InstallCommand,
  { reuse, folder, key }: ReuseEntry,
  lockFile: string | null,
): Promise<CachedResult | undefined> {
  const results = readResults(folder, key);
  const same = results.find(({ code }) => code === codeOf(attempt, installing));
  if (same !== undefined) return same;
  const hashes = new Map<string, string | null>();
  for (const result of results) {
    if (result.codeHash === null) continue;
    const name = JSON.stringify(result.folders);
    if (!hashes.has(name)) hashes.set(name, await hashCode(attempt, reuse, result.folders, lockFile));
    if (hashes.get(name) === result.codeHash) return result;
  }
  return undefined;
}

/** @returns what the command has left; null if another run cannot use it */
async function read(
  attempt: RunnerAttempt,
  { configuration, command }: InstallCommand,
  reuse: ReuseCapability,
  lockFile: string | null,
): Promise<Omit<CachedResult, 'at' | 'log' | 'code'> | null> {
  const { driver, tree, folders, providers } = attempt;
  const { context } = configuration;
  const code = tree.reader(folders.tree);
  const installed = await reuse.read(context, command, { code, lockFile });
  if (installed === null || (await driver.state?.file?.checkPrepared(context))) return null;
  const cache = providers?.cache ?? null;
  const packages = await findLinked(attempt, cache, context.configurationFolder, installed.packages);
  if (packages === null) return null;
  const { files, folders: read } = installed;
  return { files, packages, folders: read, codeHash: await hashCode(attempt, reuse, read, lockFile) };
}

/** Leaves in the tree what the command would leave. @returns false if that failed */
async function restore(
  attempt: RunnerAttempt,
  installing: InstallCommand,
  reuse: ReuseCapability,
  { at, log, files, packages, code }: CachedResult,
): Promise<boolean> {
  const { job, tree, providers, driver, spool } = attempt;
  const { command } = installing;
  const { context } = installing.configuration;
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
  const whole = job.source.archive === undefined ? 'the commit' : 'the code';
  const same = code === codeOf(attempt, installing) ? whole : 'the code that init reads';
  attempt.steps.log(
    command.step,
    `The ${command.label} of ${time} is reused, because ${same}, the tool, the lock file and the settings are the same ` +
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
const formatVersion = 3;

/** Hash of all that the result depends on apart from the code. @returns null if it may depend on something else */
async function resultKey(
  attempt: RunnerAttempt,
  reuse: ReuseCapability,
  installing: InstallCommand,
): Promise<string | null> {
  const { job, driver, providers, tree } = attempt;
  const { configuration, command } = installing;
  const { context, tool, written } = configuration;
  if (providers === null) return null;
  const [kind, state] = await Promise.all([
    tree.kind(context.configurationFolder, reuse.folder),
    currentState(attempt),
  ]);
  const more = kind !== 'none' || state === undefined ? null : reuse.inputs(context, command, state);
  if (more === null) return null;
  const inputs = {
    formatVersion,
    organization: job.organizationId,
    platform: ownPlatform,
    tool: [driver.type, tool.version, stampOf(requireProgram(command.program, tool.paths))],
    repository: job.source.archive === undefined ? job.source.repository : null,
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
