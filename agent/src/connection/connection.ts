/**
 * The agent's side of the protocol over HTTP. Calls are safe to send twice, so each is repeated over network
 * errors, overload and server errors until it is answered or its signal says stop. What the server refuses is
 * thrown as a `ServerRefusal`.
 */
import { openAsBlob } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import * as messages from '#protocol/messages.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import type { Secret } from '#settings/secret.ts';

type CallName = keyof typeof protocolRoutes;

/**
 * A 4xx answer: repeating the call cannot help. `code` is one of `protocolRefusals` or of the public error
 * table.
 */
export class ServerRefusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(call: string, status: number, code: string, text: string) {
    super(`${call} was refused with ${status} ${code}: ${text}`);
    this.name = 'ServerRefusal';
    this.status = status;
    this.code = code;
  }
}

export function isRefusal(error: unknown, code: string): error is ServerRefusal {
  return error instanceof ServerRefusal && error.code === code;
}

export interface ConnectionLog {
  info(data: object, text: string): void;
  warn(data: object, text: string): void;
}

export interface ConnectionOptions {
  /** Address of the service, without a slash at its end. */
  readonly url: string;
  readonly agentKey: string;
  readonly agentSecret: Secret;
  readonly log: ConnectionLog;
  /** Called whenever the server has stored a sign of life of this agent: only that delays its giving up. */
  readonly onContact?: () => void;
  /** Called when another agent has taken over this one's spool. */
  readonly onReplaced?: (refusal: ServerRefusal) => void;
}

/** Which attempt a call speaks of. */
export type AttemptRef = messages.HeldAttempt;

interface Call {
  readonly name: CallName;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Uint8Array | Blob;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number;
  /** False: a network error is thrown instead of repeating the call. */
  readonly isRepeated?: boolean;
}

const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 2_000;
const ordinaryTimeoutSeconds = 30;
const transferTimeoutSeconds = 3_600;

