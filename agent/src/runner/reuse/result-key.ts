/** All that the result of an installing command depends on, as one hash. */
import { readFileSync } from 'node:fs';
import { sha256 } from '#protocol/approved.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { ReuseCapability } from '../../drivers/interface/driver.ts';
import { ownPlatform } from '../../own/own-platform.ts';
import { findProgram, requireProgram } from '../../processes/programs.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import { type Configuration, stateFilesOf } from '../configuration/configuration.ts';
import { stampOf } from '../tool/resolve-tool.ts';

/** A command that may be replaced by the result of an earlier one. */
export interface InstallCommand {
  readonly configuration: Configuration;
  readonly command: Command;
  /** Empty if the code was uploaded. */
  readonly commit: string;
}

/** Changes with the form of results and keys. */
const form = 1;

/** @returns null if the result may depend on something else */
export async function resultKey(
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
    form,
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

/** Without what belongs to one run: its names, and the paths of its folders. */
function environmentOf(
  { job }: RunnerAttempt,
  { ignoredVariables, variable }: ReuseCapability,
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
    .map(([name, value]): [string, string] => [name, isPath(name) ? '' : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
