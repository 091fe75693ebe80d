/**
 * Addresses as the router sees them. The base path is left out, whether or not the proxy in front has removed it
 * already. Every page of the web interface is the same document: a browser that asks for one gets `/`.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { basePathOf } from '../callers/base-url.ts';
import { routedSegment } from './known-methods.ts';

/** Prefixes of API addresses, independent of the routes. */
const alwaysReserved = ['api', '.well-known'];

function firstSegment(path: string): string {
  const [, segment = ''] = path.split(/[/?#]/, 2);
  return routedSegment(segment);
}

/** Whether a browser asks for a page; programs that accept anything do not. */
function asksForPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

export class Addresses {
  readonly #basePath: string;
  readonly #reserved = new Set(alwaysReserved);

  constructor(settings: Pick<ServerSettings, 'baseUrl'>) {
    this.#basePath = basePathOf(settings);
  }

  /** Hooks that the app calls for every request before it looks for a route. */
  readonly rewrite = (request: IncomingMessage): string => {
    const url = this.#withoutBase(request.url ?? '/');
    const isPage = url.startsWith('/') && !this.#reserved.has(firstSegment(url)) && asksForPage(request);
    return isPage ? '/' : url;
  };

  /**
   * Collects the beginnings of all routes as they are registered: pages begin differently.
   * @throws Error when the app is ready, where the base path begins like a route
   */
  collect(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url }) => void this.#reserved.add(firstSegment(url)));
    app.addHook('onReady', async () => {
      const first = firstSegment(this.#basePath);
      if (first !== '' && this.#reserved.has(first))
        throw new Error(
          `The path of ENVARIUM_BASE_URL begins with /${first}, which is a path of the service itself: choose another one.`,
        );
    });
  }

  #withoutBase(url: string): string {
    const base = this.#basePath;
    if (base === '' || !url.startsWith(base)) return url;
    const rest = url.slice(base.length);
    if (rest.startsWith('/')) return rest;
    return rest === '' || /^[?#]/.test(rest) ? `/${rest}` : url;
  }
}
