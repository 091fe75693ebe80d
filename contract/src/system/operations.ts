/** What the service says about itself, and the written list of what needs no credentials. */
import { AnyObject, Flag, replyObject, Text } from '../schema/schema.ts';
import { operation } from '../operation.ts';
import { apiBase, routes } from '../routes.ts';

export const Health = replyObject('Health', { isOk: Flag, text: Text });

export const getOpenApi = operation('getOpenApi', {
  family: 'system',
  summary: 'This interface as OpenAPI 3.1',
  needs: 'nothing',
  reply: AnyObject,
});

/** Every route that answers without credentials, with its reason. Paths are whole. */
export const openOperations = [
  { method: 'GET', path: '/', reason: 'the reference page tells nothing about an installation' },
  { method: 'GET', path: '/healthz', reason: 'asked by what keeps the process alive' },
  { method: 'GET', path: '/readyz', reason: 'asked by what sends traffic' },
  {
    method: routes.getOpenApi[0],
    path: `${apiBase}${routes.getOpenApi[1]}`,
    reason: 'a description of the interface, the same for everybody',
  },
] as const;
