/**
 * Stops a first plan in an empty workspace with a generated name if other workspaces of the code's backend
 * have resources: it would create them again. Workspaces with generated names belong to other environments of
 * the same code and do not count.
 */
import { hasGeneratedForm } from '#protocol/workspace-name.ts';
import type { Command } from '../../drivers/interface/command.ts';
import type { StateCapability } from '../../drivers/interface/driver.ts';
import type { OtherWorkspaces } from '../../drivers/interface/state-places.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { Captures } from '../commands/command-files.ts';
import { runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Each check runs the tool. */
const maxChecked = 10;

/** A workspace and the number of its resources; null if its state could not be read. */
export interface WorkspaceContent {
  readonly name: string;
  readonly resourceCount: number | null;
}

/** The workspaces that may be meant, `default` first: all except the own one and those of environments. */
export function possiblyMeant(names: readonly string[], own: string): string[] {
  const others = names.filter((name) => name !== own && !hasGeneratedForm(name));
  return others.toSorted((left, right) => Number(right === 'default') - Number(left === 'default'));
}

/**
 * @param own the environment's workspace, which is empty
 * @param others what the checked ones contain
 * @returns why the run must stop, or null if it may continue
 */
export function emptyWorkspaceProblem(
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
