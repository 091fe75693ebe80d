/**
 * The configuration that a phase runs: its folder, tool, files and environment, and the file that declares, before the
 * plan, imports of resources that an earlier run created without recording them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { DeclaredImports } from '../../drivers/interface/capabilities.ts';
import type { PhaseCaptures as ReadCaptures } from '../../drivers/interface/command.ts';
import type {
  DriverContext,
  FileToWrite,
  StateFileCapability,
  StatelessContext,
} from '../../drivers/interface/driver.ts';
import { ownFolder } from '../../drivers/interface/own-folder.ts';
import type { SeveralFiles } from '../../drivers/interface/state-places.ts';
import { RunFailure } from '../../processes/failure.ts';
import { toolPath } from '../../processes/programs.ts';
import type { RequiredVersion } from '../../toolchain/choose-tool.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { ResolvedTool } from '../tool/resolve-tool.ts';
import { variableFiles } from './variable-files.ts';

export interface Configuration {
  readonly context: DriverContext;
  readonly environment: Readonly<Record<string, string>>;
  readonly tool: ResolvedTool;
  readonly written: WrittenFiles;
  /** Whether commands start plugins of the tool; absent: this is not known yet. */
  readonly hasPlugins?: boolean;
}

/** Files that the driver has written into the configuration's folder. */
export interface WrittenFiles {
  /** Names of the files that contain variable values, relative to the configuration's folder. */
  readonly secret: readonly string[];
  /** SHA-256 of the driver's files: names, and contents of those without variable values. */
  readonly sha256: string;
}

/** The facts that a configuration depends on, in addition to the attempt. */
export interface ConfigurationFacts {
  readonly tool: ResolvedTool;
  /** Empty if the code was uploaded. */
  readonly commit: string;
  readonly isStateOurs: boolean;
  /** Captures of the commands of the driver's `inspect`; absent: they have not been run. */
  readonly inspected?: ReadCaptures;
}

/** The driver's context and its commands' environment; requires the tree. */
export function describeConfiguration(
  attempt: RunnerAttempt,
  facts: ConfigurationFacts,
): Omit<Configuration, 'written'> {
  const { folders } = attempt;
  const context: DriverContext = {
    ...statelessContext(attempt, facts.commit, facts.inspected),
    stateFolder: facts.isStateOurs ? folders.state : null,
    toolVersion: facts.tool.version,
    programPaths: facts.tool.paths,
  };
  const environment = {
    PATH: toolPath,
    HOME: folders.home,
    TMPDIR: folders.temporary,
    LANG: 'C.UTF-8',
    GIT_TERMINAL_PROMPT: '0',
    ...attempt.order.network?.environment,
    ...context.job.delivered?.environment,
    ...runEnvironment(context.job),
    ...attempt.driver.environment(context),
  };
  return { context, environment, tool: facts.tool };
}

/** The driver's context before it is known where the state is stored. */
function statelessContext(
  attempt: RunnerAttempt,
  commit: string,
  inspected?: ReadCaptures,
): StatelessContext {
  const configurationFolder = configurationFolderOf(attempt);
  const known = {
    ENVARIUM_ROOT_DIR: attempt.folders.tree,
    ENVARIUM_TEMPLATE_DIR: configurationFolder,
    ENVARIUM_COMMIT_HASH: commit,
    ENVARIUM_DEPLOYMENT_REVISION: commit,
  };
  const job: Job = { ...attempt.job, systemVariables: { ...attempt.job.systemVariables, ...known } };
  return {
    job,
    configurationFolder,
    planFile: attempt.folders.planFile,
    temporaryFolder: attempt.folders.temporary,
    ...(attempt.providers === null ? {} : { cliConfigurationFile: attempt.providers.file }),
    tree: attempt.tree.reader(configurationFolder),
    code: attempt.tree.reader(attempt.folders.tree),
    ...(inspected === undefined ? {} : { inspected }),
    currentState: () => (job.state.current === undefined ? null : readFileSync(attempt.spool.inputState)),
  };
}

