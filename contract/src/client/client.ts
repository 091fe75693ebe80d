/**
 * The client of the interface, for programs: typed from the operations, which are imported as types only. At
 * run time it needs the table of routes and nothing else, so it also fits a browser.
 */

import type { DeploymentStreamEvent, OrganizationStreamEvent } from '../feeds/shapes.ts';
import type { OperationName, operations } from '../operations.ts';
import { routes } from '../routes.ts';
import type { ErrorBody, ErrorCode } from '../schema/errors.ts';
import { parseExactly } from '../schema/exact-json.ts';
import { apiBase, type BodyOf, type ParamsOf, type QueryOf, type ReplyOf } from '../schema/operation.ts';
import { boundedReply, fileLimitBytes, inMegabytes, jsonLimitBytes } from './bounded-reply.ts';
import { fillPath } from './fill-path.ts';
import type { StreamConnection, StreamOptions } from './stream.ts';
import { errorCode, innermostError } from './temporary-errors.ts';

type Operations = typeof operations;

/** A refusal of the service, or that it could not be reached (`code` "unreachable", `status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode | 'unreachable' | 'unknown';
  readonly requestId: string | undefined;
  readonly details: unknown;
  /** Seconds to wait according to the service (`Retry-After`); undefined if it does not specify them. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    body: {
      code: ApiError['code'];
      message: string;
      requestId?: string | undefined;
      details?: unknown;
      retryAfterSeconds?: number | undefined;
    },
    options?: ErrorOptions,
  ) {
    super(body.message, options);
    this.status = status;
    this.code = body.code;
    this.requestId = body.requestId;
    this.details = body.details;
    this.retryAfterSeconds = body.retryAfterSeconds;
  }
}

export interface ClientSettings {
  /** Of the service, with or without `/api` at its end. */
  readonly url: string;
  /** Id of the API key; without one, the browser's session identifies the caller. */
  readonly key?: string;
  readonly secret?: string;
  /** The token of the browser's session, read before each call that changes something. */
  readonly csrfToken?: () => string | undefined;
  readonly fetch?: typeof fetch;
  readonly userAgent?: string;
  /** Largest body of a reply that is not read as a stream; absent: 256 MB for JSON, 2048 MB for files. */
  readonly replyLimitBytes?: number;
  /** Receives each reply in JSON, with its operation. */
  readonly onReply?: (name: OperationName, reply: unknown) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Sent with calls that change something: the same call sent again answers what it answered the first time. */
  readonly idempotencyKey?: string;
  /** The `etag` of what is changed, as a read has answered it: refused with 412 if another change was faster. */
  readonly ifMatch?: string;
}

type IsEmpty<T> = [T] extends [undefined | Record<string, never>] ? true : false;
type InputPart<Key extends string, T> =
  IsEmpty<T> extends true
    ? unknown
    : Record<never, never> extends T
      ? { readonly [K in Key]?: T }
      : { readonly [K in Key]: T };

/** Input of a call: the parts that its operation has, those without required fields optional. */
export type CallInput<Name extends OperationName> = CallOptions &
  InputPart<'params', ParamsOf<Operations[Name]>> &
  InputPart<'query', QueryOf<Operations[Name]>> &
  InputPart<'body', BodyOf<Operations[Name]>>;

type Arguments<Name extends OperationName> =
  Record<never, never> extends CallInput<Name> ? [input?: CallInput<Name>] : [input: CallInput<Name>];

export interface Answer<Reply> {
  readonly reply: Reply;
  readonly headers: Headers;
}

/** Events of each operation that responds with a stream. */
export interface StreamEvents {
  readonly streamDeployment: DeploymentStreamEvent;
  readonly streamOrganization: OrganizationStreamEvent;
}

export interface Client {
  /** @throws ApiError */
  call<Name extends OperationName>(name: Name, ...input: Arguments<Name>): Promise<ReplyOf<Operations[Name]>>;
  /** The same with the headers of the answer, among them `x-total-count`. @throws ApiError */
  send<Name extends OperationName>(
    name: Name,
    ...input: Arguments<Name>
  ): Promise<Answer<ReplyOf<Operations[Name]>>>;
  /** For operations that answer bytes. @throws ApiError */
  bytes<Name extends OperationName>(name: Name, ...input: Arguments<Name>): Promise<Uint8Array>;
  /** The same as they arrive. @throws ApiError, also where the answer is cut (`status` 0) */
  chunks<Name extends OperationName>(name: Name, ...input: Arguments<Name>): AsyncGenerator<Uint8Array>;
  /** Follows a stream across lost connections, to its `end` where it has one. @throws ApiError */
  stream<Name extends keyof StreamEvents>(
    name: Name,
    input: CallInput<Name> & StreamOptions,
  ): AsyncGenerator<StreamEvents[Name], void, undefined>;
}

interface UntypedInput extends CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

function baseOf(url: string): string {
  const trimmed = url.replace(/\/+$/, '');
  return trimmed.endsWith(apiBase) ? trimmed : `${trimmed}${apiBase}`;
}

