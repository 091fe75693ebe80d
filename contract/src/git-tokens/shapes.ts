/** What replies about git tokens carry. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

/** What a token opens: repositories, or private registries of modules and providers. */
export const tokenTypes = ['GIT', 'REGISTRY'] as const;

/** What names a credential or a connection, and therefore keeps it from being deleted. */
export const CredentialUse = replyObject('CredentialUse', {
  type: oneOf(['template', 'environment', 'module', 'vcsConnection']),
  id: Text,
  name: Text,
});
export type CredentialUse = Static<typeof CredentialUse>;

const fields = {
  id: Text,
  name: Text,
  organizationId: Text,
  type: oneOf(tokenTypes),
  hosts: Type.Array(Text, {
    description: 'Hosts to which every run of these projects sends the token',
  }),
  projectIds: Type.Array(Text, { description: 'Projects that may use it; empty: all' }),
  value: Type.String({ description: 'Asterisks: the value is never returned' }),
};

export const GitToken = replyObject('GitToken', fields);
export type GitToken = Static<typeof GitToken>;

export const GitTokenDetails = replyObject('GitTokenDetails', {
  ...fields,
  usedBy: Type.Array(CredentialUse, { description: 'What names it, as far as the caller may see it' }),
});
