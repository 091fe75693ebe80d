/** SQL of the outputs that environments have now. */
import type { Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { DeploymentTable } from '../schema.ts';

/** Outputs and resources of the last run of an environment that changed something successfully. */
export type LastOutputs = Pick<
  Selectable<DeploymentTable>,
  'id' | 'environment_id' | 'type' | 'output' | 'sealed_output' | 'run_settings'
>;

/** Of several environments; those where nothing was ever deployed are left out. */
export async function lastOutputsOf(
  db: Connection,
  environmentIds: readonly string[],
): Promise<LastOutputs[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select(['id', 'environment_id', 'type', 'output', 'sealed_output', 'run_settings'])
    .distinctOn('environment_id')
    .where('environment_id', 'in', [...environmentIds])
    .where('status', '=', 'SUCCESS')
    .where((eb) =>
      eb.or([
        eb('type', '=', 'destroy'),
        eb.and([eb('type', 'in', ['deploy', 'task']), eb('output', 'is not', null)]),
      ]),
    )
    .orderBy('environment_id')
    .orderBy('number', 'desc')
    .execute();
}
