/** Refuses changes that a page of another site makes in the browser of a person with credentials. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { Refusal } from '../../../ground/errors.ts';

const csrfHeader = 'x-csrf-token';
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The token that a page of ours sends with every change. It follows from the secret of the session's cookie,
 * which no page can read: only a page that may read our answers has it.
 */
export function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('envarium csrf').digest('base64url');
}

/** @throws Refusal 403 where a change does not carry the token of its session */
export function requireCsrfToken({ method, headers }: FastifyRequest, secret: string): void {
  if (readingMethods.has(method)) return;
  const expected = Buffer.from(csrfTokenOf(secret));
  const found = Buffer.from(String(headers[csrfHeader] ?? ''));
  if (found.length !== expected.length || !timingSafeEqual(found, expected))
    throw new Refusal(
      'forbidden',
      `The header ${csrfHeader} must be the csrfToken of this session: GET /api/users/me returns it`,
    );
}

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