/** Opens nothing yet: the first call does. `register` must be the first. */
export function connectToServer(options: ConnectionOptions) {
  const authorization = `Basic ${Buffer.from(`${options.agentKey}:${options.agentSecret.reveal()}`).toString('base64')}`;
  let identity: Record<string, string> = {};
  let isReached = true;

  async function sendOnce(call: Call): Promise<Response> {
    const route = protocolRoutes[call.name];
    const timeout = AbortSignal.timeout((call.timeoutSeconds ?? ordinaryTimeoutSeconds) * 1000);
    const response = await fetch(addressOf(options.url, call), {
      method: route.method,
      headers: {
        authorization,
        ...identity,
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.bytes ? { 'content-type': 'application/octet-stream' } : {}),
      },
      body: call.json === undefined ? (call.bytes as BodyInit | undefined) : JSON.stringify(call.json),
      redirect: 'error',
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
    });
    if (response.ok) return response;
    if (isPassing(response.status))
      throw new PassingFailure(response.status, response.headers.get('retry-after'), await response.text());
    throw await readRefusal(call.name, response);
  }

  /** Sends until answered; `read` is part of the attempt, so a reply that breaks off is asked for again. */
  async function send<Result>(call: Call, read: (response: Response) => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; failures++) {
      call.signal?.throwIfAborted();
      try {
        const result = await read(await sendOnce(call));
        noteAnswer();
        if (call.name === 'register' || call.name === 'heartbeat') options.onContact?.();
        return result;
      } catch (error) {
        if (error instanceof ServerRefusal) {
          noteAnswer();
          if (error.code === 'epoch_replaced') options.onReplaced?.(error);
          throw error;
        }
        call.signal?.throwIfAborted();
        if (call.isRepeated === false) throw error;
        noteFailure(call.name, error);
        await delay(pauseAfter(failures, error), undefined, { signal: call.signal });
      }
    }
  }

  function noteAnswer(): void {
    if (!isReached) options.log.info({}, 'server is reached again');
    isReached = true;
  }

  function noteFailure(name: string, error: unknown): void {
    if (isReached)
      options.log.warn(
        { call: name, reason: reasonOf(error) },
        'server cannot be reached, calls are repeated until it can',
      );
    isReached = false;
  }

  function json<Schema extends TSchema>(schema: Schema, call: Call): Promise<Static<Schema>> {
    const check = checkerOf(schema);
    return send(call, async (response) => {
      const value: unknown = await response.json();
      if (!check.Check(value))
        throw new Error(
          `the reply to ${call.name} has not the form that protocol ${messages.protocolVersion.major}.${messages.protocolVersion.minor} gives it`,
        );
      return value as Static<Schema>;
    });
  }

  const about = (attempt: AttemptRef) => ({ jobId: attempt.jobId, attempt: String(attempt.attempt) });

  return {
    async register(body: messages.RegisterRequest, signal?: AbortSignal): Promise<messages.RegisterReply> {
      const reply = await json(messages.RegisterReply, { name: 'register', json: body, signal });
      identity = { 'x-envarium-agent': reply.agentId, 'x-envarium-epoch': String(reply.epoch) };
      return reply;
    },
    heartbeat: (body: messages.HeartbeatRequest, signal?: AbortSignal): Promise<messages.HeartbeatReply> =>
      json(messages.HeartbeatReply, { name: 'heartbeat', json: body, signal, timeoutSeconds: 10 }),
    claim: (body: messages.ClaimRequest, signal?: AbortSignal): Promise<messages.ClaimReply> =>
      json(messages.ClaimReply, { name: 'claim', json: body, signal, timeoutSeconds: body.waitSeconds + 10 }),
    /** Sent once: an agent that leaves does not wait for a server that is gone. */
    goodbye: (body: messages.GoodbyeRequest): Promise<unknown> =>
      json(messages.Nothing, { name: 'goodbye', json: body, timeoutSeconds: 2, isRepeated: false }),
    confirm: (attempt: AttemptRef, signal?: AbortSignal): Promise<unknown> =>
      json(messages.Nothing, {
        name: 'confirm',
        params: about(attempt),
        json: { fence: attempt.fence },
        signal,
      }),
    report: (
      attempt: AttemptRef,
      body: Omit<messages.ReportRequest, 'fence'>,
      signal?: AbortSignal,
    ): Promise<messages.ReportReply> =>
      json(messages.ReportReply, {
        name: 'report',
        params: about(attempt),
        json: { fence: attempt.fence, ...body },
        signal,
      }),
    mark: (
      attempt: AttemptRef,
      mark: Omit<messages.MarkRequest, 'fence'>,
      signal?: AbortSignal,
    ): Promise<unknown> =>
      json(messages.Nothing, {
        name: 'mark',
        params: about(attempt),
        json: { fence: attempt.fence, ...mark },
        signal,
      }),
    finish: (
      attempt: AttemptRef,
      outcome: messages.Outcome,
      signal?: AbortSignal,
    ): Promise<messages.FinishReply> =>
      json(messages.FinishReply, {
        name: 'finish',
        params: about(attempt),
        json: { fence: attempt.fence, outcome },
        signal,
      }),
    /** Stores a state; its bytes are the body. */
    putState: (
      attempt: AttemptRef,
      query: Omit<messages.StateQuery, 'fence'>,
      bytes: Uint8Array,
      signal?: AbortSignal,
    ): Promise<messages.StateReply> =>
      json(messages.StateReply, {
        name: 'putState',
        params: about(attempt),
        query: { fence: String(attempt.fence), ...query },
        bytes,
        signal,
        timeoutSeconds: transferTimeoutSeconds,
      }),
    /** The state version that the attempt follows. */
    getState: (attempt: AttemptRef, signal?: AbortSignal): Promise<Uint8Array> =>
      send(
        {
          name: 'getState',
          params: about(attempt),
          query: { fence: String(attempt.fence) },
          signal,
          timeoutSeconds: transferTimeoutSeconds,
        },
        (response) => response.bytes(),
      ),
    /** Stores a file of the attempt, streamed from disk. */
    async putBlob(
      attempt: AttemptRef,
      name: messages.BlobName,
      sha256: string,
      file: string,
      signal?: AbortSignal,
    ): Promise<void> {
      const params = { ...about(attempt), name };
      await json(messages.Nothing, {
        name: 'putBlob',
        params,
        query: { fence: String(attempt.fence), sha256 },
        bytes: await openAsBlob(file),
        signal,
        timeoutSeconds: transferTimeoutSeconds,
      });
    },
    /**
     * Fetches what travelled; `store` gets the bytes from the beginning each time that the transfer has to
     * start again.
     */
    getBlob: (
      attempt: AttemptRef,
      name: messages.BlobName,
      store: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
      signal?: AbortSignal,
    ): Promise<void> =>
      send(
        {
          name: 'getBlob',
          params: { ...about(attempt), name },
          query: { fence: String(attempt.fence) },
          signal,
          timeoutSeconds: transferTimeoutSeconds,
        },
        (response) => store((response.body ?? new ReadableStream()) as unknown as AsyncIterable<Uint8Array>),
      ),
  };
}
export type ServerConnection = ReturnType<typeof connectToServer>;

/** An answer that says "later": overload or a server that is starting, stopping or broken. */
class PassingFailure extends Error {
  readonly retryAfterSeconds: number | null;

  constructor(status: number, retryAfter: string | null, text: string) {
    super(`status ${status}: ${text.slice(0, 500)}`);
    const seconds = Number(retryAfter);
    this.retryAfterSeconds = retryAfter !== null && seconds >= 0 ? Math.min(seconds, 30) : null;
  }
}

function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

async function readRefusal(call: string, response: Response): Promise<ServerRefusal> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown };
    return new ServerRefusal(call, response.status, String(body.code), String(body.message));
  } catch {
    return new ServerRefusal(call, response.status, 'unreadable', text.slice(0, 500));
  }
}

function addressOf(base: string, call: Call): string {
  const path = protocolRoutes[call.name].path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.params?.[name] ?? ''),
  );
  const query = call.query ? `?${new URLSearchParams(call.query)}` : '';
  return `${base}${protocolBase}${path}${query}`;
}

function pauseAfter(failures: number, error: unknown): number {
  if (error instanceof PassingFailure && error.retryAfterSeconds !== null)
    return error.retryAfterSeconds * 1000;
  const pause = Math.min(firstPauseMilliseconds * 2 ** Math.min(failures, 10), longestPauseMilliseconds);
  return pause * (0.8 + Math.random() * 0.4);
}

/** The text of an error with its causes: fetch hides the reason in a cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

const checkers = new Map<TSchema, { Check(value: unknown): boolean }>();
function checkerOf(schema: TSchema) {
  let checker = checkers.get(schema);
  if (!checker) checkers.set(schema, (checker = Compile(schema)));
  return checker;
}
