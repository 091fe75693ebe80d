/** Versions of an environment's state, what people do with them, and the locks of tools outside of runs. */
import { Type } from 'typebox';
import { listedProjects } from '../projects/shapes.ts';
import { aboutOne } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Bytes, closed, Flag, Name, nullable, offsetOf, Prose, replyObject, Text } from '../schema/schema.ts';
import { StateAccess, StateComparison, StateLock, StateVersion } from './shapes.ts';

const thisVersion = aboutOne('stateVersion');
const thisEnvironment = aboutOne('environment');

const Comment = Type.Optional(
  Type.String({ maxLength: 1000, description: 'The reason; stored with the new version' }),
);

const acceptOtherLineage = (what: string) =>
  Type.Optional(
    Type.Boolean({
      description: `Must be true where ${what} has another lineage than the current state; default false`,
    }),
  );

const accessPath = Type.Object({ environmentId: Name });
const thatEnvironment = { entity: 'environment', in: 'params', field: 'environmentId' } as const;

/** The http state protocol: below this, with the environment's id. */
export const stateProtocolBase = '/state/v1/environments';

/**
 * Routes outside of `/api` that tools call by the rules of their `http` backend: exceptions to "200 with a
 * JSON body". Paths below `stateProtocolBase`.
 */
export const stateProtocol = [
  {
    method: 'GET',
    path: '/{id}',
    needs: 'READ_STATE',
    answers: '200 with the state, 204 where there is none',
  },
  {
    method: 'POST',
    path: '/{id}',
    needs: 'WRITE_STATE',
    answers: '200; 423 with the lock that is held, 409 for a state that does not follow',
  },
  { method: 'DELETE', path: '/{id}', needs: 'WRITE_STATE', answers: '200; 423 with the lock that is held' },
  {
    method: 'LOCK',
    path: '/{id}',
    needs: 'WRITE_STATE',
    answers: '200 with the lock; 423 with the lock that is held',
  },
  { method: 'UNLOCK', path: '/{id}', needs: 'WRITE_STATE', answers: '200; 409 where another lock is held' },
  { method: 'PUT', path: '/{id}/lock', needs: 'WRITE_STATE', answers: 'as LOCK' },
  { method: 'POST', path: '/{id}/lock', needs: 'WRITE_STATE', answers: 'as LOCK' },
  { method: 'DELETE', path: '/{id}/lock', needs: 'WRITE_STATE', answers: 'as UNLOCK' },
] as const;

