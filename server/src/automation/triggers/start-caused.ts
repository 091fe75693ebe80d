/** Starts a deployment that another one causes, once per cause and environment. */
import { actorWithoutRights } from '../../framework/access/actor.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { causedDeployment, ownerOf } from '../../rows/deployments/caused-store.ts';
import { openDeployments } from '../../rows/deployments/deployment-store.ts';
import type { LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { systemUserId } from '../../rows/users/user-store.ts';
import { loadStartFacts, type StartRequest } from '../../runs/deployments/inputs/start-facts.ts';
import { startDeployment } from '../../runs/deployments/start-deployment.ts';
import { refusalOfExpired } from '../../tenancy/lifetimes/lifespan.ts';

/** The result: the deployment, or why there is none. */
export interface Caused {
  readonly deploymentId: string | null;
  readonly reason: string | null;
}

export const because = (reason: string): Caused => ({ deploymentId: null, reason });

/** Acts for the service itself, which may do what people have requested. */
export function asService(context: Context, requestId: string): ActorContext {
  return { ...context, actor: actorWithoutRights(systemUserId, 'Envarium'), requestId };
}

async function refusalOf(context: Context, environment: LockedEnvironment): Promise<string | null> {
  if (environment.is_archived) return 'The environment is archived';
  if (environment.is_locked)
    return `The environment is locked${environment.lock_reason ? `: ${environment.lock_reason}` : ''}`;
  if (environment.resting_status !== 'ACTIVE')
    return `The environment is ${environment.resting_status}: only active ones are deployed`;
  const expired = refusalOfExpired(environment, context.now());
  if (expired !== null) return expired;
  const open = await openDeployments(context.db, environment.id);
  const destroy = open.find(({ type }) => type === 'destroy');
  return destroy ? `The destroy ${destroy.id} comes first` : null;
}

/**
 * @param environment the one to deploy
 * @param request what causes it, and how it is named
 * @returns the deployment, also where it was started before: by a server that died afterwards
 */
export async function startCaused(
  context: ActorContext,
  environment: LockedEnvironment,
  request: Required<Pick<StartRequest, 'trigger' | 'causedBy'>> &
    Pick<StartRequest, 'upstreamEnvironmentId' | 'comment'>,
): Promise<Caused> {
  const known = await causedDeployment(context.db, request.causedBy, environment.id);
  if (known !== undefined) return { deploymentId: known, reason: null };
  const [refusal, requestedBy] = await Promise.all([
    refusalOf(context, environment),
    ownerOf(context.db, request.causedBy),
  ]);
  if (refusal !== null) return because(refusal);
  try {
    const facts = await loadStartFacts(context, environment, 'deploy');
    const { deployment } = await startDeployment(context, facts, {
      type: 'deploy',
      targets: [],
      ...(requestedBy === undefined ? {} : { requestedBy }),
      ...request,
    });
    return { deploymentId: deployment.id, reason: null };
  } catch (error) {
    if (error instanceof Refusal) return because(error.message);
    throw error;
  }
}
