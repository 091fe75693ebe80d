/**
 * The deployment whose own events the stream of the tab carries, too. At most one: that of the page that is
 * open.
 */
import type { FollowedDeploymentEvent } from '#contract/feeds/shapes.ts';

type DeploymentListener = (event: FollowedDeploymentEvent) => void;

interface Follower {
  readonly listener: DeploymentListener;
  readonly withLog: boolean;
  /** Next byte of each step's log. */
  readonly logs: Map<string, number>;
}

/** The result of the deployment that is followed. */
export type FollowedEnd = 'ended' | 'refused';

const followers = new Map<string, Set<Follower>>();
const listeners = new Set<() => void>();
const ends = new Map<string, FollowedEnd>();
/** Events of this deployment have come: who begins now has missed them. */
let begun: string | undefined;
let isForgetting = false;
let restarting: ReturnType<typeof setTimeout> | undefined;

/** Tells the stream that it has to be opened as `followedDeployment` says now. */
export const restarts = new EventTarget();

/** Several changes at once, such as one page after the other, cost one connection. */
function restartSoon(): void {
  restarting ??= setTimeout(() => {
    restarting = undefined;
    restarts.dispatchEvent(new Event('restart'));
  });
}

/** @returns what the next connection asks for */
export function followedDeployment(): { deploymentLogId?: string; withLog?: boolean } {
  const last = [...followers].at(-1);
  if (isForgetting || last === undefined) return {};
  const [deploymentLogId, ofId] = last;
  return { deploymentLogId, withLog: [...ofId].some(({ withLog }) => withLog) };
}

function setEnd(id: string, end: FollowedEnd | undefined): void {
  if (end === undefined) ends.delete(id);
  else ends.set(id, end);
  for (const listener of listeners) listener();
}

/** Calls the function when `followedEnd` answers something else. */
export function onFollowedEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function followedEnd(id: string | undefined): FollowedEnd | undefined {
  return id === undefined ? undefined : ends.get(id);
}

/** The service does not let this person follow it. */
export function refuseFollowed(id: string): void {
  followers.delete(id);
  setEnd(id, 'refused');
}

/** A connection that was opened has begun: one that forgot the deployment is followed by one that has it. */
export function followedBegins(): void {
  if (!isForgetting) return;
  isForgetting = false;
  begun = undefined;
  restartSoon();
}

function isWanted({ logs, withLog }: Follower, { event, data }: FollowedDeploymentEvent): boolean {
  if (event !== 'log') return true;
  if (!withLog) return false;
  const end = data.offset + data.bytes;
  if (end <= (logs.get(data.step) ?? 0)) return false;
  logs.set(data.step, end);
  return true;
}

/** Hands an event to those who follow its deployment. */
export function takeFollowed(event: FollowedDeploymentEvent): void {
  const { deploymentLogId: id } = event;
  begun = id;
  for (const follower of followers.get(id) ?? []) if (isWanted(follower, event)) follower.listener(event);
  if (event.event === 'end') setEnd(id, 'ended');
}

/**
 * Follows a deployment from its beginning. Where another part of the page follows it already, that one does not
 * get the bytes of the log a second time.
 * @param withLog false: without the bytes of its log
 * @returns what ends it
 */
export function followDeployment(id: string, listener: DeploymentListener, withLog: boolean): () => void {
  const follower: Follower = { listener, withLog, logs: new Map() };
  const ofId = followers.get(id) ?? new Set();
  followers.delete(id);
  followers.set(id, ofId.add(follower));
  isForgetting ||= begun === id;
  setEnd(id, undefined);
  restartSoon();
  return () => {
    ofId.delete(follower);
    if (ofId.size > 0) return;
    if (followers.get(id) === ofId) followers.delete(id);
    restartSoon();
  };
}
