/** Tokens with which repositories are read over https, and private registries of modules and providers. */

import { Type } from 'typebox';
import { CredentialProjects } from '../projects/shapes.ts';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, orNull, Text, Title } from '../schema/schema.ts';
import { GitToken, GitTokenDetails, tokenTypes } from './shapes.ts';

export type TokenType = (typeof tokenTypes)[number];

const Host = Type.String({
  pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$',
  maxLength: 260,
  description: 'A host name in lower case, with :port if it is not the usual one',
});

const thisToken = aboutOne('gitToken');

export const operations = defineOperations('git tokens', {
  listGitTokens: operation('GET', '/tokens', {
    summary: 'List git tokens',
    needs: 'VIEW_ORGANIZATION',
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Text, type: Type.Optional(oneOf(tokenTypes)) }),
    reply: Type.Array(GitToken),
  }),
  createGitToken: operation('POST', '/tokens', {
    summary: 'Create git token',
    description:
      'The value is a token, or `user:token` if the host also requires a user name. A token of type ' +
      'GIT gives access to the repositories whose templates name it, and to modules and submodules on ' +
      '`hosts`. A token of type REGISTRY gives access to private registries of modules and providers, ' +
      'and requires `hosts`.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({
      organizationId: Name,
      name: Title,
      value: Name,
      type: Type.Optional(oneOf(tokenTypes)),
      hosts: orNull(Type.Array(Host, { maxItems: 100 })),
      projectIds: CredentialProjects,
    }),
    reply: GitToken,
  }),
  getGitToken: operation('GET', '/tokens/{id}', {
    summary: 'Get git token',
    needs: 'VIEW_ORGANIZATION',
    ...thisToken,
    reply: GitTokenDetails,
  }),
  updateGitToken: operation('PUT', '/tokens/{id}', {
    summary: 'Update git token',
    description: 'Omitted fields are unchanged. Environments that may no longer use it run without it.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisToken,
    body: closed({
      name: Type.Optional(Title),
      value: Type.Optional(Name),
      hosts: Type.Optional(clearable(Type.Array(Host, { maxItems: 100 }), [])),
      projectIds: CredentialProjects,
    }),
    reply: GitToken,
  }),
  deleteGitToken: operation('DELETE', '/tokens/{id}', {
    summary: 'Delete git token',
    description: 'Refused while a template, an active environment or a VCS connection names it.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisToken,
    reply: nullable(Type.Object({ id: Text })),
    refusesWith: ['conflict'],
  }),
});
