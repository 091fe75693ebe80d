/** Shapes of replies about git tokens. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

/** Targets of a token: repositories, or private registries of modules and providers. */
export const tokenTypes = ['GIT', 'REGISTRY'] as const;

/** Users of a credential or a connection, which prevent its deletion. */
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
