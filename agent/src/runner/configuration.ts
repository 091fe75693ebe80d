/** What a phase knows of the configuration that it runs: its folder, the tool, the files and the environment. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizePath } from '#protocol/source-guards.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { Job } from '#protocol/messages.ts';
import type { DriverContext } from '../drivers/driver.ts';
import { chooseTool } from '../toolchain/choose-tool.ts';
import { type Attempt, failureOf, runCommand, say, scratchPath, warn } from './attempt.ts';
import { RunFailure } from './failure.ts';
import { requireProgram, toolPath } from './programs.ts';

export interface Configuration {
  /** Relative to the tree, `''` for its root. */
  readonly path: string;
  readonly context: DriverContext;
  readonly environment: Readonly<Record<string, string>>;
  readonly toolVersion: string;
  /** Names of files with variable values, relative to the configuration's folder. */
  readonly secretFiles: readonly string[];
}

type StatelessContext = Omit<DriverContext, 'stateFolder'>;

/** The tool as it is found: its absolute path and its version. */
export async function resolveTool(attempt: Attempt, step: string): Promise<string> {
  const [name] = attempt.driver.programs;
  if (name === undefined) return '';
  const program = requireProgram(name, attempt.order.toolPaths);
  const version = readKnownVersion(attempt, program) ?? (await askVersion(attempt, step, name, program));
  const choice = chooseTool(name, "the environment's tool version", attempt.job.toolVersion, [{ version, path: program }]);
  if ('problem' in choice) throw new RunFailure(choice.problem, { result: 'failed', failedCommand: name });
  say(attempt, step, `${name} ${version} (${program})${choice.note === null ? '' : `. ${choice.note}`}`);
  return version;
}

/** The driver's context, and the environment of its commands, once the tree is there. */
export function describeConfiguration(
  attempt: Attempt,
  facts: { toolVersion: string; commit: string; isStateOurs: boolean },
): Omit<Configuration, 'secretFiles'> {
  const { folders } = attempt;
  const context: DriverContext = { ...statelessContext(attempt, facts.commit), stateFolder: facts.isStateOurs ? folders.state : null };
  const environment = {
    PATH: toolPath,
    HOME: folders.home,
    TMPDIR: folders.temporary,
    LANG: 'C.UTF-8',
    GIT_TERMINAL_PROMPT: '0',
    ...attempt.order.network?.environment,
    ...runEnvironment(context.job),
    ...attempt.driver.environment(context),
  };
  return { path: configurationPath(attempt.job), context, environment, toolVersion: facts.toolVersion };
}

/** The driver's context before it is known whose the state is. */
function statelessContext(attempt: Attempt, commit: string): StatelessContext {
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
    ...(attempt.providers === null ? {} : { cliConfigurationFile: attempt.providers.file }),
    tree: attempt.tree.reader(configurationFolder),
  };
}

function configurationPath(job: Pick<Job, 'source'>): string {
  return normalizePath(job.source.path ?? '');
}

function configurationFolderOf(attempt: Attempt): string {
  return join(attempt.folders.tree, configurationPath(attempt.job));
}

/** Whether the state is ours, told by the code; the reason why the code cannot be read becomes the run's. */
export async function findStateOwner(attempt: Attempt, commit: string): Promise<boolean> {
  return forPerson(() => attempt.driver.isStateOurs(statelessContext(attempt, commit)));
}

/** Writes the driver's files as the slot. @returns the names of those with variable values */
export async function writeDriverFiles(attempt: Attempt, context: DriverContext): Promise<string[]> {
  const files = await forPerson(() => attempt.driver.files(context));
  for (const file of files) await forPerson(() => attempt.tree.write(context.configurationFolder, file.name, file.content));
  return files.filter((file) => file.isSecret).map((file) => file.name);
}

/** Refuses what must not run, and says what a person should know. */
export async function checkJob(attempt: Attempt, step: string, commit: string): Promise<void> {
  const refusals = attempt.driver.refusals(attempt.job);
  if (refusals.length > 0) throw new RunFailure(refusals.join('\n'));
  for (const text of await forPerson(() => attempt.driver.warnings(statelessContext(attempt, commit)))) warn(attempt, step, text);
  const { environment, terraform } = attempt.job.variables;
  for (const { name } of [...environment, ...terraform].filter(
    ({ isSensitive, value }) => isSensitive && value.length > 0 && value.length < 4,
  )) {
    warn(attempt, step, `${name} is sensitive and shorter than 4 characters: its value is not masked in logs`);
  }
}

async function forPerson<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RunFailure) throw error;
    throw new RunFailure((error as Error).message);
  }
}

async function askVersion(attempt: Attempt, step: string, name: string, program: string): Promise<string> {
  const label = `${name} version`;
  const captureTo = scratchPath(attempt, 'tool-version');
  const end = await runCommand(attempt, {
    step,
    label,
    name,
    program,
    args: attempt.driver.version.args,
    captureTo,
    cwd: attempt.folders.temporary,
    environment: { PATH: toolPath, HOME: attempt.folders.home, TMPDIR: attempt.folders.temporary, CHECKPOINT_DISABLE: '1' },
  });
  if (end.exitCode !== 0) throw failureOf(attempt, end, label, () => null);
  const version = await forPerson(async () => attempt.driver.version.read(readFileSync(captureTo, 'utf8')));
  rememberVersion(attempt, program, version);
  return version;
}

// Asking costs as much as a small plan does; a binary that has not changed keeps its answer.
function stampOf(program: string): string {
  const { ino, size, mtimeMs } = statSync(program);
  return `${program} ${ino} ${size} ${mtimeMs}`;
}

function versionsFile(attempt: Attempt): string {
  return join(attempt.order.workFolder, '.tool-versions.json');
}

function readKnownVersion(attempt: Attempt, program: string): string | null {
  try {
    const known = JSON.parse(readFileSync(versionsFile(attempt), 'utf8')) as Record<string, string>;
    return known[stampOf(program)] ?? null;
  } catch {
    return null;
  }
}

function rememberVersion(attempt: Attempt, program: string, version: string): void {
  writeFileSync(versionsFile(attempt), JSON.stringify({ [stampOf(program)]: version }), { mode: 0o600 });
}
