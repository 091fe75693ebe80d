/**
 * The one event stream of this tab: what it tells makes the reads that show it current. A hidden tab pauses it
 * and continues after the last event that it has.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { OperationName } from '#contract/operations.ts';
import { client } from './client.ts';
import { isStatus } from './errors.ts';
import { queryClient, refresh } from './queries.ts';
import { currentUser } from './session.ts';

/** `paused`: the tab is hidden; `lost`: it tries to connect again. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'paused';

/** A stream without a sign of life for longer is tried again; the service sends one every 15 seconds. */
const silenceSeconds = 40;
const hiddenMilliseconds = 15_000;
const gatherMilliseconds = 100;

let state: LiveState = 'connecting';
let lostSince: number | undefined;
const listeners = new Set<() => void>();

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  lostSince = next === 'lost' ? Date.now() : undefined;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this tab hears of changes. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

/** Since when it hears nothing, in milliseconds since 1970; undefined while it does. */
export function useLostSince(): number | undefined {
  return useSyncExternalStore(subscribe, () => lostSince);
}

type EventListener = (event: OrganizationStreamEvent) => void;
const eventListeners = new Set<EventListener>();

/** Calls a function with each event of the organization while the component is there. */
export function useLiveEvents(listener: EventListener): void {
  useEffect(() => {
    eventListeners.add(listener);
    return () => void eventListeners.delete(listener);
  }, [listener]);
}

const ofEnvironment: readonly OperationName[] = ['listEnvironments', 'getEnvironment'];
const ofDeployment: readonly OperationName[] = [
  ...ofEnvironment,
  'listDeployments',
  'getDeployment',
  'getDeploymentTimeline',
  'listEnvironmentOutputs',
  'listDeploymentResources',
  'listStateVersions',
  'getStateLock',
];

/** The reads that show what an event tells. */
function readsOf({ event }: OrganizationStreamEvent): readonly OperationName[] {
  switch (event) {
    case 'deployment':
      return ofDeployment;
    case 'step':
      return ['listSteps'];
    case 'environment':
      return [...ofEnvironment, 'getEnvironmentSchedule'];
    default:
      return [];
  }
}

let gathered = new Set<OperationName>();

/** Many events at once cost one reading of each list. */
function gather(names: readonly OperationName[]): void {
  if (names.length === 0) return;
  if (gathered.size === 0) {
    setTimeout(() => {
      const all = [...gathered];
      gathered = new Set();
      void refresh(all);
    }, gatherMilliseconds);
  }
  for (const name of names) gathered.add(name);
}

function take(event: OrganizationStreamEvent): void {
  setState('live');
  if (event.event === 'reset') void queryClient.invalidateQueries();
  gather(readsOf(event));
  for (const listener of eventListeners) listener(event);
}

/** Says `lost` as soon as a connection breaks, which the stream itself repairs silently. */
function watched(signal: AbortSignal): { fetchesFail: () => void; stop: () => void } {
  const offline = () => setState('lost');
  addEventListener('offline', offline, { signal });
  return { fetchesFail: offline, stop: () => removeEventListener('offline', offline) };
}

async function followOnce(
  id: string,
  from: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  let lastEventId = from;
  const watch = watched(signal);
  try {
    const stream = client.stream('streamOrganization', {
      params: { id },
      lastEventId,
      signal,
      silenceSeconds,
      giveUpAfterSeconds: 0,
    });
    for await (const event of stream) {
      if (event.id !== '') lastEventId = event.id;
      take(event);
    }
  } catch (error) {
    if (signal.aborted) return lastEventId;
    if (isStatus(error, 401)) await queryClient.invalidateQueries({ queryKey: currentUser.queryKey });
    watch.fetchesFail();
  } finally {
    watch.stop();
  }
  return lastEventId;
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
    addEventListener('online', () => resolve(), { once: true, signal });
  });

async function follow(id: string, signal: AbortSignal): Promise<void> {
  let lastEventId: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const visible = new AbortController();
    const both = AbortSignal.any([signal, visible.signal]);
    let hiding: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(() => visible.abort(), hiddenMilliseconds);
    };
    document.addEventListener('visibilitychange', onVisibility, { signal });
    onVisibility();
    const before = lastEventId;
    lastEventId = await followOnce(id, lastEventId, both);
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', onVisibility);
    if (signal.aborted) return;
    if (visible.signal.aborted) await untilVisible(signal);
    else {
      failures = lastEventId === before ? failures + 1 : 0;
      setState('lost');
      await pause(Math.min(500 * 2 ** failures, 10_000), signal);
    }
  }
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  setState('paused');
  while (document.hidden && !signal.aborted) {
    await new Promise((resolve) =>
      document.addEventListener('visibilitychange', resolve, { once: true, signal }),
    );
  }
  setState('connecting');
}

/** Follows an organization while the component is there. */
export function useLive(organizationId: string): void {
  useEffect(() => {
    if (organizationId === '') return;
    const ending = new AbortController();
    void follow(organizationId, ending.signal);
    return () => ending.abort();
  }, [organizationId]);
}
