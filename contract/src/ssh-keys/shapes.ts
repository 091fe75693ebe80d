/** Shapes of replies about ssh keys. */
import { type Static, Type } from 'typebox';
import { CredentialUse } from '../git-tokens/shapes.ts';
import { Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

const fields = {
  id: Text,
  name: Text,
  organizationId: Text,
  value: Type.String({ description: 'Asterisks: the value is never returned' }),
  projectIds: Type.Array(Text, { description: 'Projects that may use it; empty: all' }),
  userId: Text,
  user: User,
  createdAt: Instant,
  updatedAt: Instant,
};

export const SshKey = replyObject('SshKey', fields);
export type SshKey = Static<typeof SshKey>;

export const SshKeyDetails = replyObject('SshKeyDetails', {
  ...fields,
  usedBy: Type.Array(CredentialUse, { description: 'What names it, as far as the caller may see it' }),
});
