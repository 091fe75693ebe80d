/**
 * Live events of this tab from the service: the changes of the organization, which make the reads that show them
 * current, and all that one deployment tells.
 */
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import type { FollowedDeploymentEvent, OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import { client } from './client.ts';
import { isStatus } from './errors.ts';
import { type FollowState, keepFollowing, silenceSeconds } from './follow.ts';
import {
  followDeployment,
  followedBegins,
  followedDeployment,
  followedEnd,
  onFollowedEnd,
  refuseFollowed,
  restarts,
  takeFollowed,
} from './followed-deployment.ts';
import { PatchedReads } from './live-patches.ts';
import { readsOf } from './live-reads.ts';
import { queryClient } from './queries.ts';
import { Rereads } from './rereads.ts';
import { noteSessionEnd } from './session-end.ts';

export type LiveState = FollowState;

const reads = new PatchedReads(queryClient);
const rereads = new Rereads(queryClient);
/** A connection brings its first event at once, unless something on the way gathers bytes. */
const firstEventMilliseconds = 12_000;

interface Live {
  readonly state: LiveState;
  /** When the connection was lost, in milliseconds since 1970. */
  readonly lostSince?: number;
  /** Last message of the service or the network. */
  readonly error?: unknown;
}

let live: Live = { state: 'connecting' };
const listeners = new Set<() => void>();

function setState(state: LiveState, error?: unknown): void {
  if (live.state === state) return;
  const lostSince = state === 'lost' ? { lostSince: Date.now() } : {};
  live = { state, error, ...lostSince };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this tab hears of changes, and why not. */
export function useLiveness(): Live {
  return useSyncExternalStore(subscribe, () => live);
}

/** Whether this tab hears of changes. */
function useLiveState(): LiveState {
  return useLiveness().state;
}

/** When the present connection was opened, in milliseconds since 1970, and whether it continues an earlier one. */
let opened = { at: 0, isContinued: false };
/** Reads while a page opens are as new as its stream. */
const sameTimeMilliseconds = 1000;

/** A stream that begins late has missed what happened to the reads that were there before. */
function readWhatWasMissed(): void {
  if (opened.isContinued) return;
  const before = opened.at - sameTimeMilliseconds;
  void queryClient.invalidateQueries({ predicate: ({ state }) => state.dataUpdatedAt < before });
}

function take(event: OrganizationStreamEvent): void {
  if (event.event === 'deploymentEvent') return takeFollowed(event.data);
  if (event.event === 'ready' || event.event === 'reset') followedBegins();
  if (event.event === 'ready') readWhatWasMissed();
  if (event.event === 'reset') void queryClient.invalidateQueries();
  rereads.take(readsOf(event), reads.take(event));
  // Between its moves, a deployment gets its plan and its next level: there is no other event of them.
  if (event.event === 'step') rereads.later('getDeployment', event.data.deploymentLogId);
}

/** Reads that wait for their next attempt try at once when the service is back. */
function onBack(): void {
  void queryClient.refetchQueries({ predicate: ({ state }) => state.fetchFailureCount > 0 });
}

/** A stream that is refused because the session has ended opens the sign-in. */
function onFollowState(state: FollowState, error: unknown): void {
  if (isStatus(error, 401)) noteSessionEnd();
  if (state === 'live' && live.state === 'lost') onBack();
  setState(state, error);
}

/** One connection: the organization, and the deployment that is followed now. */
async function* connect(
  organizationId: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<OrganizationStreamEvent> {
  const query = followedDeployment();
  opened = { at: Date.now(), isContinued: lastEventId !== undefined };
  try {
    yield* client.stream('streamOrganization', {
      params: { id: organizationId },
      query,
      lastEventId,
      signal,
      silenceSeconds,
      giveUpAfterSeconds: 0,
    });
  } catch (error) {
    const isOfDeployment = error instanceof Error && error.message.startsWith('/query/deploymentLogId');
    if (query.deploymentLogId !== undefined && isOfDeployment) refuseFollowed(query.deploymentLogId);
    throw error;
  }
}

/** Follows an organization while the component is there. */
export function useLive(organizationId: string): void {
  useEffect(() => {
    if (organizationId === '') return;
    const ending = new AbortController();
    void keepFollowing({
      open: (lastEventId, signal) => connect(organizationId, lastEventId, signal),
      onEvent: take,
      onState: onFollowState,
      firstEventMilliseconds,
      restarts,
      signal: ending.signal,
    });
    return () => ending.abort();
  }, [organizationId]);
}

/**
 * Calls a function with each event of one deployment, in order, none lost and none twice, while the component
 * is there: status, steps, bytes of the log with their offset, resources and `end`. Earlier events
 * the component was there comes first. The stream of the tab carries them: there is no other connection.
 * @param id of the deployment; undefined: none
 * @param withLog false: without the bytes of its log
 * @returns the position in the stream; `ended` after its last event
 */
export function useDeploymentStream(
  id: string | undefined,
  onEvent: (event: FollowedDeploymentEvent) => void,
  withLog = true,
): FollowState {
  const state = useLiveState();
  const end = useSyncExternalStore(onFollowedEnd, () => followedEnd(id));
  const take = useEffectEvent(onEvent);
  useEffect(() => {
    if (id === undefined) return undefined;
    return followDeployment(id, (event) => take(event), withLog);
  }, [id, withLog]);
  return end ?? state;
}

/** Reads the resources of a deployment again as its tool makes them. @param id of one that runs; undefined: none */
export function useLiveResources(id: string | undefined): void {
  useDeploymentStream(
    id,
    ({ event, data }) => {
      if (event === 'resource' && data.status !== 'started') rereads.later('listDeploymentResources');
    },
    false,
  );
}
