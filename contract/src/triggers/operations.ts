/** Environments that are deployed after another one. */
import { type Static, Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name } from '../schema/schema.ts';
import { DownstreamEnvironment } from './shapes.ts';

const thisEnvironment = aboutOne('environment');

/** Maximum number of environments that can follow one. */
export const mostDownstream = 100;

export const DownstreamBody = closed({
  downstreamEnvironmentIds: Type.Array(Name, {
    maxItems: mostDownstream,
    description: 'Environments of the same project',
  }),
});
export type DownstreamBody = Static<typeof DownstreamBody>;

const needsToo = [{ right: 'RUN_APPLY', for: 'each environment that is added' }] as const;

export const operations = defineOperations('triggers', {
  listDownstream: operation('GET', '/environments/{id}/downstream', {
    summary: 'List downstream environments',
    description:
      'Those that are deployed after each successful deploy of this one, if they are active and in its project.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: Type.Array(DownstreamEnvironment),
  }),
  setDownstream: operation('PUT', '/environments/{id}/downstream', {
    summary: 'Replace downstream environments',
    description: 'Replaces the whole list. 400 if the deployments would never end, because of a cycle.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo,
    ...thisEnvironment,
    body: DownstreamBody,
    reply: Type.Array(DownstreamEnvironment),
  }),
  addDownstream: operation('POST', '/environments/{id}/downstream/subscribe', {
    summary: 'Add downstream environments',
    description:
      'Those that follow already stay. 400 if the deployments would never end, because of a cycle.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo,
    updates: 'listDownstream',
    ...thisEnvironment,
    body: DownstreamBody,
    reply: Type.Null(),
  }),
  removeDownstream: operation('POST', '/environments/{id}/downstream/unsubscribe', {
    summary: 'Remove downstream environments',
    description: 'Those that do not follow are ignored.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    updates: 'listDownstream',
    ...thisEnvironment,
    body: DownstreamBody,
    reply: Type.Null(),
  }),
});
