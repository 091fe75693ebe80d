/** Shapes of replies about SCIM tokens. */
import { type Static, Type } from 'typebox';
import { Instant, nullable, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

const common = {
  id: Text,
  organizationId: Text,
  createdAt: Instant,
  createdBy: Text,
  createdByUser: User,
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'Null: never' })),
};

export const ScimToken = replyObject('ScimToken', common);
export type ScimToken = Static<typeof ScimToken>;

export const NewScimToken = replyObject('NewScimToken', {
  ...common,
  token: Type.String({ description: 'The token for the identity provider, which is never returned again' }),
  url: Type.String({ description: 'Where the identity provider sends its requests' }),
});
export type NewScimToken = Static<typeof NewScimToken>;
