/** The deployment that speaks for an environment. */
import type { Context } from '../../framework/context.ts';
import { orNotFound } from '../../ground/errors.ts';
import {
  getShownDeployments,
  type ShownDeploymentRow,
} from '../../rows/deployments/shown-deployment-store.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';

/** @throws Refusal 404 for a deployment that has disappeared */
export async function requireDeploymentRow(
  { db }: Pick<Context, 'db'>,
  id: string | null,
): Promise<ShownDeploymentRow> {
  const [row] = await getShownDeployments(db, id === null ? [] : [id]);
  return orNotFound(row, 'deployment', id ?? 'none');
}

/** @returns an environment and its latest deployment, which is a placeholder before the first */
export async function latestDeployment(
  context: Pick<Context, 'db'>,
  environmentId: string,
): Promise<{ environment: EnvironmentRow; deployment: ShownDeploymentRow }> {
  const row = await getEnvironmentRow(context.db, environmentId);
  const environment = orNotFound(row, 'environment', environmentId);
  const deployment = await requireDeploymentRow(context, environment.latest_deployment_id);
  return { environment, deployment };
}
