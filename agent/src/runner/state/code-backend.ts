/**
 * The backend of the code: its state is imported where the service is to store it from now on, a run that would leave
 * the service's state for it is refused, and so is a plan in an empty workspace where others have resources.
 *
 * An import does not change the state in the backend; a run without an apply uses it without storing it. A plan in an
 * empty workspace with a generated name would create the resources of another one again; workspaces with generated
 * names belong to other environments of the same code and do not count.
 */
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { hasGeneratedForm } from '#protocol/workspace-name.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { Command } from '../../drivers/interface/command.ts';
import {
  type StateCapability,
  type StateFileCapability,
  type StateReading,
  TornState,
} from '../../drivers/interface/driver.ts';
import type { KeptElsewhere, OtherWorkspaces } from '../../drivers/interface/state-places.ts';
import { RunFailure } from '../../processes/failure.ts';
import { writeDurably } from '../../spool/write-file.ts';
import type { Captures } from '../commands/command-files.ts';
import { runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  type Configuration,
  type ConfigurationFacts,
  describeConfiguration,
  stateFilesOf,
  writeDriverFiles,
} from '../configuration/configuration.ts';

/** A state that the backend of the code stores. */
interface BackendState {
  readonly state: StateCapability;
  readonly file: StateFileCapability;
  readonly kept: KeptElsewhere;
}

/** @throws RunFailure if the code has its own backend although the service stores a state */
export function refuseToLeaveState({ job }: Pick<AttemptContext, 'job'>, isStateOurs: boolean): void {
  if (isStateOurs || job.state.current === undefined) return;
  const { serial, stateVersionId } = job.state.current;
  throw new RunFailure(
    `The code has its own backend, but the service stores the state of this environment (version ${stateVersionId}, serial ${serial}), which a run would not use. Set isRemoteBackend to true to continue with it. To move it to the backend, download it, upload it there with "state push", then clear the state of the environment`,
  );
}

/**
 * Imports the state from the code's backend if the service has none; called before the backend is overridden.
 */
export async function migrateState(
  attempt: RunnerAttempt,
  step: string,
  facts: ConfigurationFacts,
): Promise<void> {
  const { job, driver } = attempt;
  const { state } = driver;
  if (state === undefined || !facts.isStateOurs || job.state.current !== undefined) return;
  const own = describeConfiguration(attempt, { ...facts, isStateOurs: false });
  const { file } = state;
  const kept = await file?.elsewhere(own.context);
  if (file === undefined || !kept) return;
  const bytes = await readFromBackend(attempt, step, { state, file, kept, own }).catch((error: unknown) =>
    Promise.reject(explained(error, kept)),
  );
  if (bytes !== null) await importState(attempt, step, { state, file, kept, bytes });
}

// The backend may be unreachable, so a failure here says nothing about the code.
function explained(error: unknown, kept: KeptElsewhere): unknown {
  if (!(error instanceof RunFailure) || error.facts.result !== 'failed') return error;
  const text = `The service is to store this environment's state, but it could not be read from the backend ${kept.name} of the code, and nothing was changed: ${error.message}`;
  return new RunFailure(text, error.facts);
}

async function readFromBackend(
  attempt: RunnerAttempt,
  step: string,
  { state, kept, own }: BackendState & { own: ReturnType<typeof describeConfiguration> },
): Promise<Uint8Array | null> {
  attempt.steps.log(
    step,
    `The service stores this environment's state from now on; reading it from the backend ${kept.name} of the code.`,
  );
  const configuration = { ...own, written: await writeDriverFiles(attempt, own.context) };
  const captures: Captures = new Map();
  for (const command of kept.reach) await runOne(attempt, configuration, { ...command, step }, captures);
  const reading = kept.read(captures);
  if ('nothing' in reading) {
    attempt.steps.warn(step, reading.nothing);
    return null;
  }
  await runOne(attempt, configuration, { ...reading, step }, captures);
  const bytes = captures.get(reading.captureTo ?? '');
  // If there is none, a tool prints nothing, or a state that was never stored and therefore has no lineage.
  if (bytes !== undefined && bytes.length > 0 && readingOf(state, kept, bytes).lineage !== '') return bytes;
  attempt.steps.log(step, `The backend ${kept.name} of the code contains no state.`);
  return null;
}

function readingOf(state: StateCapability, kept: KeptElsewhere, bytes: Uint8Array): StateReading {
  try {
    return state.read(bytes);
  } catch (error) {
    const what = error instanceof TornState ? 'is not complete' : (error as Error).message;
    throw new RunFailure(
      `The state from the backend ${kept.name} of the code cannot be used, and nothing was changed: ${what}`,
    );
  }
}

