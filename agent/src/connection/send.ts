/**
 * Sends one call to the service until it is answered. Calls are safe to send twice, so each is repeated after
 * network errors, overload and server errors, at the next address of the service if there are several, until it is
 * answered or its signal is aborted.
 */
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { fillPath } from '#contract/client/fill-path.ts';
import { isTemporaryStatus } from '#contract/client/temporary-errors.ts';
import { type AgentToken, protocolVersion } from '#protocol/messages/agent.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import type { Secret } from '#settings/secret.ts';
import { ProcessToken, takesSecret } from './process-token.ts';
import { isRefusal, readRefusal, reasonOf, ServerRefusal, TemporaryFailure } from './refusals.ts';
import { type RequestBody, send, textOf } from './request.ts';
import { ServerClock } from './server-clock.ts';

export interface ConnectionLog {
  info(data: object, text: string): void;
  warn(data: object, text: string): void;
}

export interface ConnectionOptions {
  /** Addresses of the service, without a trailing slash, in the order in which they are tried; at least one. */
  readonly urls: readonly string[];
  readonly agentKey: string;
  readonly agentSecret: Secret;
  readonly log: ConnectionLog;
  /**
   * Called whenever the server has recorded contact with this agent; without such contact it considers the
   * agent lost.
   */
  readonly onContact?: () => void;
  /** After which silence of a connection a call is sent again; default: 30. */
  readonly quietSeconds?: number;
  /** Called when another agent has taken over this one's spool. */
  readonly onReplaced?: (refusal: ServerRefusal) => void;
}

export interface ProtocolCall {
  readonly name: keyof typeof protocolRoutes;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** The message, or what composes it each time that the call is sent. */
  readonly json?: object | (() => object);
  readonly bytes?: Exclude<RequestBody, string>;
  readonly signal?: AbortSignal | undefined;
  /** For how long one attempt may take, however slow the network is. */
  readonly timeoutSeconds?: number;
  /** False: a network error is thrown instead of repeating the call. */
  readonly isRepeated?: boolean;
}

const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 2_000;
const ordinaryTimeoutSeconds = 3_600;
/** A connection that was lost without a notice. The service is never silent for longer while it is answering. */
const ordinaryQuietSeconds = 30;
/** Number of failures of the server on a call about an attempt before its caller decides. */
const mostFaults = 5;

