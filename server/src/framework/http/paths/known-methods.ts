/**
 * Methods of each path: for requests with another method (405), for OPTIONS (RFC 9110, 9.3.7), and where
 * another operation would take the path for one of its own.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify';
import { clientOperations } from '#contract/documents/client-operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { percentDecode } from '#guards/percent-decode.ts';
import { Refusal } from '../../../ground/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only keeps its path from being taken for another one: it answers like an unknown path. */
    readonly isUnknown?: boolean;
    /** Of a route that ends in a wildcard: whether there is anything at a path, written without its first slash. */
    readonly hasPath?: (path: string) => boolean;
  }
}

interface KnownPath {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
  readonly hasPath: (path: string) => boolean;
}

const always = () => true;

const isParameter = (segment: string) => segment.startsWith(':');

function segmentsOf(path: string): string[] {
  return path.replace(/(?<=.)\/$/, '').split('/');
}

/** A segment of an address as the router compares it. */
export function routedSegment(segment: string): string {
  return percentDecode(segment) ?? segment;
}

function matches({ segments, hasPath }: KnownPath, path: readonly string[]): boolean {
  const isOpen = segments.at(-1) === '*';
  const before = isOpen ? segments.slice(0, -1) : segments;
  return (
    (isOpen ? path.length > before.length : path.length === before.length) &&
    before.every((segment, index) => (isParameter(segment) ? path[index] !== '' : segment === path[index])) &&
    hasPath(path.slice(1).join('/'))
  );
}

/** Collects the routes of an app, plugins included, as they are registered. */
export class KnownMethods {
  readonly #paths = new Map<string, KnownPath>();

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', (route) => this.#add(route));
  }

  /** The methods of the path that an address names, the most specific one; empty where there is none. */
  at(url: string): string[] {
    const segments = segmentsOf(url.split(/[?#]/, 1)[0] ?? '').map(routedSegment);
    const [found] = [...this.#paths.values()]
      .filter((each) => matches(each, segments))
      .toSorted((one, other) => wildness(one) - wildness(other));
    return [...(found?.methods ?? [])].toSorted();
  }

  #add({ url, method, config }: RouteOptions): void {
    const segments = segmentsOf(url);
    const shape = segments.map((segment) => (isParameter(segment) ? ':' : segment)).join('/');
    const known = this.#paths.get(shape) ?? {
      segments,
      methods: new Set<string>(),
      hasPath: config?.hasPath ?? always,
    };
    this.#paths.set(shape, known);
    if (config?.isUnknown) return;
    for (const each of [method].flat()) {
      known.methods.add(each);
      if (each === 'GET') known.methods.add('HEAD');
    }
  }
}

function wildness({ segments }: KnownPath): number {
  return segments.filter((segment) => isParameter(segment) || segment === '*').length;
}

/**
 * Answers what no route takes: OPTIONS with the methods of the path, any other method of a known path with 405.
 * @throws Refusal 405 with the header `Allow`, 404 for an unknown path
 */
export function answerUnrouted(
  known: KnownMethods,
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
  reply: FastifyReply,
): FastifyReply {
  const path = url.split('?', 1)[0];
  const methods = known.at(url);
  // A path that only other versions of the interface have under this method is as unknown as any.
  if (methods.length === 0 || methods.includes(method))
    throw new Refusal('not_found', `There is no ${method} ${path}; /api/openapi.json lists the operations`);
  const allowed = [...methods, 'OPTIONS'].join(', ');
  reply.header('allow', allowed);
  if (method === 'OPTIONS') return reply.code(204).send();
  throw new Refusal('method_not_allowed', `${path} does not take ${method}: use one of ${allowed}`);
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethods[];

/** A path without the names of its parameters. */
const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

/** Paths of the operations of one method. */
interface TakenPaths {
  readonly shapes: ReadonlySet<string>;
  /** Segments of the paths, by their number. */
  readonly patterns: ReadonlyMap<number, readonly (readonly string[])[]>;
}

function takenBy(operations: readonly Operation[] = []): TakenPaths {
  return {
    shapes: new Set(operations.map(({ path }) => shapeOf(path))),
    patterns: Map.groupBy(
      operations.map(({ path }) => path.split('/')),
      ({ length }) => length,
    ),
  };
}

/** Whether a path would also match the pattern of another. */
function isShadowed(path: string, { patterns }: TakenPaths): boolean {
  const segments = path.split('/');
  const isTakenBy = (pattern: readonly string[]) =>
    segments.every((segment, index) => segment === pattern[index] || pattern[index]?.startsWith('{'));
  return patterns.get(segments.length)?.some(isTakenBy) ?? false;
}

/**
 * A word in the place of an id does not count as one if it belongs to a path: of this version, whose path may have other
 * methods, or of another version that clients know. Such requests are unknown, and not about something with that
 * id.
 */
export function answerShadowed(app: FastifyInstance, operations: readonly Operation[]): void {
  const own = operations.flatMap(({ path }) => methods.map((method) => [method, path] as const));
  const byMethod = Map.groupBy(operations, ({ method }) => method);
  const taken = new Map(methods.map((method) => [method, takenBy(byMethod.get(method))]));
  const done = new Set<string>();
  for (const [method, path] of [...own, ...clientOperations]) {
    const shape = shapeOf(path);
    const place = `${method} ${shape}`;
    const others = taken.get(method) ?? takenBy();
    if (done.has(place) || others.shapes.has(shape) || !isShadowed(path, others)) continue;
    done.add(place);
    app.route({
      method,
      url: `/api${fastifyPath(path)}`,
      config: { isUnknown: true },
      handler: (_request, reply) => reply.callNotFound(),
    });
  }
}

/** A path as Fastify declares it. @param path as operations declare it, with parameters as `{name}` */
export function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
