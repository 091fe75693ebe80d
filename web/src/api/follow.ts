/**
 * Following an event stream for as long as a page needs it: it comes back after every loss and continues after
 * the last event that it has, and pauses while the tab is hidden.
 */
import { isStatus } from './errors.ts';

/**
 * `paused`: the tab is hidden; `lost`: it tries to connect again; `blocked`: connected, but nothing arrives;
 * `refused`: the service does not let this person follow; `unsupported`: this browser cannot; `ended`: nothing
 * more will come.
 */
export type FollowState =
  | 'connecting'
  | 'live'
  | 'lost'
  | 'paused'
  | 'blocked'
  | 'refused'
  | 'unsupported'
  | 'ended';

export interface Following<Event extends { readonly id: string }> {
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => AsyncIterable<Event>;
  readonly onEvent: (event: Event) => void;
  readonly onState: (state: FollowState, error?: unknown) => void;
  /** Each connection begins with an event: one that brings none for so long is held up on its way. */
  readonly firstEventMilliseconds?: number;
  /** Its event `restart` opens the connection again, as it is to be now. */
  readonly restarts: EventTarget;
  readonly signal: AbortSignal;
}

/** A stream without a sign of life for longer is tried again; the service sends one every 15 seconds. */
export const silenceSeconds = 25;
const hiddenMilliseconds = 15_000;
const longestPauseMilliseconds = 10_000;
/** The reason for a refusal rarely changes soon. */
const refusedMilliseconds = 30_000;

const wakeEvent = 'envarium:connect';

/** Lets every stream that waits for its next attempt try at once. */
export function connectNow(): void {
  dispatchEvent(new Event(wakeEvent));
}

/** Whether this browser can read an answer while it arrives. */
function canFollow(): boolean {
  return (
    typeof ReadableStream === 'function' &&
    'pipeThrough' in ReadableStream.prototype &&
    typeof TextDecoderStream === 'function' &&
    typeof TransformStream === 'function'
  );
}

/** One connection: closed when the tab is hidden for a while, or the machine leaves its network. */
function connectionOf(signal: AbortSignal, restarts: EventTarget) {
  const own = new AbortController();
  let reason: 'hidden' | 'offline' | 'restart' | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const end = (why: typeof reason) => {
    reason ??= why;
    own.abort();
  };
  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => end('hidden'), hiddenMilliseconds);
  };
  const options = { signal: own.signal };
  document.addEventListener('visibilitychange', onVisibility, options);
  addEventListener('offline', () => end('offline'), options);
  restarts.addEventListener('restart', () => end('restart'), options);
  signal.addEventListener('abort', () => end(undefined), options);
  onVisibility();
  return {
    signal: own.signal,
    reason: () => reason,
    close: () => {
      clearTimeout(hiding);
      own.abort();
    },
  };
}

/** Until the time is over, the network is available again, or it is woken. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const end = () => {
      clearTimeout(timer);
      done.abort();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener('online', end, { signal: done.signal });
    addEventListener(wakeEvent, end, { signal: done.signal });
    signal.addEventListener('abort', end, { signal: done.signal });
  });
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise<void>((resolve) => {
      document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

interface FollowPosition {
  lastEventId: string | undefined;
  failures: number;
  /** Nothing came over the last connection although it was open for long. */
  isBlocked: boolean;
}

/** @throws what the connection ends with, unless the stream has ended for good */
async function followOnce<Event extends { readonly id: string }>(
  { open, onEvent, onState, firstEventMilliseconds }: Following<Event>,
  position: FollowPosition,
  signal: AbortSignal,
): Promise<void> {
  position.isBlocked = false;
  const block = () => {
    position.isBlocked = true;
    onState('blocked');
  };
  const waiting =
    firstEventMilliseconds === undefined ? undefined : setTimeout(block, firstEventMilliseconds);
  try {
    for await (const event of open(position.lastEventId, signal)) {
      clearTimeout(waiting);
      position.isBlocked = false;
      position.failures = 0;
      if (event.id !== '') position.lastEventId = event.id;
      onState('live');
      onEvent(event);
    }
  } finally {
    clearTimeout(waiting);
  }
}

/** Follows until the signal is aborted or the stream has ended. */
export async function keepFollowing<Event extends { readonly id: string }>(
  following: Following<Event>,
): Promise<void> {
  const { onState, signal } = following;
  if (!canFollow()) return onState('unsupported');
  const position: FollowPosition = { lastEventId: undefined, failures: 0, isBlocked: false };
  while (!signal.aborted) {
    const connection = connectionOf(signal, following.restarts);
    try {
      await followOnce(following, position, connection.signal);
      if (!signal.aborted) onState('ended');
      return;
    } catch (error) {
      if (signal.aborted) return;
      connection.close();
      if (connection.reason() === 'restart') continue;
      if (connection.reason() === 'hidden') {
        onState('paused');
        await untilVisible(signal);
        if (!signal.aborted) onState('connecting');
        continue;
      }
      const isRefused = isStatus(error, 400, 403, 404, 429);
      // A connection that brought nothing and is closed for that is not a problem.
      if (isRefused || !position.isBlocked) onState(isRefused ? 'refused' : 'lost', error);
      const next = Math.min(500 * 2 ** position.failures++, longestPauseMilliseconds);
      await pause(isRefused ? refusedMilliseconds : next, signal);
    } finally {
      connection.close();
    }
  }
}
