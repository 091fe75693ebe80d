/** Tokens by which runs prove to clouds who they are. */
import type { FastifyInstance } from 'fastify';
import { operations } from '#contract/operations.ts';
import type { Context } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { openAdmission } from '../../framework/http/callers/authenticate.ts';
import { type Route, streamRoute } from '../../framework/http/route.ts';
import { Refusal } from '../../ground/errors.ts';
import { algorithm, publishedKeys, rotateKeys } from './rotate-keys.ts';
import { claimNames, issuerOf, organizationSubject } from './run-token.ts';

const discoveryPath = '/.well-known/openid-configuration';
const keysPath = '/.well-known/jwks.json';
/** Much shorter than the time for which keys are published before they sign. */
const cacheControl = 'public, max-age=3600';

/** @throws Refusal 404 where the service does not know its public address */
function requireIssuer(context: Context): string {
  const issuer = issuerOf(context);
  if (issuer === null)
    throw new Refusal('not_found', 'No tokens are issued here: the setting ENVARIUM_BASE_URL is missing');
  return issuer;
}

function discoveryDocument(issuer: string): object {
  return {
    issuer,
    jwks_uri: `${issuer}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
    scopes_supported: ['openid'],
    claims_supported: claimNames,
  };
}

/**
 * Registers the documents with which clouds check the tokens of runs, below the public address, for all callers.
 */
function issuerDocuments(app: FastifyInstance, context: Context): void {
  app.get(discoveryPath, { config: openAdmission }, async (_request, reply) =>
    reply.header('cache-control', cacheControl).send(discoveryDocument(requireIssuer(context))),
  );
  app.get(keysPath, { config: openAdmission }, async (_request, reply) => {
    requireIssuer(context);
    return reply.header('cache-control', cacheControl).send({ keys: await publishedKeys(context) });
  });
}

const issuerRoutes: Route[] = [
  streamRoute(operations.getOidcSubject, async (_context, { query }, { reply }) =>
    reply.type('text/plain; charset=utf-8').send(organizationSubject(query.organizationId.toLowerCase())),
  ),
];

export const family: Family = {
  name: 'oidc-issuer',
  routes: issuerRoutes,
  plugin: issuerDocuments,
  loops: [
    {
      name: 'rotation of the keys for tokens of runs',
      everySeconds: 3600,
      pass: async (context) => {
        if (issuerOf(context) !== null) await rotateKeys(context);
      },
    },
  ],
  tables: ['oidc_key'],
};
