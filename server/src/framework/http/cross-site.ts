/** Refuses changes that a page of somebody else's makes in the browser of a person with credentials. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../ground/config/config.ts';
import { Refusal } from '../../ground/errors.ts';

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a browser says that another site's page sent this. Programs send neither header. */
function isForeign({ headers, host }: FastifyRequest, allowed: ReadonlySet<string>): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && allowed.has(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

/** Registers the check for every route. */
export function refuseForeignPages(app: FastifyInstance, settings: ServerSettings): void {
  const ours = settings.baseUrl === undefined ? [] : [new URL(settings.baseUrl).origin];
  const allowed = new Set([...ours, ...settings.allowedOrigins]);
  app.addHook('onRequest', async (request) => {
    if (!readingMethods.has(request.method) && isForeign(request, allowed))
      throw new Refusal(
        'forbidden',
        'A page of another site may not make changes: add its origin to ENVARIUM_ALLOWED_ORIGINS if it is yours',
      );
  });
}
