/** What replies about git tokens carry. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

/** What a token opens: repositories, or private registries of modules and providers. */
export const tokenTypes = ['GIT', 'REGISTRY'] as const;

export const GitToken = replyObject('GitToken', {
  id: Text,
  name: Text,
  organizationId: Text,
  type: oneOf(tokenTypes),
  hosts: Type.Array(Text, {
    description: 'Hosts to which every run of these projects sends the token',
  }),
  projectIds: Type.Array(Text, { description: 'Projects that may use it; empty: all' }),
  value: Type.String({ description: 'Asterisks: the value is never returned' }),
});
export type GitToken = Static<typeof GitToken>;
