/** Methods that a path does not have, where another operation would take the path for one of its own. */
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { clientOperations } from '#contract/documents/client-operations.ts';
import type { Route } from '../route.ts';
import { fastifyPath } from './fastify-path.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethods[];

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
 * A word in the place of an id does not count as one if it belongs to a path: of this version, whose path may have other
 * methods, or of another version that clients know. Such requests are unknown, and not about something with that
 * id.
 */
export function answerShadowed(app: FastifyInstance, routes: readonly Route[]): void {
  const operations = routes.map(({ operation }) => operation);
  const own = operations.flatMap(({ path }) => methods.map((method) => [method, path] as const));
  const done = new Set<string>();
  for (const [method, path] of [...own, ...clientOperations]) {
    const place = `${method} ${shapeOf(path)}`;
    const others = operations.filter((operation) => operation.method === method);
    if (done.has(place) || others.some((each) => shapeOf(each.path) === shapeOf(path))) continue;
    if (!others.some((each) => isShadowedBy(path, each.path))) continue;
    done.add(place);
    app.route({
      method,
      url: `/api${fastifyPath(path)}`,
      config: { isUnknown: true },
      handler: (_request, reply) => reply.callNotFound(),
    });
  }
}
