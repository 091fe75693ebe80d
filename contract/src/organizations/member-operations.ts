/** The members of an organization: people and keys. */
import { Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Name } from '../schema/schema.ts';
import { Member } from './shapes.ts';

const organization = { entity: 'organization', in: 'params', field: 'id' } as const;
const byUser = Type.Object({ id: Name, userId: Name });

export const operations = defineOperations('members', {
  listMembers: operation('GET', '/organizations/{id}/users', {
    summary: 'List members of organization',
    description: 'People, also those that are invited, and keys; those who came last first.',
    needs: 'VIEW_ORGANIZATION',
    ...aboutOne('organization'),
    query: Type.Object({
      query: Type.Optional(Type.String({ description: 'A part of the name or of the e-mail address' })),
      includeApiKeys: Type.Optional(Type.Boolean({ description: 'false: only people; default true' })),
    }),
    reply: Type.Array(Member),
  }),
  setMemberRole: operation('PUT', '/organizations/{id}/users/{userId}/role', {
    summary: 'Change role of member',
    description:
      'The body is the role: Admin, User or the id of a custom role, as plain text or as a JSON string. The ' +
      'caller needs all rights that the member had and will have. The last admin remains one.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: organization,
    params: byUser,
    body: Type.String({ minLength: 1, maxLength: 255 }),
    reply: Type.Null(),
  }),
});