function queryOf(query: UntypedInput['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? '' : `?${text}`;
}

function basic(key: string, secret: string): string {
  const bytes = new TextEncoder().encode(`${key}:${secret}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
}

async function refusalOf(response: Response, body: Response): Promise<ApiError> {
  const text = await body.text();
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(wait) ? wait : undefined;
  const location = response.headers.get('location');
  if (location !== null && response.status < 400) {
    const target = URL.parse(location, response.url)?.href ?? location;
    const message = `${response.url} redirects to ${target}: use the address that it leads to`;
    return new ApiError(response.status, { code: 'unknown', message, requestId });
  }
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    if (typeof body?.message === 'string') {
      return new ApiError(response.status, {
        requestId,
        ...body,
        retryAfterSeconds,
        message: body.message,
        code: (body.code as ErrorCode | undefined) ?? 'unknown',
      });
    }
  } catch {
    // Not JSON: something in between has answered.
  }
  const message = `The service answered ${response.status} ${response.statusText}: ${text.slice(0, 500)}`;
  return new ApiError(response.status, { code: 'unknown', message, requestId, retryAfterSeconds });
}

/** Why a request failed. `fetch` itself only says "fetch failed". */
function rootMessage(error: unknown): string {
  const inner = innermostError(error);
  const message = inner instanceof Error ? inner.message : String(inner);
  return message === '' ? errorCode(error) : message;
}

/**
 * Module for streams, loaded on first use: it takes a tenth of the start of a program that follows
 * nothing.
 */
async function* followLazily(
  ...args: Parameters<typeof import('./stream.ts').followStream>
): AsyncGenerator<DeploymentStreamEvent> {
  const { followStream } = await import('./stream.ts');
  yield* followStream(...args);
}

/** Identity of the caller of a request. */
function credentialsOf({ key, secret, csrfToken }: ClientSettings, method: string): Record<string, string> {
  if (key !== undefined) return { authorization: basic(key, secret ?? '') };
  const token = method === 'GET' ? undefined : csrfToken?.();
  return token === undefined ? {} : { 'x-csrf-token': token };
}

/** Request of a call: the operation's method and address, the body and the headers. */
function requestOf(
  settings: ClientSettings,
  name: OperationName,
  input: UntypedInput,
  more: Record<string, string>,
): { url: string; init: RequestInit } {
  const [method, path] = routes[name];
  const { body, idempotencyKey, ifMatch, signal } = input;
  const isBytes = body instanceof Uint8Array || body instanceof Blob;
  const headers = {
    ...credentialsOf(settings, method),
    ...(body === undefined
      ? {}
      : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
    ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
    ...(ifMatch ? { 'if-match': ifMatch } : {}),
    ...(settings.userAgent ? { 'user-agent': settings.userAgent } : {}),
    ...more,
  };
  return {
    url: `${baseOf(settings.url)}${fillPath(path, input.params)}${queryOf(input.query)}`,
    init: {
      method,
      headers,
      // Passwords and other secrets in a body go to no other address than the one that was chosen.
      ...(settings.key === undefined ? {} : { redirect: 'manual' as const }),
      ...(body === undefined ? {} : { body: isBytes ? (body as Blob) : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    },
  };
}

/** The body of a response, to be read as a whole. */
function bodyOf(
  { url, replyLimitBytes }: ClientSettings,
  name: OperationName,
  response: Response,
  limitBytes = jsonLimitBytes,
): Response {
  const limit = replyLimitBytes ?? limitBytes;
  const message = `The reply of ${baseOf(url)} to ${name} is larger than ${inMegabytes(limit)}, the limit for one reply. Is the address that of Envarium? If it is, request less at once`;
  return boundedReply(response, limit, () => new ApiError(response.status, { code: 'unknown', message }));
}

/**
 * Creates a client.
 * @param settings the address of the service, and what identifies the caller
 */
export function createClient(settings: ClientSettings): Client {
  const send = settings.fetch ?? fetch;

  async function open(
    name: OperationName,
    input: UntypedInput,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const { url, init } = requestOf(settings, name, input, more);
    const response = await send(url, init).catch((error: unknown) => {
      input.signal?.throwIfAborted();
      const message = `The service at ${baseOf(settings.url)} cannot be reached: ${rootMessage(error)}`;
      throw new ApiError(0, { code: 'unreachable', message }, { cause: error });
    });
    if (!response.ok) throw await refusalOf(response, bodyOf(settings, name, response));
    return response;
  }

  async function answer(name: OperationName, input: UntypedInput = {}): Promise<Answer<unknown>> {
    const response = await open(name, input, { accept: 'application/json' });
    const reply = parseExactly(await bodyOf(settings, name, response).text());
    settings.onReply?.(name, reply);
    return { reply, headers: response.headers };
  }

  return {
    call: async (name: OperationName, input?: UntypedInput) => (await answer(name, input)).reply,
    send: answer,
    bytes: async (name: OperationName, input: UntypedInput = {}) =>
      new Uint8Array(await bodyOf(settings, name, await open(name, input), fileLimitBytes).arrayBuffer()),
    async *chunks(name: OperationName, input: UntypedInput = {}) {
      const response = await open(name, input);
      try {
        for await (const chunk of response.body ?? []) yield chunk;
      } catch (error) {
        input.signal?.throwIfAborted();
        const message = `The answer of ${baseOf(settings.url)} was cut: ${rootMessage(error)}`;
        throw new ApiError(0, { code: 'unreachable', message }, { cause: error });
      }
    },
    stream: (
      name: OperationName,
      { lastEventId, giveUpAfterSeconds, silenceSeconds, signal, ...input }: UntypedInput & StreamOptions,
    ) => {
      fillPath(routes[name][1], input.params);
      const connect = (connection: StreamConnection) =>
        open(
          name,
          { ...input, signal: connection.signal },
          {
            accept: 'text/event-stream',
            ...(connection.lastEventId === undefined ? {} : { 'last-event-id': connection.lastEventId }),
          },
        );
      return followLazily(connect, { lastEventId, giveUpAfterSeconds, silenceSeconds, signal });
    },
  } as Client;
}
