/**
 * Changes of a caller who may plan but not apply: variables, configuration sets, the code, and the environment's own
 * settings. They are used for the plan of their deployment, and stored when it is approved; if it is cancelled or
 * fails, they remain in its inputs and nowhere else.
 */

import type { Actor } from '../../../framework/access/actor.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { conflict, Refusal } from '../../../ground/errors.ts';
import { checkProposedSets } from '../../../inputs/configuration-sets/change-assignments.ts';
import { tryVariableChanges } from '../../../inputs/variables/apply-variable-changes.ts';
import { environmentHome, levelsOf } from '../../../inputs/variables/levels.ts';
import { type LevelContents, readLevels } from '../../../inputs/variables/read-layers.ts';
import type { LockedDeployment } from '../../../rows/deployments/deployment-store.ts';
import {
  type EnvironmentRow,
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../../rows/places.ts';
import { systemUserId } from '../../../rows/users/user-store.ts';
import { readSettings } from '../requests/read-settings.ts';
import { readSource } from '../requests/read-source.ts';
import { changedColumns, changeForGood } from './change-for-good.ts';
import { type ProposedChanges, readInputs } from './run-inputs.ts';
import { type LastingChanges, loadStartFacts, type StoredFacts } from './start-facts.ts';

/** Deployments of users who may not apply need the approval of another user, whatever the environment requires. */
export function isOnlyPlanner({ userId, access }: Actor, environment: EnvironmentRow): boolean {
  return userId !== systemUserId && !access.has('RUN_APPLY', inEnvironment(environment));
}

/** Whether changes wait until the plan is approved. */
export function isProposing(
  { actor }: ActorContext,
  { environment }: StoredFacts,
  { variableChanges, setChanges: sets, codeChange, settingsChange }: LastingChanges,
): boolean {
  const isChanging =
    variableChanges.length > 0 ||
    codeChange !== undefined ||
    settingsChange !== undefined ||
    (sets !== undefined && sets.assign.length + sets.unassign.length > 0);
  return isChanging && isOnlyPlanner(actor, environment);
}

function setIdsOf({ setChanges }: LastingChanges) {
  const idsOf = (sets: readonly { readonly id: string }[] = []) => sets.map(({ id }) => id);
  return { assign: idsOf(setChanges?.assign), unassign: idsOf(setChanges?.unassign) };
}

/** Changes that the deployment carries until it is approved. */
export function proposedOf(lasting: LastingChanges): ProposedChanges {
  const { variableChanges: changes, variableFields: fields, codeChange, settingsChange } = lasting;
  return {
    changes,
    fields,
    sets: setIdsOf(lasting),
    ...(codeChange ? { code: codeChange.requested } : {}),
    ...(settingsChange ? { settings: settingsChange.requested } : {}),
  };
}

/**
 * Content of each level after the proposed changes: those of variables are the deployment's own variables.
 * @param facts as the proposed changes would leave them
 * @param deploymentId of the deployment that they are for
 * @throws Refusal where they could not be stored
 */
export async function contentsWithProposed(
  context: ActorContext,
  facts: StoredFacts,
  changes: LastingChanges,
  deploymentId: string,
): Promise<LevelContents> {
  const { variableChanges, variableFields } = changes;
  const home = environmentHome(facts.environment, facts.hierarchy);
  // The sets of the environment as the proposed changes would leave them.
  const assignments = { environmentId: facts.environment.id, ...setIdsOf(changes) };
  const { kept, changed } = await tryVariableChanges(
    context,
    home,
    variableChanges,
    variableFields,
    assignments,
  );
  const { layers, setIds } = await readLevels(context.db, levelsOf(home), assignments);
  const rows = changed.map((row) => ({ ...row, scope: 'DEPLOYMENT' as const, scope_id: deploymentId }));
  const own = { sets: layers.at(-1)?.sets ?? [], rows: kept };
  return { layers: [...layers.slice(0, -1), own, { sets: [], rows }], setIds };
}

/** @throws Refusal where something has changed in the meantime, so that it is no longer possible */
async function store(
  context: ActorContext,
  { deployment, environment }: LockedDeployment,
  { changes, fields, sets, code, settings = {} }: ProposedChanges,
): Promise<LockedEnvironment> {
  const facts = await loadStartFacts(context, environment, deployment.type);
  // The deployment itself is the one that waits.
  const { started_by: proposedBy } = deployment;
  const { codeChange } = code ? await readSource(context, { ...facts, open: [] }, code, proposedBy) : {};
  const place = { home: inEnvironment(environment), environmentId: environment.id };
  const lasting = {
    variableChanges: changes,
    variableFields: fields,
    ...(sets ? { setChanges: await checkProposedSets(context, place, sets) } : {}),
    ...(codeChange ? { codeChange } : {}),
    settingsChange: await readSettings(context, facts, settings, { proposedBy }),
  };
  await changeForGood(context, facts, lasting, { proposedBy });
  const columns = changedColumns(lasting);
  const isChanging = Object.keys(columns).length > 0;
  return isChanging ? updateEnvironmentRow(context.db, environment, columns) : environment;
}

/**
 * Stores what the deployment proposes, in the name of the user who started it.
 * @returns the environment as it is then
 * @throws Refusal 409 where something has changed in the meantime, so that it is no longer possible
 */
export async function storeProposed(
  context: ActorContext,
  locked: LockedDeployment,
): Promise<LockedEnvironment> {
  const { proposed } = await readInputs(context, locked.deployment.id);
  if (!proposed) return locked.environment;
  try {
    return await store(context, locked, proposed);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw conflict(
      `The changes that this deployment proposes can no longer be stored: ${error.message}. Cancel it and deploy again`,
    );
  }
}
