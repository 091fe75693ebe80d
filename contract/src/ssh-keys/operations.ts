/** Private keys with which repositories and modules are read over ssh. */
import { type Static, Type } from 'typebox';
import { operation } from '../operation.ts';
import { closed, Instant, Name, nullable, replyObject, Text, Title } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const SshKey = replyObject('SshKey', {
  id: Text,
  name: Text,
  organizationId: Text,
  value: Type.String({ description: 'Asterisks: the value never leaves again' }),
  userId: Text,
  user: User,
  createdAt: Instant,
  updatedAt: Instant,
});
export type SshKey = Static<typeof SshKey>;

const family = 'ssh keys';
const byId = Type.Object({ id: Name });
const thisKey = { entity: 'sshKey', in: 'params', field: 'id' } as const;
const PrivateKey = Type.String({
  minLength: 1,
  maxLength: 100_000,
  description: 'A private key without a passphrase, in the form of OpenSSH or PEM',
});
const EncryptionMethod = Type.Optional(
  Type.String({ description: 'Ignored: the value is sent as it is, and sealed here' }),
);

export const listSshKeys = operation('listSshKeys', {
  family,
  summary: 'List ssh keys',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'query', field: 'organizationId' },
  query: Type.Object({ organizationId: Text }),
  reply: Type.Array(SshKey),
});

export const createSshKey = operation('createSshKey', {
  family,
  summary: 'Create ssh key',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'body', field: 'organizationId' },
  body: closed({ organizationId: Name, name: Title, value: PrivateKey, encryptionMethod: EncryptionMethod }),
  reply: SshKey,
});

export const updateSshKey = operation('updateSshKey', {
  family,
  summary: 'Replace the value of an ssh key',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: thisKey,
  params: byId,
  body: closed({ value: PrivateKey, encryptionMethod: EncryptionMethod }),
  reply: SshKey,
});

export const deleteSshKey = operation('deleteSshKey', {
  family,
  summary: 'Delete ssh key',
  description: 'Deployments of environments that name it go on without it.',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: thisKey,
  params: byId,
  reply: nullable(Type.Object({ id: Text })),
});
