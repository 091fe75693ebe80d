/** Tells readers of an expired environment whose destroy did not succeed. */
import type { Context } from '../../framework/context.ts';
import type { ReactionPayloads } from '../../framework/reactions.ts';
import { isFailedEnd } from '../../tenancy/lifetimes/destroy-again.ts';
import { tellLifetime } from '../feeds/tell-lifetime.ts';

/** Reaction to `deploymentMoved`. */
export async function tellFailedEnd(
  context: Context,
  { deployment, environment, from }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (from !== null && isFailedEnd(environment, deployment, deployment.status, context.now()))
    await tellLifetime(context, environment, 'autoDestroyFailed');
}
