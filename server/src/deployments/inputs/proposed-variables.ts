/**
 * Variable changes of a caller who may plan but not apply. They are used for the plan of their deployment, and
 * stored when somebody approves it; if it is cancelled or fails, they remain in its inputs and nowhere else.
 */
import type { ActorContext } from '../../context.ts';
import { conflict, Refusal } from '../../http/errors.ts';
import { getProjectRow } from '../../projects/project-store.ts';
import { applyVariableChanges, tryVariableChanges } from '../../variables/apply-variable-changes.ts';
import { environmentHome, levelsOf } from '../../variables/levels.ts';
import type { Layer } from '../../variables/precedence.ts';
import { readLayers } from '../../variables/read-layers.ts';
import type { VariableRow } from '../../variables/variable-store.ts';
import type { LockedDeployment } from '../deployment-store.ts';
import { openInputs } from '../run-inputs.ts';
import type { StartRequest, StoredFacts } from '../start-facts.ts';

/**
 * What each level has as the proposed changes would leave it: they are the deployment's own variables.
 * @param deploymentId of the deployment that they are for
 * @throws Refusal where they could not be stored
 */
export async function layersWithProposed(
  context: ActorContext,
  { environment, hierarchy }: StoredFacts,
  { variableChanges, variableFields }: StartRequest,
  deploymentId: string,
): Promise<Layer<VariableRow>[]> {
  const home = environmentHome(environment, hierarchy);
  const { kept, changed } = await tryVariableChanges(context, home, variableChanges, variableFields);
  const layers = await readLayers(context.db, levelsOf(home));
  const rows = changed.map((row) => ({ ...row, scope: 'DEPLOYMENT' as const, scope_id: deploymentId }));
  return [...layers.slice(0, -1), { sets: layers.at(-1)?.sets ?? [], rows: kept }, { sets: [], rows }];
}

/**
 * Stores what the deployment proposes, in the name of the user who started it.
 * @throws Refusal 409 where the variables have changed in the meantime, so that it is no longer possible
 */
export async function storeProposed(
  context: ActorContext,
  { deployment, environment }: LockedDeployment,
): Promise<void> {
  const { proposed } = openInputs(context, deployment.id, deployment.sealed_inputs);
  if (!proposed) return;
  const project = await getProjectRow(context.db, environment.project_id);
  const home = environmentHome(environment, project?.hierarchy ?? environment.project_id);
  try {
    await applyVariableChanges(context, home, proposed.changes, proposed.fields, deployment.started_by);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw conflict(
      `The variables that this deployment proposes can no longer be stored: ${error.message}. Cancel it and deploy again`,
    );
  }
}