export const operations = defineOperations('state', {
  listStateVersions: operation('GET', '/environments/{id}/state-versions', {
    summary: 'List state versions',
    description: 'Those of one environment, newest first. `x-total-count` contains the total number.',
    needs: 'READ_STATE',
    ...aboutOne('environment'),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
      offset: Type.Optional(offsetOf('version')),
    }),
    reply: Type.Array(StateVersion),
  }),
  getStateVersion: operation('GET', '/state-versions/{id}', {
    summary: 'Get state version',
    needs: 'READ_STATE',
    ...thisVersion,
    reply: StateVersion,
  }),
  importState: operation('POST', '/environments/{id}/state-versions', {
    summary: 'Import state',
    description:
      'The body is a state file of version 4. It becomes the current version, with a serial above all ' +
      'earlier ones unless OpenTofu has encrypted it. A 400 says what is wrong with the file, a 409 ' +
      'who holds the state.',
    needs: 'WRITE_STATE',
    ...thisEnvironment,
    query: Type.Object({ comment: Comment, acceptOtherLineage: acceptOtherLineage('the file') }),
    body: Bytes('The state file as the tool wrote it'),
    bodyKind: 'binary',
    reply: StateVersion,
  }),
  clearState: operation('DELETE', '/environments/{id}/state', {
    summary: 'Clear state',
    description:
      'Afterwards the environment has no current state, and runs start without one. All versions are ' +
      'kept; a rollback restores one. Required before the state moves from the service back to the ' +
      "code's own backend.",
    needs: 'WRITE_STATE',
    ...thisEnvironment,
    reply: replyObject('ClearedState', {
      id: Text,
      previous: Type.Optional(Type.String({ description: 'The version that was current before' })),
    }),
  }),
  getStateContent: operation('GET', '/state-versions/{id}/content', {
    summary: 'Download state',
    description: 'The state file as the tool wrote it, with plain-text secrets.',
    needs: 'READ_STATE',
    ...thisVersion,
    reply: Type.Unknown(),
    replyKind: 'binary',
  }),
  compareStateVersions: operation('GET', '/state-versions/{id}/compare', {
    summary: 'Compare state versions',
    description:
      'The changes from the version `with` to this one: resources and outputs that were added, ' +
      'removed or changed.',
    needs: 'READ_STATE',
    ...thisVersion,
    query: Type.Object({
      with: Type.Optional(
        Type.String({
          description: 'Another version of the same environment; default: its predecessor',
        }),
      ),
    }),
    reply: StateComparison,
  }),
  rollBackState: operation('POST', '/state-versions/{id}/rollback', {
    summary: 'Roll back to state version',
    description:
      'A new version with the content of this one, the same lineage and the highest serial (a state ' +
      'encrypted by OpenTofu keeps its own) becomes current. Existing plans are outdated. 409 while a ' +
      'deployment runs or waits, a tool holds the state, or the environment is locked.',
    needs: 'WRITE_STATE',
    ...thisVersion,
    body: closed({ comment: Comment }),
    bodyOptional: true,
    reply: StateVersion,
  }),
  promoteStateVersion: operation('POST', '/state-versions/{id}/promote', {
    summary: 'Promote rescued state version',
    description:
      'A new version with the content of this rescued one becomes current, by the same rules as a ' +
      'rollback.',
    needs: 'WRITE_STATE',
    ...thisVersion,
    body: closed({ comment: Comment, acceptOtherLineage: acceptOtherLineage('the version') }),
    bodyOptional: true,
    reply: StateVersion,
  }),
  deleteStateVersion: operation('DELETE', '/state-versions/{id}', {
    summary: 'Delete rescued state version',
    description: 'The version cannot be restored. 409 unless it is rescued.',
    needs: 'WRITE_STATE',
    ...thisVersion,
    reply: replyObject('DeletedStateVersion', { id: Text }),
  }),
  getStateLock: operation('GET', '/environments/{id}/state-lock', {
    summary: 'Get state lock',
    description: 'The lock that a tool outside of runs holds on the state; null if there is none.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: nullable(StateLock),
  }),
  freeStateLock: operation('POST', '/environments/{id}/state-lock/free', {
    summary: 'Release state lock',
    description:
      'Releases the lock of a tool outside of runs that was killed or forgotten. If the tool is still ' +
      'running, it can no longer store its state. Waiting deployments start.',
    needs: 'FORCE_UNLOCK_WORKSPACE',
    ...thisEnvironment,
    body: closed({
      lockId: Type.Optional(Type.String({ description: 'Only this lock; 409 if another one is held' })),
      reason: Type.Optional(Prose),
    }),
    bodyOptional: true,
    reply: StateLock,
  }),
  getStateAccess: operation('GET', '/remote-backend/states/{environmentId}/access-control', {
    summary: 'Get state access',
    description: 'Who may read the state over HTTP, besides callers with the right READ_STATE.',
    needs: 'VIEW_ENVIRONMENT',
    subject: thatEnvironment,
    params: accessPath,
    reply: StateAccess,
  }),
  setStateAccess: operation('PUT', '/remote-backend/states/{environmentId}/access-control', {
    summary: 'Set state access',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    subject: thatEnvironment,
    params: accessPath,
    body: closed({
      accessibleFromEntireOrganization: Flag,
      allowedProjectIds: Type.Optional(Type.Array(Text, listedProjects)),
    }),
    reply: StateAccess,
  }),
  deleteStateAccess: operation('DELETE', '/remote-backend/states/{environmentId}/access-control', {
    summary: 'Delete state access',
    description: 'Restores the default: only callers with the right READ_STATE.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    subject: thatEnvironment,
    params: accessPath,
    reply: replyObject('DeletedStateAccess', { id: Text }),
  }),
});
