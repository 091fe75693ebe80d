/** Tokens with which repositories are read over https. */
import { type Static, Type } from 'typebox';
import { oneOf } from './enumerations.ts';
import { operation } from './operation.ts';
import { closed, Name, nullable, replyObject, Text, Title } from './schema.ts';

export const GitToken = replyObject('GitToken', {
  id: Text,
  name: Text,
  organizationId: Text,
  type: oneOf(['GIT']),
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
  query: Type.Object({ organizationId: Text, type: Type.Optional(oneOf(['GIT'])) }),
  reply: Type.Array(GitToken),
});

export const createGitToken = operation('createGitToken', {
  family,
  summary: 'Create git token',
  description: 'The value is a token, or `user:token` where the host asks for a user name too.',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'body', field: 'organizationId' },
  body: closed({ organizationId: Name, name: Title, value: Name, type: Type.Optional(oneOf(['GIT'])) }),
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
