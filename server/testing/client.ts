/** Calls operations of a test app; every reply is held against the contract. */
import assert from 'node:assert/strict';
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify';
import { fillPath } from '#contract/client/fill-path.ts';
import { hasTextErrors } from '#contract/mcp/text-errors.ts';
import { type OperationName, operations } from '#contract/operations.ts';
import { type ErrorBody, type ErrorCode, errorStatus } from '#contract/schema/errors.ts';
import type { Operation, ReplyOf } from '#contract/schema/operation.ts';
import type { FirstKey } from '../src/start/bootstrap.ts';
import type { TestApp } from './app.ts';
import { checkReply } from './check-reply.ts';

export interface CallInput {
  /** Short for `params: { id }`. */
  readonly id?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the first admin; null: no one. */
  readonly as?: FirstKey | null;
}

export type Reply<N extends OperationName> = ReplyOf<(typeof operations)[N]>;

export function basic({ id, secret }: FirstKey): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

export function pathOf(
  operation: Operation,
  { id, params, query }: Pick<CallInput, 'id' | 'params' | 'query'>,
): string {
  return `/api${fillPath(operation.path, id === undefined ? params : { id, ...params })}${query ? `?${new URLSearchParams(query).toString()}` : ''}`;
}

/** Sends any request. @param as absent: the first admin */
export async function send(
  { app, admin }: TestApp,
  options: InjectOptions,
  as: FirstKey | null = admin,
): Promise<Response> {
  return app.inject({
    ...options,
    headers: { ...(as ? { authorization: basic(as) } : {}), ...options.headers },
  });
}

/** The refusal that an answer is: JSON, or for MCP servers its message as plain text. */
export function refusalIn({ body, headers, statusCode }: Response): ErrorBody {
  if (!String(headers['content-type']).startsWith('text/plain')) return JSON.parse(body) as ErrorBody;
  const codes = Object.keys(errorStatus) as ErrorCode[];
  const code = codes.find((each) => errorStatus[each] === statusCode) ?? '';
  return { code, message: body, requestId: String(headers['x-request-id']) };
}

/** Calls an operation and holds reply or refusal against the contract. */
export async function call(test: TestApp, name: OperationName, input: CallInput = {}): Promise<Response> {
  const operation: Operation = operations[name];
  const isJson = input.body !== undefined && typeof input.body !== 'string';
  const options: InjectOptions = {
    method: operation.method,
    url: pathOf(operation, input),
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...input.headers },
    ...(input.body === undefined
      ? {}
      : { payload: isJson ? JSON.stringify(input.body) : (input.body as string) }),
  };
  const response = await send(test, options, input.as);
  assert.notEqual(response.statusCode, 500, `${name} failed: ${test.logged.at(-1) ?? response.body}`);
  if (/json/.test(String(response.headers['content-type'])))
    assert.equal(response.headers['x-content-type-options'], 'nosniff', name);
  const isRefused = response.statusCode >= 400;
  if (isRefused) {
    const type = hasTextErrors(operation.path) ? 'text/plain' : 'application/json';
    assert.equal(response.headers['content-type'], `${type}; charset=utf-8`, name);
    checkReply(operation, input.query, response.statusCode, refusalIn(response));
  } else if (operation.replyKind === undefined)
    checkReply(operation, input.query, response.statusCode, response.json());
  return response;
}

/** The reply of a call that has to succeed. */
export async function ok<N extends OperationName>(
  test: TestApp,
  name: N,
  input: CallInput = {},
): Promise<Reply<N>> {
  const response = await call(test, name, input);
  assert.equal(response.statusCode, 200, response.body);
  return response.json() as Reply<N>;
}

/** The message that a refusal has to have, or its form, unless any will do; then the input of the call. */
export type RefusedInput =
  | readonly [input?: CallInput]
  | readonly [message: string | RegExp, input?: CallInput];

/** The refusal of a call that has to be refused with a status. */
export async function refused(
  test: TestApp,
  name: OperationName,
  status: number,
  ...[first, second]: RefusedInput
): Promise<ErrorBody> {
  const message = typeof first === 'string' || first instanceof RegExp ? first : undefined;
  const response = await call(test, name, message === undefined ? (first as CallInput) : second);
  assert.equal(response.statusCode, status, response.body);
  const refusal = refusalIn(response);
  if (typeof message === 'string') assert.equal(refusal.message, message);
  else if (message) assert.match(refusal.message, message);
  return refusal;
}
