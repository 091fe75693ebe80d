/** Compares two versions of an environment's state for a person, with everything sensitive replaced. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { StateComparison } from '#contract/state/shapes.ts';
import { LimitedThread, ThreadFailure } from '#guards/threads/limited-thread.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { badField, conflict, notFound } from '../../ground/errors.ts';
import { environmentHome, levelsOf } from '../../inputs/variables/levels.ts';
import { resolveVariables } from '../../inputs/variables/resolve-variables.ts';
import { getSealedInputs } from '../../rows/deployments/inputs-store.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { deploymentsBehind, getStateVersion, type StateVersionRow } from '../../rows/state/state-store.ts';
import { openInputs } from '../deployments/inputs/run-inputs.ts';
import type { Differences } from './files/compare-states.ts';
import { smallBytes, stateThread, turnsOf } from './files/read-state.ts';
import {
  type ComparisonAnswer,
  type ComparisonTask,
  comparisonSteps,
  StateComparer,
} from './files/state-comparer.ts';
import type { StateTask } from './files/state-thread.ts';
import { readWholeState } from './read-current-state.ts';
import { stateVersionViews } from './state-view.ts';

/** Apart from states that agents bring, which must not wait for people who compare. */
const inTurn = turnsOf(1);

/** Shorter values are not masked: that would hide half of every text. */
const shortestSecret = 4;

/** A value, and where it is code or JSON the texts in it, names left out. */
function textsOf({ value, format }: JobVariable): string[] {
  if (format === undefined) return [value];
  // A text that is not closed goes up to the end, so that the value is read only once.
  const texts = [...value.matchAll(/"((?:[^"\\]|\\[^])*)(?:"(\s*[=:])?|\\?$)/g)];
  return [value, ...texts.flatMap(([, text, name]) => (name === undefined && text ? [text] : []))];
}

/** Values of sensitive variables: the current ones, and those of the runs that wrote the content of the versions. */
async function secretsOf(
  context: Context,
  environment: EnvironmentRow,
  versions: readonly StateVersionRow[],
): Promise<string[]> {
  const project = await getProjectRow(context.db, environment.project_id);
  const home = environmentHome(environment, project?.hierarchy ?? environment.project_id);
  const today = await resolveVariables(context, levelsOf(home));
  const ids = await deploymentsBehind(
    context.db,
    versions.map(({ id }) => id),
  );
  const runs = (await getSealedInputs(context.db, ids)).map((row) =>
    openInputs(context, row.id, row.sealed_inputs),
  );
  const variables: JobVariable[] = [today, ...runs].flatMap(({ environment: own, terraform }) => [
    ...own,
    ...terraform,
  ]);
  const values = [
    ...variables.filter(({ isSensitive }) => isSensitive).flatMap(textsOf),
    ...runs.flatMap(({ custom }) => Object.values(custom ?? {})),
  ];
  return [...new Set(values)].filter((value) => value.length >= shortestSecret);
}

async function otherVersion(
  context: Context,
  version: StateVersionRow,
  withId: string | undefined,
): Promise<StateVersionRow> {
  const id = withId ?? version.follows_id;
  if (id === null) throw badField('query.with', 'is required: this version has no predecessor');
  const other = await getStateVersion(context.db, id);
  if (!other || other.environment_id !== version.environment_id)
    throw badField('query.with', 'does not match a state version of the same environment');
  return other;
}

async function compareInThread(
  thread: LimitedThread<StateTask, ComparisonAnswer>,
  comparison: ComparisonTask,
): Promise<ComparisonAnswer> {
  try {
    return await thread.ask({ comparison }, [comparison.bytes.buffer]);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return { problem: `The two states cannot be compared here, download both: ${error.message}` };
  }
}

/** @throws Refusal 409 that says why the two cannot be compared here */
async function differencesBy(
  context: ActorContext,
  before: StateVersionRow,
  after: StateVersionRow,
  secrets: readonly string[],
  take: (task: ComparisonTask) => ComparisonAnswer | Promise<ComparisonAnswer>,
): Promise<Differences> {
  let text = '';
  for (const step of comparisonSteps) {
    const bytes = await readWholeState(context, step === 'after' ? after : before);
    const answer = await take({ step, bytes, secrets });
    if (answer.problem !== undefined) throw conflict(answer.problem);
    text = answer.text;
  }
  return parseExactly(text) as Differences;
}

/**
 * Large ones in a thread, with the limits of one that reads a state, and one after another, when their turn comes.
 * @throws Refusal 409 that says why the two cannot be compared here
 */
async function differencesOf(
  context: ActorContext,
  before: StateVersionRow,
  after: StateVersionRow,
  secrets: readonly string[],
): Promise<Differences> {
  if (before.bytes + after.bytes <= smallBytes) {
    const comparer = new StateComparer();
    return differencesBy(context, before, after, secrets, (task) => comparer.take(task));
  }
  return inTurn(async () => {
    await using thread = new LimitedThread<StateTask, ComparisonAnswer>(stateThread);
    return await differencesBy(context, before, after, secrets, (task) => compareInThread(thread, task));
  });
}

/**
 * @param withId the version that the comparison begins with; default: its predecessor
 * @throws Refusal 404, or 400 where the two are not versions of one environment
 */
export async function compareVersions(
  context: ActorContext,
  id: string,
  withId: string | undefined,
): Promise<StateComparison> {
  const version = await getStateVersion(context.db, id);
  const environment = version && (await getEnvironmentRow(context.db, version.environment_id));
  if (!version || !environment) throw notFound('state version', id);
  const other = await otherVersion(context, version, withId);
  const secrets = await secretsOf(context, environment, [version, other]);
  const differences = await differencesOf(context, other, version, secrets);
  await recordAudit(context, {
    organizationId: environment.organization_id,
    action: 'state.compared',
    entity: 'stateVersion',
    entityId: id,
    details: { with: other.id },
  });
  const [before, after] = await stateVersionViews(context.db, [other, version]);
  return { before: before!, after: after!, isSameLineage: other.lineage === version.lineage, ...differences };
}