/**
 * The code's constraints on the version of a program of the driver. @throws RunFailure if the code cannot be read
 */
export async function codeConstraints(
  attempt: AttemptContext,
  program: string,
): Promise<readonly RequiredVersion[]> {
  const { driver, tree, folders, path } = attempt;
  const about = { program, code: tree.reader(folders.tree), folder: path };
  return asRunFailure(
    async () => (await driver.requiredVersions?.(tree.reader(configurationFolderOf(attempt)), about)) ?? [],
  );
}

/** The files of the state below the state folder, whatever the code specifies. */
export function stateFilesOf(
  { folders, job, tree }: Pick<AttemptContext, 'folders' | 'job' | 'tree'>,
  state: StateFileCapability,
): { readonly name: string; readonly several: SeveralFiles | null } {
  const { planFile, temporary: temporaryFolder, state: stateFolder, tree: configurationFolder } = folders;
  const context = {
    job,
    configurationFolder,
    stateFolder,
    planFile,
    temporaryFolder,
    tree: tree.reader(configurationFolder),
  };
  return { name: state.fileName(context), several: state.several?.(context) ?? null };
}

/** Absolute path of the configuration's folder. */
export function configurationFolderOf(attempt: AttemptContext): string {
  return join(attempt.folders.tree, attempt.path);
}

/**
 * Whether the service stores the state, according to the code. @throws RunFailure if the code cannot be read
 */
export async function findStateOwner(
  attempt: RunnerAttempt,
  commit: string,
  inspected: ReadCaptures,
): Promise<boolean> {
  const { state } = attempt.driver;
  return (
    state !== undefined && asRunFailure(() => state.isOurs(statelessContext(attempt, commit, inspected)))
  );
}

/** Writes the driver's files under the slot's uid. */
export async function writeDriverFiles(
  attempt: AttemptContext,
  context: DriverContext,
): Promise<WrittenFiles> {
  const files = await asRunFailure(async () => [
    ...(await attempt.driver.files(context)),
    ...importFiles(attempt),
  ]);
  // Not a part of the hash: no tool installs anything because of them.
  const written = [...files, ...variableFiles(context.job)];
  // Later, what a run has installed may contain links.
  if (context.job.phase === 'plan' && files.some(({ name }) => name.startsWith(`${ownFolder}/`)))
    await refuseLinks(attempt, context.configurationFolder, ownFolder);
  for (const file of written)
    await asRunFailure(() => attempt.tree.write(context.configurationFolder, file.name, file.content));
  return {
    secret: written.filter((file) => file.isSecret).map((file) => file.name),
    sha256: sha256(
      JSON.stringify(files.map(({ name, content, isSecret }) => [name, isSecret ? null : content])),
    ),
  };
}

/** @throws RunFailure if an entry, or one below it, is a symbolic link: the run's own files would end up elsewhere */
async function refuseLinks(attempt: AttemptContext, root: string, name: string): Promise<void> {
  const { tree } = attempt;
  if ((await asRunFailure(() => tree.target(root, name))) !== null)
    throw new RunFailure(
      `${name} is a symbolic link: the run keeps its own files in ${ownFolder} of the configuration's folder; remove the link from the repository`,
    );
  if ((await tree.kind(root, name)) !== 'folder') return;
  for (const entry of await tree.list(root, name)) await refuseLinks(attempt, root, `${name}/${entry}`);
}

/** @throws RunFailure if the preparation left the state in the wrong place */
export async function checkPrepared(attempt: AttemptContext, configuration: Configuration): Promise<void> {
  const problem = await attempt.driver.state?.file?.checkPrepared(configuration.context);
  if (problem) throw new RunFailure(problem);
}

/** @throws RunFailure if a reference to a secret store could not be resolved */
export function requireSecrets({ job }: AttemptContext): void {
  const failures = job.resolution?.failures ?? [];
  if (failures.length > 0) throw new RunFailure(failures.join('\n'));
}

