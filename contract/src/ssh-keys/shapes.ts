/** What replies about ssh keys carry. */
import { type Static, Type } from 'typebox';
import { Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const SshKey = replyObject('SshKey', {
  id: Text,
  name: Text,
  organizationId: Text,
  value: Type.String({ description: 'Asterisks: the value is never returned' }),
  projectIds: Type.Array(Text, { description: 'Projects that may use it; empty: all' }),
  userId: Text,
  user: User,
  createdAt: Instant,
  updatedAt: Instant,
});
export type SshKey = Static<typeof SshKey>;
