/** Tokens with which identity providers provision people and teams of an organization, and their protocol. */
import { Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Name, nullable, Text } from '../schema/schema.ts';
import { NewScimToken, ScimToken } from './shapes.ts';

const thisOrganization = { entity: 'organization', in: 'params', field: 'id' } as const;

/** SCIM 2.0 (RFC 7643, RFC 7644): below this, outside of `/api`. */
export const scimBase = '/scim/v2';

export const operations = defineOperations('people', {
  listScimTokens: operation('GET', '/organizations/{id}/scim-tokens', {
    summary: 'List SCIM tokens',
    description: 'Newest first, without the tokens themselves.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...aboutOne('organization'),
    reply: Type.Array(ScimToken),
  }),
  createScimToken: operation('POST', '/organizations/{id}/scim-tokens', {
    summary: 'Create SCIM token',
    description:
      'With it, an identity provider creates, changes and deactivates people and teams of the organization. ' +
      'Its holder can put people into any team: the caller needs all rights of the role Admin. An ' +
      'organization has at most two, the second one to replace the first (409).',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...aboutOne('organization'),
    reply: NewScimToken,
  }),
  deleteScimToken: operation('DELETE', '/organizations/{id}/scim-tokens/{tokenId}', {
    summary: 'Revoke SCIM token',
    description: 'The next request with it is refused.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisOrganization,
    params: Type.Object({ id: Name, tokenId: Name }),
    reply: nullable(Type.Object({ id: Text })),
  }),
});
