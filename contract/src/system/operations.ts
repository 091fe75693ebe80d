/** Operations about the service itself, and the list of paths that need no credentials. */

import { apiBase, defineOperations, operation } from '../schema/operation.ts';
import { AnyObject } from '../schema/schema.ts';

export const operations = defineOperations('system', {
  getOpenApi: operation('GET', '/openapi.json', {
    summary: 'This API as OpenAPI 3.1',
    needs: 'nothing',
    reply: AnyObject,
  }),
});

/** Every route that answers without credentials, with its reason. Paths are whole. */
export const openOperations = [
  {
    method: 'GET',
    path: '/',
    reason: 'the web interface, which asks for the data of people who have signed in',
  },
  {
    method: 'GET',
    path: '/assets/*',
    reason: 'scripts and styles of the web interface, the same for everybody',
  },
  { method: 'GET', path: '/icon.svg', reason: 'a file of the web interface' },
  { method: 'GET', path: '/manifest.webmanifest', reason: 'a file of the web interface' },
  { method: 'GET', path: '/LICENSES.txt', reason: 'licences of the packages in the web interface' },
  {
    method: 'GET',
    path: '/reference',
    reason: 'the page of all operations tells nothing about an installation',
  },
  { method: 'GET', path: '/healthz', reason: 'called by process supervisors' },
  { method: 'GET', path: '/readyz', reason: 'called by load balancers' },
  {
    method: operations.getOpenApi.method,
    path: `${apiBase}${operations.getOpenApi.path}`,
    reason: 'a description of the interface, the same for everybody',
  },
  {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    reason: 'clouds read it to check tokens of runs',
  },
  { method: 'GET', path: '/.well-known/jwks.json', reason: 'public keys, to check tokens of runs' },
  { method: 'GET', path: '/api/auth/methods', reason: 'read by the page where people sign in' },
  { method: 'POST', path: '/api/auth/sign-in', reason: 'the sign-in itself' },
  { method: 'POST', path: '/api/auth/cli/sign-in', reason: 'the sign-in itself' },
  { method: 'GET', path: '/api/auth/oidc/start', reason: 'a sign-in begins' },
  { method: 'GET', path: '/api/auth/oidc/callback', reason: 'the identity provider vouches for the caller' },
  { method: 'GET', path: '/api/auth/cli/start', reason: 'a sign-in begins' },
  { method: 'POST', path: '/api/auth/cli/token', reason: 'the code identifies the caller' },
  { method: 'POST', path: '/api/auth/sign-in-link', reason: 'the token of the link identifies the caller' },
  { method: 'POST', path: '/api/auth/password-reset', reason: 'the token of the link identifies the caller' },
  {
    method: 'POST',
    path: '/api/invites/preview',
    reason: 'the token of the invitation identifies the caller',
  },
  {
    method: 'POST',
    path: '/api/invites/accept',
    reason: 'the token of the invitation identifies the caller',
  },
] as const;
