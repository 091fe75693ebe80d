/** Operations that clients know, whose paths other operations would take for theirs. */
import type { FastifyInstance } from 'fastify';
import { clientOperations } from '#contract/documents/client-operations.ts';
import { fastifyPath } from './fastify-path.ts';
import type { Route } from './route.ts';

/** A path without the names of its parameters. */
const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

/** Whether a path of one operation would also match the pattern of another. */
function isShadowedBy(path: string, pattern: string): boolean {
  const [segments, others] = [path.split('/'), pattern.split('/')];
  return (
    segments.length === others.length &&
    segments.every((segment, index) => segment === others[index] || others[index]?.startsWith('{'))
  );
}

/**
 * Operations that clients know and this version does not have, but whose path another operation would accept
 * with a word in the place of an id: they are unknown, and not about something with that id.
 */
export function answerShadowed(app: FastifyInstance, routes: readonly Route[]): void {
  const operations = routes.map(({ operation }) => operation);
  for (const [method, path] of clientOperations) {
    const others = operations.filter((operation) => operation.method === method);
    if (others.some((each) => shapeOf(each.path) === shapeOf(path))) continue;
    if (!others.some((each) => isShadowedBy(path, each.path))) continue;
    const url = `/api${fastifyPath(path)}`;
    app.route({ method, url, handler: (_request, reply) => reply.callNotFound() });
  }
}
