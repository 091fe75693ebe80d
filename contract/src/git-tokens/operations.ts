/** Tokens with which repositories are read over https, and private registries of modules and providers. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { operation } from '../operation.ts';
import { closed, Name, nullable, orNull, replyObject, Text, Title } from '../schema/schema.ts';

/** What a token opens: repositories, or private registries of modules and providers. */
export const tokenTypes = ['GIT', 'REGISTRY'] as const;
export type TokenType = (typeof tokenTypes)[number];

const Host = Type.String({
  pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$',
  maxLength: 260,
  description: 'A host name in lower case, with :port where it is not the usual one',
});

export const GitToken = replyObject('GitToken', {
  id: Text,
  name: Text,
  organizationId: Text,
  type: oneOf(tokenTypes),
  hosts: Type.Array(Text, {
    description: 'Hosts that the token is sent to by every run of the organization',
  }),
  value: Type.String({ description: 'Asterisks: the value never leaves again' }),
});
export type GitToken = Static<typeof GitToken>;

const family = 'git tokens';
const byId = Type.Object({ id: Name });
const thisToken = { entity: 'gitToken', in: 'params', field: 'id' } as const;

export const listGitTokens = operation('listGitTokens', {
  family,
  summary: 'List git tokens',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'query', field: 'organizationId' },
  query: Type.Object({ organizationId: Text, type: Type.Optional(oneOf(tokenTypes)) }),
  reply: Type.Array(GitToken),
});

export const createGitToken = operation('createGitToken', {
  family,
  summary: 'Create git token',
  description:
    'The value is a token, or `user:token` where the host asks for a user name too. A token of type GIT opens the repositories whose templates name it, and those of `hosts` for modules and submodules. One of type REGISTRY opens private registries of modules and providers, and needs `hosts`.',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'body', field: 'organizationId' },
  body: closed({
    organizationId: Name,
    name: Title,
    value: Name,
    type: Type.Optional(oneOf(tokenTypes)),
    hosts: orNull(Type.Array(Host, { maxItems: 100 })),
  }),
  reply: GitToken,
});

export const getGitToken = operation('getGitToken', {
  family,
  summary: 'Get git token',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: thisToken,
  params: byId,
  reply: GitToken,
});

export const deleteGitToken = operation('deleteGitToken', {
  family,
  summary: 'Delete git token',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: thisToken,
  params: byId,
  reply: nullable(Type.Object({ id: Text })),
});
