/** Locks what a request names, which may be gone since its rights were checked. */
import { notFound } from '../../ground/errors.ts';
import { type LockedDeployment, lockDeployment } from '../../rows/deployments/deployment-store.ts';
import { type LockedEnvironment, lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { Context } from '../context.ts';

/** Locks the environment. @throws Refusal 404 */
export async function requireEnvironment(
  { db }: Pick<Context, 'db'>,
  id: string,
): Promise<LockedEnvironment> {
  const environment = await lockEnvironmentRow(db, id);
  if (!environment) throw notFound('environment', id);
  return environment;
}

/** Locks the environment of the deployment, then the deployment. @throws Refusal 404 */
export async function requireDeployment({ db }: Pick<Context, 'db'>, id: string): Promise<LockedDeployment> {
  const found = await lockDeployment(db, id);
  if (!found) throw notFound('deployment', id);
  return found;
}
