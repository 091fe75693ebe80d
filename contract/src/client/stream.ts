/**
 * Follows an event stream: reads it, and when the connection is lost, continues right after the last event
 * that was delivered.
 */
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import type { DeploymentStreamEvent } from '../feeds/shapes.ts';
import { parseExactly } from '../schema/exact-json.ts';
import { isTemporary } from './temporary-errors.ts';

export interface StreamOptions {
  /** `id` of the last event that the caller has: the stream continues after it. Absent: from the beginning. */
  readonly lastEventId?: string | undefined;
  /** Seconds for which the service may be unreachable before the stream ends with its error; default 300. */
  readonly giveUpAfterSeconds?: number | undefined;
  /**
   * A connection that brings nothing for so long, not even the service's sign of life, is dead; default 60.
   */
  readonly silenceSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StreamConnection {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
}

const firstPauseMilliseconds = 250;
const longestPauseMilliseconds = 10_000;

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
  signal?.throwIfAborted();
}

/** Cuts a connection that brings nothing while it is being read. */
function watchSilence(milliseconds: number, cut: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const start = () => {
    stop();
    timer = setTimeout(cut, milliseconds);
  };
  return { start, stop, heard: () => timer !== undefined && start() };
}

function parse(message: EventSourceMessage): DeploymentStreamEvent {
  return {
    id: message.id ?? '',
    event: message.event ?? 'message',
    data: parseExactly(message.data),
  } as unknown as DeploymentStreamEvent;
}

function messagesOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): ReadableStreamDefaultReader<EventSourceMessage> {
  const hearing = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      heard();
      controller.enqueue(chunk);
    },
  });
  const decoding = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  return body
    .pipeThrough(hearing)
    .pipeThrough(decoding)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
}

/** Position in the stream. */
interface StreamPosition {
  lastEventId: string | undefined;
  lastHeard: number;
  failures: number;
}

/** One connection, starting where the last one ended. @returns whether the stream has ended */
async function* followOnce(
  open: (connection: StreamConnection) => Promise<Response>,
  position: StreamPosition,
  options: StreamOptions,
): AsyncGenerator<DeploymentStreamEvent, boolean, undefined> {
  const connection = new AbortController();
  const onAbort = () => connection.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort);
  const silence = watchSilence((options.silenceSeconds ?? 60) * 1000, () =>
    connection.abort(new Error('The connection fell silent')),
  );
  try {
    silence.start();
    const response = await open({ lastEventId: position.lastEventId, signal: connection.signal });
    if (response.status === 204) return true;
    if (!response.body) return false;
    const messages = messagesOf(response.body, () => {
      silence.heard();
      position.lastHeard = Date.now();
      position.failures = 0;
    });
    for (;;) {
      silence.start();
      const { value: message, done } = await messages.read();
      silence.stop();
      if (done) return false;
      const event = parse(message);
      if (event.id !== '') position.lastEventId = event.id;
      yield event;
      if (event.event === 'end') return true;
    }
  } finally {
    silence.stop();
    options.signal?.removeEventListener('abort', onAbort);
    connection.abort();
  }
}

/**
 * The loop is our own: a retry library repeats a promise, and here events leave between two attempts.
 * @param open connects; throws an error whose `status` tells a refusal (4xx) from a temporary failure
 * @returns events until `end`, each once; status 204 says that none will come
 * @throws what `open` throws, at once for a refusal, else after `giveUpAfterSeconds` without a byte
 */
export async function* followStream(
  open: (connection: StreamConnection) => Promise<Response>,
  options: StreamOptions = {},
): AsyncGenerator<DeploymentStreamEvent, void, undefined> {
  options.signal?.throwIfAborted();
  const position: StreamPosition = { lastEventId: options.lastEventId, lastHeard: Date.now(), failures: 0 };
  const giveUpMilliseconds = (options.giveUpAfterSeconds ?? 300) * 1000;
  for (;;) {
    try {
      if (yield* followOnce(open, position, options)) return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isTemporary(error) || Date.now() - position.lastHeard > giveUpMilliseconds) throw error;
    }
    await pause(
      Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** position.failures++),
      options.signal,
    );
  }
}
