/** Deploys whose plan is empty, in projects that skip their apply: what the environment has stays what it has. */
import { sql } from 'kysely';
import type { Connection, Context } from '../../context.ts';
import type { LockedEnvironment } from '../../environments/environment-store.ts';
import { readPolicySettings } from '../../policies/policy-settings.ts';
import type { DeploymentRow } from '../deployment-store.ts';
import { resealOutput } from '../outcome-columns.ts';
import { readInputs } from '../run-inputs.ts';

/** The last run of an environment that read or removed what it has; undefined: there was none. */
async function lastResults(db: Connection, { environment_id: environmentId, number }: DeploymentRow) {
  return db
    .selectFrom('deployment')
    .select(['id', 'type', 'status', 'sealed_output'])
    .where('environment_id', '=', environmentId)
    .where('number', '<', number)
    .where('type', 'in', ['deploy', 'destroy', 'task'])
    .where((eb) =>
      eb.or([
        eb('output', 'is not', null),
        eb.and([eb('type', '=', 'destroy'), eb('status', '=', 'SUCCESS')]),
      ]),
    )
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Whether the plan of a deploy changes nothing, and the policy of the project skips the apply of such plans. Changes
 * that somebody proposes are stored with an approval: their plan waits for one. Where the environment has a state of
 * which no run has read the outputs, such as an imported one, the apply reads them.
 */
export async function isApplySkipped(
  context: Pick<Context, 'db' | 'sealer'>,
  deployment: DeploymentRow,
  environment: Pick<LockedEnvironment, 'current_state_version_id'>,
  hasChanges: boolean | null,
): Promise<boolean> {
  // What earlier levels have applied was not skipped.
  if (deployment.type !== 'deploy' || hasChanges !== false || deployment.level !== null) return false;
  const { skipApplyWhenPlanIsEmpty } = await readPolicySettings(context.db, deployment.project_id);
  if (!skipApplyWhenPlanIsEmpty || (await readInputs(context, deployment.id)).proposed !== undefined)
    return false;
  return (
    environment.current_state_version_id === null || (await lastResults(context.db, deployment)) !== undefined
  );
}

/** Gives a deployment whose apply is skipped the outputs and resources that the environment has. */
export async function carryResults(context: Context, deployment: DeploymentRow): Promise<void> {
  const last = await lastResults(context.db, deployment);
  const isNothing = last === undefined || (last.type === 'destroy' && last.status === 'SUCCESS');
  const update = context.db.updateTable('deployment').where('deployment.id', '=', deployment.id);
  if (isNothing) {
    await update
      .set({
        output: JSON.stringify({}),
        sealed_output: null,
        resources: JSON.stringify([]),
        resource_count: 0,
      })
      .execute();
    return;
  }
  await update
    // In the database: no digit of a number can be lost.
    .from('deployment as last')
    .where('last.id', '=', last.id)
    .set({
      output: sql<string | null>`last.output`,
      resources: sql<string | null>`last.resources`,
      resource_count: sql<number>`last.resource_count`,
      state_file_hash: sql<string | null>`last.state_file_hash`,
      sealed_output: resealOutput(context, last, deployment),
    })
    .execute();
}
