/**
 * The event stream of a whole organization: what a reader may see of it, from the place that it has reached.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { Actor } from '../../framework/access/actor.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Wire } from '../../framework/http/route.ts';
import { badField, notFound, Refusal, unknownEntity } from '../../ground/errors.ts';
import { deploymentHome } from '../../rows/deployments/deployment-store.ts';
import { projectHome } from '../../rows/projects/project-store.ts';
import { DeploymentFollower } from './follow-deployment.ts';
import { type FeedReader, maySee } from './may-see.ts';
import { openEventStream } from './open-event-stream.ts';
import { decodePosition, encodePosition, type FeedPosition } from './organization-cursor.ts';
import { keptDays } from './organization-events.ts';
import { currentPlace, type EventPosition, type Feed, isAfter, joinFeed } from './organization-feed.ts';
import { checkedNowAndThen } from './stream-deployment.ts';

/** A comment keeps proxies from closing a quiet stream; the reader's rights are checked at that pace, too. */
const quietMilliseconds = 15_000;
/** Before events are sent, the reader's rights are checked unless that was done this recently. */
const recheckMilliseconds = 1000;
/** A reader that is stalled for this long is disconnected; it returns with its last id. */
const longestPauseMilliseconds = 60_000;

/** The position of the reader is no longer kept, or is from before the database was restored or recreated. */
async function isLost(context: ActorContext, place: EventPosition): Promise<boolean> {
  const isOld = context.now().getTime() - place.at > keptDays * 86_400_000;
  return isOld || isAfter(place, await currentPlace(context));
}

/** The position is that of the moment: with the bytes that go out now, the reader has reached it. */
function chunkOf(position: FeedPosition, event: string, data: unknown): string {
  return `id: ${encodePosition(position)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Waits while the reader is slower than we are, so that a slow reader costs no memory. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text) || response.destroyed) return;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestPauseMilliseconds)]);
  await once(response, 'drain', { signal: limit }).catch(() => response.destroy());
}

interface StreamReader extends FeedReader {
  readonly withLog: boolean;
  readonly checkAgain: Wire['checkAgain'];
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Until the reader has gone, or has left the organization. @param position moves with what is sent or left out */
async function follow(
  context: ActorContext,
  reader: StreamReader,
  { feed, position }: { readonly feed: Feed; readonly position: FeedPosition },
): Promise<void> {
  const { response, signal } = reader;
  let { actor } = context;
  let checkedAt = context.now().getTime();
  while (!signal.aborted) {
    const { events, place: reached } = await feed.after(position.place);
    const sinceCheck = context.now().getTime() - checkedAt;
    if (events.length > 0 ? sinceCheck >= recheckMilliseconds : sinceCheck >= quietMilliseconds) {
      actor = await reader.checkAgain();
      checkedAt = context.now().getTime();
      if (!actor.access.isMember(reader.organizationId)) return;
      if (events.length === 0) await write(response, ': alive\n\n', signal);
    }
    for (const event of events) {
      position.place = event;
      if (maySee(actor, reader, event))
        await write(response, chunkOf(position, event.name, event.data), signal);
      if (signal.aborted) return;
    }
    position.place = reached;
    if (events.length === 0) await feed.waitFor(reached, { signal, milliseconds: quietMilliseconds });
  }
}

/** Sends the events of the deployment that the reader requested, until it has ended or the reader has gone. */
async function followDeployment(
  context: ActorContext,
  { checkAgain, response, signal, organizationId, withLog }: StreamReader,
  position: FeedPosition,
): Promise<void> {
  const { followed } = position;
  if (!followed) return;
  const { deploymentId, cursor } = followed;
  const ask = async () => requireDeployment(context, await checkAgain(), { organizationId, deploymentId });
  const follower = new DeploymentFollower(context, deploymentId, cursor, {
    withLog,
    send: (event, data) => {
      const carried = { deploymentLogId: deploymentId, event, data };
      return write(response, chunkOf(position, 'deploymentEvent', carried), signal);
    },
    check: checkedNowAndThen(context, recheckMilliseconds, ask),
    stayAlive: () => undefined,
    isGone: () => signal.aborted || response.destroyed,
  });
  if (!(await follower.hasEnd())) await follower.run(signal);
}

/** Both at once: the end of the deployment does not end the stream, all other ends do. */
async function followAll(
  context: ActorContext,
  options: StreamReader,
  from: Partial<FeedPosition>,
): Promise<void> {
  const { feed, leave } = await joinFeed(context, options.organizationId);
  const ending = new AbortController();
  const reader = { ...options, signal: AbortSignal.any([options.signal, ending.signal]) };
  try {
    const isReset = from.place !== undefined && (await isLost(context, from.place));
    const position = {
      place: from.place === undefined || isReset ? feed.head : from.place,
      followed: from.followed,
    };
    await write(options.response, chunkOf(position, isReset ? 'reset' : 'ready', {}), reader.signal);
    const isOver = follow(context, reader, { feed, position }).finally(() => ending.abort());
    const hasFailed = followDeployment(context, reader, position).catch((error: unknown) => {
      ending.abort();
      throw error;
    });
    await Promise.all([isOver, hasFailed]);
  } finally {
    leave();
  }
}

/** @throws Refusal 400 for a deployment of another organization, 403 for one that the caller may not see */
async function requireDeployment(
  { db }: ActorContext,
  actor: Actor,
  { organizationId, deploymentId }: { readonly organizationId: string; readonly deploymentId: string },
): Promise<void> {
  const home = await deploymentHome(db, deploymentId);
  if (home?.organizationId !== organizationId) throw unknownEntity('query.deploymentLogId', 'deployment');
  requireRight(actor, home, 'VIEW_ENVIRONMENT', '/query/deploymentLogId');
}

/** Start of the reader: after its position, with the deployment that it requests now. */
function beginning(last: string | undefined, deploymentId: string | undefined): Partial<FeedPosition> {
  const { place, followed } = last ? decodePosition(last) : {};
  if (deploymentId === undefined) return { place };
  const isSame = followed?.deploymentId === deploymentId;
  return { place, followed: isSame ? followed : { deploymentId, cursor: { event: 0, logs: {} } } };
}

/** @throws Refusal 404 for who is not a member, 400 or 403 before the first byte */
export async function streamOrganization(
  context: ActorContext,
  organizationId: string,
  { projectId, deploymentLogId: deploymentId, withLog = true }: QueryOf<typeof operations.streamOrganization>,
  { request, reply, checkAgain }: Wire,
): Promise<void> {
  if (!context.actor.access.isMember(organizationId)) throw notFound('organization', organizationId);
  const last = request.headers['last-event-id'];
  const from = beginning(typeof last === 'string' ? last : undefined, deploymentId);
  if (
    projectId !== undefined &&
    (await projectHome(context.db, projectId))?.organizationId !== organizationId
  )
    throw badField('query.projectId', 'does not match a project of this organization');
  if (deploymentId !== undefined)
    await requireDeployment(context, context.actor, { organizationId, deploymentId });
  const { response, gone } = openEventStream(context, reply);
  try {
    const reader = { organizationId, projectId, withLog, checkAgain, response, signal: gone };
    await followAll(context, reader, from);
  } catch (error) {
    if (!gone.aborted && !(error instanceof Refusal))
      context.log.error({ err: error, organizationId }, 'event stream of an organization failed');
  } finally {
    response.end();
  }
}
