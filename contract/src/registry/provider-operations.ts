/** Providers of an organization, as records, and the keys that sign them. */
import { type TProperties, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { AnyObject, closed, Name, nullable, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { GpgKey, Provider } from './shapes.ts';

const inBody = { entity: 'organization', in: 'body', field: 'organizationId' } as const;
const thisProvider = aboutOne('provider');
/** Settings of a provider, which have no effect. */
const stored = <P extends TProperties>(properties: P) =>
  withoutEffect(closed(properties), noEffects.providers);

const Deleted = nullable(Type.Object({ id: Text }));

const ProviderType = Type.String({
  pattern: '^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$',
  description: 'The last part of the source address of the provider, such as aws',
});

export const operations = defineOperations('providers', {
  listProviders: operation('GET', '/providers', {
    summary: 'List providers',
    needs: 'VIEW_PROVIDERS',
    ...inOrganization,
    reply: Type.Array(Provider),
  }),
  createProvider: operation('POST', '/providers', {
    summary: 'Create provider',
    description: 'Stores the record of a provider. Its type is unique in the organization.',
    needs: 'CREATE_AND_EDIT_PROVIDERS',
    subject: inBody,
    body: stored({
      organizationId: Name,
      type: ProviderType,
      description: orNull(Prose),
      createdByUser: Type.Optional({ ...AnyObject, description: 'Ignored' }),
    }),
    reply: Provider,
  }),
  getProvider: operation('GET', '/providers/{id}', {
    summary: 'Get provider',
    needs: 'VIEW_PROVIDERS',
    ...thisProvider,
    reply: Provider,
  }),
  updateProvider: operation('PUT', '/providers/{id}', {
    summary: 'Update provider',
    description: 'Without a description, the provider has none.',
    needs: 'CREATE_AND_EDIT_PROVIDERS',
    ...thisProvider,
    body: stored({ description: orNull(Prose) }),
    reply: Provider,
  }),
  deleteProvider: operation('DELETE', '/providers/{id}', {
    summary: 'Delete provider',
    needs: 'CREATE_AND_EDIT_PROVIDERS',
    ...thisProvider,
    reply: Deleted,
  }),
  listGpgKeys: operation('GET', '/gpg-keys', {
    summary: 'List GPG keys',
    needs: 'VIEW_PROVIDERS',
    ...inOrganization,
    reply: Type.Array(GpgKey),
  }),
  createGpgKey: operation('POST', '/gpg-keys', {
    summary: 'Create GPG key',
    description:
      'Stores a public key that signs versions of providers. The key is stored as it is, and not checked.',
    needs: 'CREATE_AND_EDIT_PROVIDERS',
    subject: inBody,
    body: stored({
      organizationId: Name,
      name: Title,
      keyId: Type.String({ pattern: '^[0-9A-F]{16}$', description: '16 upper-case hexadecimal digits' }),
      content: Type.String({ minLength: 1, maxLength: 100_000, description: 'The armored public key' }),
    }),
    reply: GpgKey,
  }),
  deleteGpgKey: operation('DELETE', '/gpg-keys/{id}', {
    summary: 'Delete GPG key',
    needs: 'CREATE_AND_EDIT_PROVIDERS',
    ...aboutOne('gpgKey'),
    reply: Deleted,
  }),
});