/** Logs warnings about a job. @throws RunFailure if it must not run */
export async function checkJob(attempt: RunnerAttempt, step: string, commit: string): Promise<void> {
  for (const text of attempt.job.phase === 'plan' ? attempt.leftOut : [])
    attempt.steps.log(step, `A variable is left out: ${text}`);
  for (const text of attempt.job.resolution?.warnings ?? []) attempt.steps.warn(step, text);
  requireSecrets(attempt);
  const refusals = attempt.driver.refusals(attempt.job);
  if (refusals.length > 0) throw new RunFailure(refusals.join('\n'));
  for (const text of await asRunFailure(() => attempt.driver.warnings(statelessContext(attempt, commit))))
    attempt.steps.warn(step, text);
  const { environment, terraform } = attempt.job.variables;
  for (const { name } of [...environment, ...terraform].filter(
    ({ isSensitive, value }) => isSensitive && value.length > 0 && value.length < 4,
  )) {
    attempt.steps.warn(
      step,
      `${name} is sensitive and shorter than 4 characters: its value is not masked in logs`,
    );
  }
}

/** Turns errors of a driver, which are messages for people, into failures of the run. */
export async function asRunFailure<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RunFailure) throw error;
    throw new RunFailure((error as Error).message);
  }
}

/** The maximum size of a lock file. */
export const lockFileBytes = 10_000_000;

/** The bytes of the lock file; null if there is none. */
export async function readLockFileBytes(
  attempt: AttemptContext,
  configuration: Pick<Configuration, 'context'>,
): Promise<Uint8Array | null> {
  const { lockFile } = attempt.driver;
  if (lockFile === undefined) return null;
  try {
    return await attempt.tree.read(configuration.context.configurationFolder, lockFile, lockFileBytes);
  } catch (error) {
    throw new RunFailure(`the lock file cannot be read: ${(error as Error).message}`);
  }
}

/** Whether the commands of a prepared configuration with this lock file start plugins of the tool. */
export function hasPlugins({ driver }: AttemptContext, lockFile: Uint8Array | null): boolean {
  const text = lockFile === null ? null : new TextDecoder().decode(lockFile);
  return driver.collector?.hasPlugins(text) !== false;
}

type Importing = Pick<AttemptContext, 'job' | 'driver' | 'spool' | 'steps'>;

function declaredBy({ job, driver, spool }: Importing): DeclaredImports | null {
  if (job.imports === undefined || driver.imports === undefined) return null;
  const state = existsSync(spool.inputState) ? readFileSync(spool.inputState) : null;
  return driver.imports.declare(job.imports, state);
}

/** @throws RunFailure if the deployment is to import resources and this version of the tool cannot */
export function refuseImports({ job, driver }: Importing, toolVersion: string): void {
  if (job.imports === undefined) return;
  const refusal =
    driver.imports === undefined
      ? 'The tool of this environment cannot import resources'
      : driver.imports.refusal(toolVersion);
  if (refusal === null) return;
  throw new RunFailure(
    `${refusal}. Import them with the tool outside of runs, or deploy without importUnrecorded after removing them`,
  );
}

/** The files that declare the imports of this deployment, for the configuration's folder. */
function importFiles(attempt: Importing): FileToWrite[] {
  const file = declaredBy(attempt)?.file;
  return file ? [{ ...file, isSecret: false }] : [];
}

/** Lists in a step's log what is imported, and what is not. */
export function logImports(attempt: Importing, step: string): void {
  const declared = declaredBy(attempt);
  if (declared === null) return;
  for (const { address, id } of declared.imported)
    attempt.steps.log(
      step,
      `Importing ${address} with ID ${JSON.stringify(id)}, which an earlier run created.`,
    );
  for (const { address, id, reason } of declared.skipped)
    attempt.steps.log(step, `Not importing ${address} with ID ${JSON.stringify(id)}: ${reason}.`);
}
