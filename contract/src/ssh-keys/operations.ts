/** Private keys with which repositories and modules are read over ssh. */

import { Type } from 'typebox';
import { CredentialProjects } from '../projects/shapes.ts';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, Text, Title } from '../schema/schema.ts';
import { SshKey, SshKeyDetails } from './shapes.ts';

const thisKey = aboutOne('sshKey');

const PrivateKey = Type.String({
  minLength: 1,
  maxLength: 100_000,
  description: 'A private key without a passphrase, in OpenSSH or PEM format',
});

const EncryptionMethod = Type.Optional(
  Type.String({ description: 'Ignored: the value is sent unencrypted, and the service encrypts it' }),
);

export const operations = defineOperations('ssh keys', {
  listSshKeys: operation('GET', '/ssh-keys', {
    summary: 'List ssh keys',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: Type.Array(SshKey),
  }),
  createSshKey: operation('POST', '/ssh-keys', {
    summary: 'Create ssh key',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({
      organizationId: Name,
      name: Title,
      value: PrivateKey,
      encryptionMethod: EncryptionMethod,
      projectIds: CredentialProjects,
    }),
    reply: SshKey,
  }),
  getSshKey: operation('GET', '/ssh-keys/{id}', {
    summary: 'Get ssh key',
    needs: 'VIEW_ORGANIZATION',
    ...thisKey,
    reply: SshKeyDetails,
  }),
  updateSshKey: operation('PUT', '/ssh-keys/{id}', {
    summary: 'Update ssh key',
    description: 'Omitted fields are unchanged. Environments that may no longer use it run without it.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    body: closed({
      value: Type.Optional(PrivateKey),
      encryptionMethod: EncryptionMethod,
      projectIds: CredentialProjects,
    }),
    reply: SshKey,
  }),
  deleteSshKey: operation('DELETE', '/ssh-keys/{id}', {
    summary: 'Delete ssh key',
    description: 'Refused while a template or an active environment names it.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...thisKey,
    reply: nullable(Type.Object({ id: Text })),
    refusesWith: ['conflict'],
  }),
});