export class CallSender {
  readonly #options: ConnectionOptions;
  readonly #token: ProcessToken;
  readonly clock = new ServerClock();
  #identity: Readonly<Record<string, string>> = {};
  /** Index of the address that all calls go to until one of them fails there. */
  #current = 0;
  #isReached = true;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#token = new ProcessToken(options, (call) => this.#request(call));
  }

  /** @param headers that identify this agent in every further call @param token that these carry */
  identify(headers: Readonly<Record<string, string>>, token: AgentToken): void {
    this.#identity = headers;
    this.#token.use(token);
  }

  /**
   * Sends until answered; `read` is part of each attempt, so that a truncated reply is requested again.
   * @throws ServerRefusal, the signal's reason, or a TemporaryFailure if the server fails again and again on a call
   *   about an attempt
   */
  async send<Result>(
    call: ProtocolCall,
    read: (answer: IncomingMessage) => Promise<Result>,
  ): Promise<Result> {
    const { signal, isRepeated = true } = call;
    let faults = 0;
    return pRetry(() => this.#attempt(call, read), {
      retries: isRepeated ? Number.POSITIVE_INFINITY : 0,
      minTimeout: firstPauseMilliseconds,
      maxTimeout: longestPauseMilliseconds,
      randomize: true,
      signal,
      shouldRetry: async ({ error, attemptNumber }) => {
        if (error instanceof ServerRefusal) return false;
        if (error instanceof TemporaryFailure && error.isFault) faults += 1;
        if (faults >= mostFaults && isAboutAttempt(call)) return false;
        this.#noteFailure(call.name, error);
        // A server's request to wait does not apply to the next one.
        const wasLast = attemptNumber % this.#options.urls.length === 0;
        const seconds = error instanceof TemporaryFailure && wasLast ? error.retryAfterSeconds : 0;
        await delay(seconds * 1000, undefined, { signal });
        return true;
      },
    });
  }

  /** Sends until answered with JSON of the expected form. */
  json<Schema extends TSchema>(schema: Schema, call: ProtocolCall): Promise<Static<Schema>> {
    const check = checkerOf(schema);
    return this.send(call, async (answer) => {
      const value: unknown = await json(answer);
      if (check.Check(value)) return value as Static<Schema>;
      const { major, minor } = protocolVersion;
      throw new Error(`the reply to ${call.name} does not have the form of protocol ${major}.${minor}`);
    });
  }

  async #attempt<Result>(
    call: ProtocolCall,
    read: (answer: IncomingMessage) => Promise<Result>,
  ): Promise<Result> {
    const used = this.#current;
    const sentAt = this.clock.own();
    try {
      const result = await read(await this.#sendOnce(call));
      this.#noteAnswer();
      if (call.name === 'register' || call.name === 'heartbeat') {
        this.clock.compare((result as { now: string }).now, sentAt);
        this.#options.onContact?.();
      }
      return result;
    } catch (error) {
      if (!(error instanceof ServerRefusal)) {
        if (call.signal?.aborted !== true) this.#moveOn(used);
        throw error;
      }
      this.#noteAnswer();
      if (error.code === 'epoch_replaced') this.#options.onReplaced?.(error);
      throw error;
    }
  }

  /** A token that the service does not accept any more is replaced once: it may have ended meanwhile. */
  async #sendOnce(call: ProtocolCall): Promise<IncomingMessage> {
    const authorization = await this.#token.authorizationOf(call.name);
    try {
      return await this.#request(call, authorization);
    } catch (error) {
      if (!isRefusal(error, 'unauthorized') || takesSecret(call.name)) throw error;
      return this.#request(call, await this.#token.renew(authorization));
    }
  }

  async #request(call: ProtocolCall, authorization = this.#token.ofSecret): Promise<IncomingMessage> {
    const timeout = AbortSignal.timeout((call.timeoutSeconds ?? ordinaryTimeoutSeconds) * 1000);
    const answer = await send(addressOf(this.#options.urls[this.#current] ?? '', call), {
      method: protocolRoutes[call.name].method,
      headers: {
        authorization,
        ...this.#identity,
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.bytes ? { 'content-type': 'application/octet-stream' } : {}),
      },
      body: call.json === undefined ? call.bytes : messageOf(call.json),
      quietSeconds: this.#options.quietSeconds ?? ordinaryQuietSeconds,
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
    });
    const { statusCode = 0, headers } = answer;
    if (statusCode >= 200 && statusCode < 300) return answer;
    const body = await textOf(answer);
    if (statusCode >= 300 && statusCode < 400)
      throw new Error(
        `it redirects to ${headers.location ?? 'nowhere'}: set ENVARIUM_URL to the service itself`,
      );
    if (!isTemporaryStatus(statusCode)) throw readRefusal(call.name, statusCode, body);
    throw new TemporaryFailure(statusCode, headers['retry-after'] ?? null, body);
  }

  /** After a failure, calls go to the next address, unless another call has already moved on. */
  #moveOn(from: number): void {
    if (from === this.#current) this.#current = (from + 1) % this.#options.urls.length;
  }

  #noteAnswer(): void {
    if (!this.#isReached) this.#options.log.info({}, 'server is reachable again');
    this.#isReached = true;
  }

  #noteFailure(name: string, error: unknown): void {
    if (this.#isReached)
      this.#options.log.warn(
        { call: name, reason: reasonOf(error), next: this.#options.urls[this.#current] },
        'server is unreachable, repeating calls until it answers',
      );
    this.#isReached = false;
  }
}

/** Others have no way on but to be repeated. */
function isAboutAttempt({ params }: ProtocolCall): boolean {
  return params?.['jobId'] !== undefined;
}

function messageOf(json: object | (() => object)): string {
  return JSON.stringify(typeof json === 'function' ? json() : json);
}

function addressOf(base: string, { name, params, query }: ProtocolCall): string {
  const search = query ? `?${new URLSearchParams(query)}` : '';
  return `${base}${protocolBase}${fillPath(protocolRoutes[name].path, params)}${search}`;
}

const checkers = new Map<TSchema, { Check(value: unknown): boolean }>();
function checkerOf(schema: TSchema) {
  let checker = checkers.get(schema);
  if (!checker) checkers.set(schema, (checker = Compile(schema)));
  return checker;
}
