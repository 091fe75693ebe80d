/** The event stream of one deployment. */
import type { ServerResponse } from 'node:http';
import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import type { Wire } from '../../framework/http/route.ts';
import { orNotFound, Refusal } from '../../ground/errors.ts';
import { getDeploymentPlace } from '../../rows/deployments/deployment-store.ts';
import { decodeCursor, encodeCursor } from './deployment-cursor.ts';
import { DeploymentFollower, quietMilliseconds, type Sink } from './follow-deployment.ts';
import { openEventStream } from './open-event-stream.ts';

/** Asks again whether the reader may read, not more often than once in these milliseconds. */
export function checkedNowAndThen(
  { now }: Context,
  milliseconds: number,
  ask: () => Promise<unknown>,
): () => Promise<void> {
  let checkedAt = now().getTime();
  return async () => {
    if (now().getTime() - checkedAt < milliseconds) return;
    await ask();
    checkedAt = now().getTime();
  };
}

/** Waits while the reader is slower than we are, so that a slow reader costs no memory. */
async function write(response: ServerResponse, chunk: string): Promise<void> {
  if (response.write(chunk) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/**
 * Streams until the end of the deployment, or answers 204 where nothing is to come, which readers take as "do not
 * come back"; once the cursor is read, the response is the stream's.
 * @throws Refusal 400 or 404 before the first byte
 */
export async function streamDeployment(
  context: ActorContext,
  deploymentId: string,
  { withLog = true }: QueryOf<typeof operations.streamDeployment>,
  { request, reply, checkAgain }: Wire,
): Promise<void> {
  const last = request.headers['last-event-id'];
  const cursor = decodeCursor(typeof last === 'string' ? last : undefined);
  const deployment = orNotFound(
    await getDeploymentPlace(context.db, deploymentId),
    'deployment',
    deploymentId,
  );
  const sink: Sink = {
    withLog,
    send: (event, data) =>
      write(reply.raw, `id: ${encodeCursor(cursor)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    check: checkedNowAndThen(context, quietMilliseconds, checkAgain),
    stayAlive: () => void reply.raw.write(': alive\n\n'),
    isGone: () => reply.raw.destroyed,
  };
  const follower = new DeploymentFollower(context, deploymentId, cursor, sink);
  if (deployment.status === 'NEVER_DEPLOYED' || (await follower.hasEnd()))
    return void (await reply.status(204).send());
  const { response, gone } = openEventStream(context, reply);
  response.write(': envarium\n\n');
  try {
    await follower.run(gone);
  } catch (error) {
    if (!(error instanceof Refusal)) context.log.error({ err: error, deploymentId }, 'event stream failed');
  } finally {
    response.end();
  }
}
