/** Shapes of replies about API keys. */
import { type Static, Type } from 'typebox';
import { Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const ApiKeySecret = replyObject(
  'ApiKeySecret',
  { id: Text, createdAt: Instant, lastUsedAt: Instant },
  'A secret of an API key, without its value',
);

/** Fields of all keys. */
const common = {
  id: Text,
  name: Text,
  apiKeyId: Type.String({ description: 'The user name of HTTP Basic credentials' }),
  lastUsedAt: Instant,
  createdAt: Instant,
  createdBy: Text,
  createdByUser: User,
  expiresAt: Instant,
  networks: Type.Array(Text, { description: 'Networks that the key is accepted from; empty: from all' }),
  secrets: Type.Array(ApiKeySecret, { description: 'One or, while a key is rotated, two; oldest first' }),
};

/** Shown once, by the operation that makes it. */
const value = Type.String({ description: 'The secret, which is never returned again' });

const ofOrganization = {
  ...common,
  description: Text,
  organizationId: Text,
  organizationRole: Type.String({ description: 'Admin, User, or the id of a custom role' }),
  ownerId: Text,
};

export const ApiKey = replyObject(
  'ApiKey',
  ofOrganization,
  'A key that is a user of its own: `id` is its id',
);
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = replyObject('NewApiKey', { ...ofOrganization, apiKeySecret: value });

export const PersonalApiKey = replyObject(
  'PersonalApiKey',
  common,
  'A key that acts as the person it belongs to',
);
export type PersonalApiKey = Static<typeof PersonalApiKey>;

export const NewPersonalApiKey = replyObject('NewPersonalApiKey', { ...common, apiKeySecret: value });

export const NewApiKeySecret = replyObject('NewApiKeySecret', {
  id: Text,
  apiKeyId: Text,
  apiKeySecret: value,
  createdAt: Instant,
});
