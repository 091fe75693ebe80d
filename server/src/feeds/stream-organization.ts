/**
 * The event stream of a whole organization: what a reader may see of it, from the place that it has reached.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Actor } from '../access/actor.ts';
import type { ActorContext } from '../context.ts';
import { badField, Refusal } from '../http/errors.ts';
import type { Wire } from '../http/route.ts';
import { projectHome } from '../projects/project-store.ts';
import { openEventStream } from './open-event-stream.ts';
import { keptDays } from './organization-events.ts';
import { currentPlace, type FeedEvent, isAfter, joinFeed, type Place } from './organization-feed.ts';

/** A comment keeps proxies from closing a quiet stream; the reader's rights are checked at that pace, too. */
const quietMilliseconds = 15_000;
/** Before events are sent, the reader's rights are checked unless that was done this recently. */
const recheckMilliseconds = 1000;
/** A reader that is stalled for this long is disconnected; it returns with its last id. */
const longestPauseMilliseconds = 60_000;

function encodePlace(place: Place): string {
  return Buffer.from(
    JSON.stringify([place.transaction.toString(), place.number.toString(), place.at]),
  ).toString('base64url');
}

/** @throws Refusal 400 for an id that no stream has given */
export function decodePlace(text: string): Place {
  try {
    const [transaction, number, at] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [
      string,
      string,
      number,
    ];
    if (/^\d{1,19}$/.test(transaction) && /^(-1|\d{1,18})$/.test(number) && Number.isSafeInteger(at))
      return { transaction: BigInt(transaction), number: BigInt(number), at };
  } catch {
    // Falls through to the refusal below.
  }
  throw badField('headers.last-event-id', 'must be the id of an event of this stream');
}

/** What a reader has is no longer kept, or is from before the database was restored or recreated. */
async function isLost(context: ActorContext, place: Place): Promise<boolean> {
  const isOld = context.now().getTime() - place.at > keptDays * 86_400_000;
  return isOld || isAfter(place, await currentPlace(context));
}

function chunkOf(place: Place, event: string, data: unknown): string {
  return `id: ${encodePlace(place)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Waits while the reader is slower than we are, so that a slow reader costs no memory. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text) || response.destroyed) return;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestPauseMilliseconds)]);
  await once(response, 'drain', { signal: limit }).catch(() => response.destroy());
}

interface Reader {
  readonly organizationId: string;
  /** Only this project. */
  readonly projectId: string | undefined;
  readonly askAgain: Wire['askAgain'];
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

function maySee({ access }: Actor, { organizationId, projectId }: Reader, event: FeedEvent): boolean {
  const { environmentId } = event.data as { environmentId: string };
  const from = fromProject(event);
  const projectIds = [event.projectId, ...(typeof from === 'string' ? [from] : [])];
  const isVisible = projectIds.some((each) =>
    access.has('VIEW_ENVIRONMENT', { organizationId, projectId: each, environmentId }),
  );
  if (!isVisible) return false;
  return projectId === undefined || event.projectId === projectId || fromProject(event) === projectId;
}

/** Readers of the project that an environment has left hear of that, too. */
function fromProject(event: FeedEvent): unknown {
  return event.name === 'environment' ? (event.data as { fromProjectId?: unknown }).fromProjectId : undefined;
}

/** Until the reader has gone, or may see nothing any longer. */
async function follow(context: ActorContext, reader: Reader, from: Place | null): Promise<void> {
  const { response, signal } = reader;
  const { feed, leave } = await joinFeed(context, reader.organizationId);
  try {
    const isReset = from !== null && (await isLost(context, from));
    let place = from === null || isReset ? feed.head : from;
    await write(response, chunkOf(place, isReset ? 'reset' : 'ready', {}), signal);
    let { actor } = context;
    let checkedAt = context.now().getTime();
    while (!signal.aborted) {
      const { events, place: reached } = await feed.after(place);
      const sinceCheck = context.now().getTime() - checkedAt;
      if (events.length > 0 ? sinceCheck >= recheckMilliseconds : sinceCheck >= quietMilliseconds) {
        actor = await reader.askAgain();
        checkedAt = context.now().getTime();
        if (!actor.access.anywhere('VIEW_ENVIRONMENT', reader.organizationId)) return;
        if (events.length === 0) await write(response, ': alive\n\n', signal);
      }
      for (const event of events) {
        if (maySee(actor, reader, event))
          await write(response, chunkOf(event, event.name, event.data), signal);
        if (signal.aborted) return;
      }
      place = reached;
      if (events.length === 0) await feed.waitFor(place, { signal, milliseconds: quietMilliseconds });
    }
  } finally {
    leave();
  }
}

/** @throws Refusal 400 before the first byte */
export async function streamOrganization(
  context: ActorContext,
  organizationId: string,
  projectId: string | undefined,
  { request, reply, askAgain }: Wire,
): Promise<void> {
  const last = request.headers['last-event-id'];
  const from = typeof last === 'string' && last !== '' ? decodePlace(last) : null;
  if (
    projectId !== undefined &&
    (await projectHome(context.db, projectId))?.organizationId !== organizationId
  )
    throw badField('query.projectId', 'does not match a project of this organization');
  const { response, gone } = openEventStream(context, reply);
  try {
    await follow(context, { organizationId, projectId, askAgain, response, signal: gone }, from);
  } catch (error) {
    if (!gone.aborted && !(error instanceof Refusal))
      context.log.error({ err: error, organizationId }, 'event stream of an organization failed');
  } finally {
    response.end();
  }
}
