/** Connections to self-hosted forges, and ids of installations. */
import { Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, orNull, Text, Title } from '../schema/schema.ts';
import { vcsConnectionTypes } from './connection-types.ts';
import {
  AccessScope,
  ConnectionType,
  defaultVcsAgentKey,
  VcsConnection,
  VcsConnectionDetails,
  VcsToken,
} from './shapes.ts';

const thisConnection = aboutOne('vcsConnection');

const AgentKey = Type.Optional(
  clearable(withoutEffect(Name, noEffects.forgeAgents, '_DEFAULT$'), defaultVcsAgentKey),
);
const TokenId = orNull(
  Type.String({
    minLength: 1,
    description: 'Git token for repositories on the host of the address; null: none',
  }),
);

export const operations = defineOperations('vcs connections', {
  listVcsConnections: operation('GET', '/vcs/connections', {
    summary: 'List VCS connections',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: Type.Array(VcsConnection),
  }),
  createVcsConnection: operation('POST', '/vcs/connections', {
    summary: 'Create VCS connection',
    description:
      'Templates and environments name it in `vcsConnectionId`. Its token is then sent to their repository if ' +
      'that is on the host of the address, and they have no token of their own.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({
      organizationId: Name,
      name: Title,
      type: oneOf(vcsConnectionTypes),
      url: Type.String({ minLength: 1, maxLength: 2000, description: 'https address of the forge' }),
      vcsAgentKey: AgentKey,
      accessScope: Type.Optional(withoutEffect(AccessScope, noEffects.forgeAccess, '^organization$')),
      connectionType: Type.Optional(withoutEffect(ConnectionType, noEffects.forgeAccess, '^self-hosted$')),
      tokenId: TokenId,
    }),
    reply: VcsConnection,
  }),
  getVcsConnection: operation('GET', '/vcs/connections/{id}', {
    summary: 'Get VCS connection',
    needs: 'VIEW_ORGANIZATION',
    ...thisConnection,
    reply: VcsConnectionDetails,
  }),
  updateVcsConnection: operation('PUT', '/vcs/connections/{id}', {
    summary: 'Update VCS connection',
    description: 'Omitted fields are unchanged.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisConnection,
    body: closed({ name: Type.Optional(Title), vcsAgentKey: AgentKey, tokenId: TokenId }),
    reply: VcsConnection,
  }),
  deleteVcsConnection: operation('DELETE', '/vcs/connections/{id}', {
    summary: 'Delete VCS connection',
    description: 'Refused while a template or an active environment names it.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisConnection,
    reply: nullable(Type.Object({ id: Text })),
    refusesWith: ['conflict'],
  }),
  getVcsToken: operation('GET', '/vcs-token/{vcsType}', {
    summary: 'Get id of the installation for a repository',
    description:
      'The installation that a template of the organization names for a repository of the same owner, the latest ' +
      'one if there are several. 404 if there is none.',
    needs: 'VIEW_ORGANIZATION',
    subject: inOrganization.subject,
    params: Type.Object({ vcsType: Type.String({ description: 'github' }) }),
    query: Type.Object({ organizationId: Text, repository: Name }),
    reply: VcsToken,
    refusesWith: ['not_found'],
  }),
});
