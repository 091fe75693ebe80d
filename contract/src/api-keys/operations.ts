/** Keys of organizations, which are users of their own, and keys that act as the person they belong to. */
import { type Static, Type } from 'typebox';
import { aboutOne, byId, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Bytes, closed, Instant, Name, nullable, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { ApiKey, NewApiKey, NewApiKeySecret, NewPersonalApiKey, PersonalApiKey } from './shapes.ts';

const bySecret = Type.Object({ id: Name, secretId: Name });
const thisKey = aboutOne('apiKey');
const deleted = nullable(Type.Object({ id: Text }));

/** Limits on the use of a key. */
const limits = {
  expiresAt: Type.Optional(
    clearable(nullable(Type.Unsafe<string>({ ...Instant, description: 'Null: never' })), null),
  ),
  networks: Type.Optional(
    clearable(
      Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
        maxItems: 100,
        description: 'Addresses and networks (CIDR) of IPv4 and IPv6; empty: from everywhere',
      }),
      [],
    ),
  ),
};

const about = {
  description: Type.Optional(clearable(Prose, '')),
  ownerId: Type.Optional(
    clearable(
      nullable(
        Type.String({ minLength: 1, description: 'The member who answers for the key; null: no one' }),
      ),
      null,
    ),
  ),
};

const ProjectRole = closed({
  projectId: Name,
  projectRole: Type.String({
    minLength: 1,
    description: 'Admin, Deployer, Planner, Viewer, or the id of a custom role',
  }),
});

const Permissions = Type.Object(
  {
    organizationRole: Type.Optional(
      Type.String({ minLength: 1, description: 'Admin (the default), User, or the id of a custom role' }),
    ),
    projectsPermissions: orNull(Type.Array(ProjectRole, { maxItems: 1000 })),
  },
  { additionalProperties: false, description: 'What the key may do' },
);

const CreateBody = closed({
  organizationId: Name,
  name: Title,
  permissions: orNull(Permissions),
  ...about,
  ...limits,
});
export type CreateApiKeyBody = Static<typeof CreateBody>;

const UpdateBody = closed({ name: Type.Optional(Title), ...about, ...limits });
export type UpdateApiKeyBody = Static<typeof UpdateBody>;

const rotation =
  'A key has two secrets at most, so that its users can change to the new one before the old one is deleted.';

export const operations = defineOperations('api keys', {
  listApiKeys: operation('GET', '/api-keys', {
    summary: 'List API keys of an organization',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...inOrganization,
    reply: Type.Array(ApiKey),
  }),
  createApiKey: operation('POST', '/api-keys', {
    summary: 'Create API key of an organization',
    description:
      'The key is a user of its own: teams, roles and lists of users take its id. It never gets rights that its ' +
      'creator does not have. The secret is returned only here.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: CreateBody,
    reply: NewApiKey,
  }),
  getOidcSubject: operation('GET', '/api-keys/oidc-sub', {
    summary: 'Get the subject of OIDC tokens',
    description:
      'As plain text: the subject of the tokens that runs of the organization get, in the format v1 (docs/use/credentials.md).',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: Bytes('The subject'),
    replyKind: 'binary',
    replyType: 'text/plain; charset=utf-8',
  }),
  getApiKey: operation('GET', '/api-keys/{id}', {
    summary: 'Get API key',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    reply: ApiKey,
  }),
  updateApiKey: operation('PATCH', '/api-keys/{id}', {
    summary: 'Update API key',
    description: 'Needs every right that the key has.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    body: UpdateBody,
    reply: ApiKey,
  }),
  deleteApiKey: operation('DELETE', '/api-keys/{id}', {
    summary: 'Delete API key',
    description: 'It is refused from the next request on, by every server. Its roles and memberships end.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    reply: deleted,
    refusesWith: ['conflict'],
  }),
  addApiKeySecret: operation('POST', '/api-keys/{id}/secrets', {
    summary: 'Add a second secret to an API key',
    description: `${rotation} Needs every right that the key has.`,
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    reply: NewApiKeySecret,
    refusesWith: ['conflict'],
  }),
  deleteApiKeySecret: operation('DELETE', '/api-keys/{id}/secrets/{secretId}', {
    summary: 'Delete a secret of an API key',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: thisKey.subject,
    params: bySecret,
    reply: deleted,
    refusesWith: ['conflict'],
  }),
  listPersonalApiKeys: operation('GET', '/personal-api-keys', {
    summary: "List the caller's own API keys",
    needs: 'signed-in',
    reply: Type.Array(PersonalApiKey),
  }),
  createPersonalApiKey: operation('POST', '/personal-api-keys', {
    summary: 'Create a personal API key',
    description:
      'The key acts as the caller, with the same rights at any time, and is refused when the account is blocked or ' +
      'deleted. Only people have personal keys. A personal key that is limited itself cannot create others.',
    needs: 'signed-in',
    body: closed({ name: Title, ...limits }),
    reply: NewPersonalApiKey,
    refusesWith: ['forbidden'],
  }),
  deletePersonalApiKey: operation('DELETE', '/personal-api-keys/{id}', {
    summary: "Delete one of the caller's API keys",
    needs: 'signed-in',
    params: byId,
    reply: deleted,
    refusesWith: ['not_found', 'conflict'],
  }),
  addPersonalApiKeySecret: operation('POST', '/personal-api-keys/{id}/secrets', {
    summary: "Add a second secret to one of the caller's API keys",
    description: rotation,
    needs: 'signed-in',
    params: byId,
    reply: NewApiKeySecret,
    refusesWith: ['not_found', 'conflict', 'forbidden'],
  }),
  deletePersonalApiKeySecret: operation('DELETE', '/personal-api-keys/{id}/secrets/{secretId}', {
    summary: "Delete a secret of one of the caller's API keys",
    needs: 'signed-in',
    params: bySecret,
    reply: deleted,
    refusesWith: ['not_found', 'conflict'],
  }),
});
