/** Routes without credentials, and what the service stores about requests. */
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { openApiDocument } from '#contract/documents/openapi.ts';
import { referencePage } from '#contract/documents/reference-page.ts';
import { pageStyle } from '#contract/documents/reference-style.ts';
import { operations } from '#contract/operations.ts';
import { version } from '#protocol/version.ts';
import type { Context } from '../../framework/context.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import type { Family } from '../../framework/family.ts';
import { openAdmission } from '../../framework/http/callers/authenticate.ts';
import { basePathOf } from '../../framework/http/callers/base-url.ts';
import { deleteExpiredKeys } from '../../framework/http/changes/idempotent-requests.ts';
import { compressedRoute } from '../../framework/http/replies/compression.ts';
import { plainPageHeaders } from '../../framework/http/replies/headers.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { Refusal } from '../../ground/errors.ts';

/** The same for all readers and for as long as the program runs; made for the first reader, not at the start. */
let openApi: Record<string, unknown> | undefined;
let referenceText: string | undefined;

const systemRoutes: Route[] = [
  route(
    operations.getOpenApi,
    async () => (openApi ??= openApiDocument({ version }) as Record<string, unknown>),
  ),
];

/** Registers what is outside of `/api`. */
function openRoutes(app: FastifyInstance, context: Context): void {
  const basePath = basePathOf(context.settings);
  app.get('/reference', { ...compressedRoute, config: openAdmission }, (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers(plainPageHeaders(pageStyle))
      .send((referenceText ??= referencePage({ basePath }))),
  );
  app.get('/healthz', { config: openAdmission }, () => ({ isOk: true, text: 'The service is alive' }));
  let asking: Promise<unknown> | undefined;
  // However many ask at once, they share one question to the database.
  const ask = () => {
    asking ??= sql`select 1`.execute(context.reserved).finally(() => (asking = undefined));
    return asking;
  };
  app.get('/readyz', { config: openAdmission }, async () => {
    try {
      await ask();
    } catch {
      throw new Refusal('unavailable', 'The database does not answer');
    }
    const [problem] = context.problems.values();
    if (problem !== undefined) throw new Refusal('unavailable', problem);
    return { isOk: true, text: 'The service answers requests' };
  });
}

export const family: Family = {
  name: 'system',
  routes: systemRoutes,
  plugin: openRoutes,
  loops: [{ name: 'expired idempotency keys', everySeconds: 3600, pass: deleteExpiredKeys }],
  effects: [removeBlobs],
  tables: ['effect', 'idempotency_key', 'installation', 'server_stamp'],
};
