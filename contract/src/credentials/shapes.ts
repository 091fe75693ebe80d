/** Shapes of replies about cloud credentials. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { AnyObject, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';
import { type CredentialType, clouds, credentialTypes } from './kinds.ts';

/** Its values are the keys of one table. */
export const CredentialTypeName = Type.Unsafe<CredentialType>({ type: 'string', enum: [...credentialTypes] });

export const Credential = replyObject('Credential', {
  id: Text,
  name: Text,
  organizationId: Text,
  projectId: Type.Optional(
    Type.String({ description: 'The project that it belongs to; absent: to the organization' }),
  ),
  type: CredentialTypeName,
  value: AnyObject,
  createdByUser: Type.Optional(User),
  createdAt: Instant,
  updatedAt: Instant,
});
export type Credential = Static<typeof Credential>;

export const CredentialAssignment = replyObject('CredentialAssignment', {
  id: Text,
  credentialId: Text,
  projectId: Text,
  createdByUserId: Text,
});
export type CredentialAssignment = Static<typeof CredentialAssignment>;

export const EffectiveCredential = replyObject('EffectiveCredential', {
  credentialId: Text,
  projectId: Type.String({ description: 'Where it is assigned: the project itself, or one above it' }),
  cloud: oneOf(clouds),
});

export const ProjectCredentials = replyObject('ProjectCredentials', {
  credentialIds: Type.Array(Text, { description: 'Those that are assigned to the project itself' }),
  effective: Type.Array(EffectiveCredential, {
    description: 'What runs of the project get, inherited ones included: one for each cloud',
  }),
});
export type ProjectCredentials = Static<typeof ProjectCredentials>;

export const CredentialTest = replyObject('CredentialTest', {
  isTested: Type.Boolean({
    description: 'Whether something outside of the service has confirmed or refused it',
  }),
  isOk: Type.Boolean({ description: 'Whether it works; if it was not tested, whether its form is right' }),
  message: Type.String({ description: 'What was found, as a sentence' }),
});
export type CredentialTest = Static<typeof CredentialTest>;
