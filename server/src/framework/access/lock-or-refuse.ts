/** Locks what a request names, which may be gone since its rights were checked. */
import { orNotFound } from '../../ground/errors.ts';
import { type LockedDeployment, lockDeployment } from '../../rows/deployments/deployment-store.ts';
import { type LockedEnvironment, lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { Context } from '../context.ts';

/** Locks the environment. @throws Refusal 404 */
export async function requireEnvironment(
  { db }: Pick<Context, 'db'>,
  id: string,
): Promise<LockedEnvironment> {
  return orNotFound(await lockEnvironmentRow(db, id), 'environment', id);
}

/** Locks the environment of the deployment, then the deployment. @throws Refusal 404 */
export async function requireDeployment({ db }: Pick<Context, 'db'>, id: string): Promise<LockedDeployment> {
  return orNotFound(await lockDeployment(db, id), 'deployment', id);
}
