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
const stateOf = () => readState(file ?? '');

function dropFields(app: FastifyInstance, operations: readonly Operation[]): void {
  const byRoute = new Map(
    operations.map((each) => [`${each.method} /api${each.path.replaceAll(/\{(\w+)\}/g, ':$1')}`, each]),
  );
  const operationOf = ({ method, routeOptions }: FastifyRequest) =>
    byRoute.get(`${method} ${routeOptions.url ?? ''}`);
  app.addHook('onRequest', async (request, reply) => {
    const operation = operationOf(request);
    const { dropped } = stateOf();
    if (!operation || !dropped) return;
    if (dropped.subject === operation.name && dropped.field === '')
      return reply
        .code(404)
        .type('application/json; charset=utf-8')
        .send('{"code":"not_found","message":"dropped"}');
    dropFromQuery(operation, dropped, request.query as Record<string, unknown>);
  });
  app.addHook('preHandler', async (request) => {
    const operation = operationOf(request);
    const { dropped } = stateOf();
    if (operation?.body && dropped && typeof request.body === 'string')
      request.body = changedJson(request.body, (body) => dropFrom('body', operation, dropped, body));
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const operation = operationOf(request);
    const { dropped } = stateOf();
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json');
    const text = Buffer.isBuffer(payload) ? payload.toString() : payload;
    if (!operation || !dropped || !isJson || reply.statusCode >= 300 || typeof text !== 'string')
      return payload;
    return changedJson(text, (body) => dropFrom('reply', operation, dropped, body));
  });
}

/** The text as it is unless something is dropped. */
function changedJson(text: string, change: (value: unknown) => unknown): string {
  try {
    const before = JSON.stringify(parseExactly(text));
    const after = JSON.stringify(change(parseExactly(text)));
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
