/** SQL of deployments as far as they show the template of their environment. */
import type { Updateable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { DeploymentTable } from '../schema.ts';

/** Changes the placeholder for a deployment of environments that were never deployed; others are left as they are. */
export async function updatePlaceholders(
  tx: Connection,
  ids: readonly string[],
  changes: Updateable<DeploymentTable>,
): Promise<void> {
  await tx
    .updateTable('deployment')
    .set(changes)
    .where('id', 'in', [...ids])
    .where('status', '=', 'NEVER_DEPLOYED')
    .execute();
}

/** The templates that deployments of an environment ran, each once. */
export async function templatesOfDeployments(db: Connection, environmentId: string): Promise<string[]> {
  const found = await db
    .selectFrom('deployment')
    .select('template_id')
    .distinct()
    .where('environment_id', '=', environmentId)
    .execute();
  return found.map((row) => row.template_id);
}