async function importState(
  attempt: AttemptContext,
  step: string,
  { state, file, kept, bytes }: BackendState & { bytes: Uint8Array },
): Promise<void> {
  const { folders, job, spool, tree } = attempt;
  const { serial, lineage, resourceCount } = readingOf(state, kept, bytes);
  await tree.write(folders.state, stateFilesOf(attempt, file).name, bytes);
  const isKept = !planOnlyTypes.includes(job.type);
  if (isKept) await writeDurably(join(spool.states, '1.tfstate'), bytes);
  const what = `serial ${serial}, lineage ${lineage}, ${resourceCount} resources, SHA-256 ${sha256(bytes)}`;
  const becomes = isKept
    ? "It becomes the environment's first state version"
    : 'This run only reads it; the next deployment imports it';
  attempt.steps.log(
    step,
    `State read from the backend ${kept.name} of the code: ${what}. ${becomes}. The state in the backend is unchanged and no longer used.`,
  );
}

/** Each check runs the tool. */
const maxChecked = 10;

/** A workspace and the number of its resources; null if its state could not be read. */
interface WorkspaceContent {
  readonly name: string;
  readonly resourceCount: number | null;
}

/** The workspaces that may be meant, `default` first: all except the own one and those of environments. */
function possiblyMeant(names: readonly string[], own: string): string[] {
  const others = names.filter((name) => name !== own && !hasGeneratedForm(name));
  return others.toSorted((left, right) => Number(right === 'default') - Number(left === 'default'));
}

/**
 * @param own the environment's workspace, which is empty
 * @param others what the checked ones contain
 * @returns why the run must stop, or null if it may continue
 */
function emptyWorkspaceProblem(
  { backend, variable }: Pick<OtherWorkspaces, 'backend' | 'variable'>,
  own: string,
  others: readonly WorkspaceContent[],
): string | null {
  const used = others.filter(({ resourceCount }) => resourceCount !== 0);
  if (used.length === 0) return null;
  const list = used.map(({ name, resourceCount }) => `${name} (${contentOf(resourceCount)})`).join(', ');
  return (
    `The workspace ${own} is empty, but other workspaces of the backend ${backend} are not: ${list}. ` +
    `The name ${own} was generated, and a plan in this workspace would create everything again. ` +
    `The workspace of an environment cannot be changed: if one of the others is meant, delete this environment ` +
    `(envarium environment delete) and create it again with that name (workspaceName, or --workspace). ` +
    `To start with an empty workspace, set the variable ${variable} to true`
  );
}

function contentOf(resourceCount: number | null): string {
  if (resourceCount === null) return 'could not be read';
  return resourceCount === 1 ? '1 resource' : `${resourceCount} resources`;
}

/**
 * Runs after `init`, before the workspace is created. @throws RunFailure if another workspace may be meant
 */
export async function refuseEmptyWorkspace(
  attempt: RunnerAttempt,
  configuration: Configuration,
): Promise<void> {
  const { driver, job } = attempt;
  const others = (await driver.state?.file?.otherWorkspaces(configuration.context)) ?? null;
  if (others === null || driver.state === undefined) return;
  const { state } = driver;
  const check = async (name: string): Promise<WorkspaceContent> => ({
    name,
    resourceCount: await countResources(attempt, configuration, state, others.pull(name)),
  });
  const names = others.names(await capture(attempt, configuration, others.list));
  const candidates = possiblyMeant(names, job.workspaceName);
  if (candidates.length === 0) return;
  if (names.includes(job.workspaceName) && (await check(job.workspaceName)).resourceCount !== 0) return;
  const checked: WorkspaceContent[] = [];
  for (const name of candidates.slice(0, maxChecked)) checked.push(await check(name));
  const problem = emptyWorkspaceProblem(others, job.workspaceName, checked);
  if (problem !== null) throw new RunFailure(problem);
  if (candidates.length > checked.length) {
    const text = `Only ${checked.length} of ${candidates.length} other workspaces of the backend ${others.backend} were checked for existing resources.`;
    attempt.steps.warn(others.list.step, text);
  }
}

async function capture(
  attempt: RunnerAttempt,
  configuration: Configuration,
  command: Command,
): Promise<Uint8Array> {
  const captures: Captures = new Map();
  await runOne(attempt, configuration, command, captures);
  return captures.get(command.captureTo ?? '') ?? new Uint8Array();
}

async function countResources(
  attempt: RunnerAttempt,
  configuration: Configuration,
  state: StateCapability,
  pull: Command,
): Promise<number | null> {
  try {
    const bytes = await capture(attempt, configuration, pull);
    if (bytes.length === 0) return 0;
    const { isEncrypted, resourceCount } = state.read(bytes);
    return isEncrypted === true ? null : resourceCount;
  } catch (error) {
    // A stop ends the run; a state that the tool or the driver cannot read is a result.
    if (error instanceof RunFailure && error.facts.result !== 'failed') throw error;
    return null;
  }
}
