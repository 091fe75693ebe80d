/**
 * Loaded before a program (`NODE_OPTIONS=--import=…?state=<file>`): while the file names a claim of a test, every app
 * of the service in this process leaves its field out of replies and ignores it in requests.
 */
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { dropFrom, dropFromQuery, makeOptional } from './dropped-field.ts';
import { readState } from './state.ts';

const file = new URL(import.meta.url).searchParams.get('state');

function dropFields(app: FastifyInstance, operations: readonly Operation[]): void {
  const byRoute = new Map(
    operations.map((each) => [`${each.method} /api${each.path.replaceAll(/\{(\w+)\}/g, ':$1')}`, each]),
  );
  /** The operation of a request and what is dropped now; null: nothing. */
  const dropFor = ({ method, routeOptions }: FastifyRequest) => {
    const operation = byRoute.get(`${method} ${routeOptions.url ?? ''}`);
    const dropped = operation && readState(file ?? '').dropped;
    return operation && dropped ? { operation, dropped } : null;
  };
  app.addHook('onRequest', async (request, reply) => {
    const drop = dropFor(request);
    if (!drop) return;
    const { operation, dropped } = drop;
    if (dropped.subject === operation.name && dropped.field === '')
      return reply
        .code(404)
        .type('application/json; charset=utf-8')
        .send('{"code":"not_found","message":"dropped"}');
    dropFromQuery(operation, dropped, request.query as Record<string, unknown>);
  });
  app.addHook('preHandler', async (request) => {
    const drop = typeof request.body === 'string' ? dropFor(request) : null;
    if (drop?.operation.body)
      request.body = changedJson(String(request.body), (body) =>
        dropFrom('body', drop.operation, drop.dropped, body),
      );
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json');
    const text = Buffer.isBuffer(payload) ? payload.toString() : payload;
    if (!isJson || reply.statusCode >= 300 || typeof text !== 'string') return payload;
    const drop = dropFor(request);
    return drop
      ? changedJson(text, (body) => dropFrom('reply', drop.operation, drop.dropped, body))
      : payload;
  });
}

/** The text as it is unless something is dropped. */
function changedJson(text: string, change: (value: unknown) => unknown): string {
  try {
    const value = parseExactly(text);
    const before = JSON.stringify(value);
    const after = JSON.stringify(change(value));
    return before === after ? text : after;
  } catch {
    return text;
  }
}

subscribe('fastify.initialization', (message) => {
  // Only here: other programs would wait for it at their start.
  const contract = createRequire(import.meta.url)(
    '../../contract/src/operations.ts',
  ) as typeof import('#contract/operations.ts');
  const operations: readonly Operation[] = Object.values(contract.operations);
  for (const { reply } of operations) makeOptional(reply);
  dropFields((message as { fastify: FastifyInstance }).fastify, operations);
});
