/**
 * Begins a stream of server-sent events: from here on the response is the stream's, and errors only go
 * to the log.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { ActorContext } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { hijackReply } from '../../framework/http/replies/headers.ts';
import { TooManyRequests } from '../../ground/errors.ts';

export interface EventStream {
  readonly response: ServerResponse;
  /** Aborted once the reader has gone, or is to continue at another server. */
  readonly gone: AbortSignal;
}

/** A reader that was refused should come back after this time. */
const refusedSeconds = 15;

/** Number of open streams of each user. */
const openOf = perServer(() => new Map<string, number>());

/** @throws TooManyRequests (429) where the user or the server has as many streams as it may have */
function countStream(context: ActorContext): () => void {
  const { userId } = context.actor;
  const { settings } = context;
  const users = openOf(context);
  const own = users.get(userId) ?? 0;
  const all = [...users.values()].reduce((sum, each) => sum + each, 0);
  if (own >= settings.userStreamLimit)
    throw new TooManyRequests(
      `You have ${own} open event streams, the limit set by ENVARIUM_USER_STREAM_LIMIT: close some of them`,
      refusedSeconds,
    );
  if (all >= settings.streamLimit)
    throw new TooManyRequests(
      `The service has ${all} open event streams, the limit set by ENVARIUM_STREAM_LIMIT: try again later`,
      refusedSeconds,
    );
  users.set(userId, own + 1);
  return () => {
    const left = (users.get(userId) ?? 1) - 1;
    if (left > 0) users.set(userId, left);
    else users.delete(userId);
  };
}

/**
 * @param reply one that nothing was sent of
 * @throws TooManyRequests (429)
 */
export function openEventStream(context: ActorContext, reply: FastifyReply): EventStream {
  const leave = countStream(context);
  const response = reply.raw;
  const gone = new AbortController();
  // A reader that left while its rights were checked is not announced again.
  const hasLeft = response.destroyed || response.closed || (response.socket?.destroyed ?? true);
  const stop = () => gone.abort();
  const end = () => {
    context.stopping.removeEventListener('abort', stop);
    leave();
    gone.abort();
  };
  context.stopping.addEventListener('abort', stop);
  if (context.stopping.aborted) stop();
  if (hasLeft) end();
  else response.once('close', end);
  hijackReply(reply, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  });
  return { response, gone: gone.signal };
}
