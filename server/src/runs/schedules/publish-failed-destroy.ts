/** Tells readers of an expired environment whose destroy did not succeed. */
import type { Context } from '../../framework/context.ts';
import type { ReactionPayloads } from '../../framework/reactions.ts';
import { isFailedEnd } from '../../tenancy/lifetimes/retry-destroy.ts';
import { publishLifetime } from '../feeds/publish-lifetime.ts';

/** Reaction to `deploymentMoved`. */
export async function publishFailedDestroy(
  context: Context,
  { deployment, environment, from }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (from !== null && isFailedEnd(environment, deployment, deployment.status, context.now()))
    await publishLifetime(context, environment, 'autoDestroyFailed');
}
