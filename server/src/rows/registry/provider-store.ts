/** SQL of providers, and of the keys that sign them. */
import type { Selectable } from 'kysely';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { homeOf, lockById, rowById, rowsOfOrganization } from '../row-queries.ts';
import type { GpgKeyTable, RegistryProviderTable } from '../schema.ts';

export type ProviderRow = Selectable<RegistryProviderTable>;
export type GpgKeyRow = Selectable<GpgKeyTable>;

/** @returns the row, or undefined if the organization has a provider of that type */
export async function insertProvider(
  tx: Connection,
  context: ActorContext,
  provider: { readonly organizationId: string; readonly type: string; readonly description: string | null },
): Promise<ProviderRow | undefined> {
  const now = context.now();
  return tx
    .insertInto('registry_provider')
    .values({
      id: context.newId(),
      organization_id: provider.organizationId,
      type: provider.type,
      description: provider.description,
      created_by: context.actor.userId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'type']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function describeProvider(
  tx: Connection,
  context: ActorContext,
  id: string,
  description: string | null,
): Promise<ProviderRow> {
  return tx
    .updateTable('registry_provider')
    .set({ description, updated_at: context.now() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const listProviders = rowsOfOrganization('registry_provider');

export const getProvider = rowById('registry_provider');

export const lockProvider = lockById('registry_provider');

/** @returns the deleted row, or undefined if there was none */
export async function deleteProvider(tx: Connection, id: string): Promise<ProviderRow | undefined> {
  return tx.deleteFrom('registry_provider').where('id', '=', id).returningAll().executeTakeFirst();
}

export async function insertGpgKey(
  tx: Connection,
  context: ActorContext,
  key: {
    readonly organizationId: string;
    readonly name: string;
    readonly keyId: string;
    readonly content: string;
  },
): Promise<GpgKeyRow> {
  return tx
    .insertInto('gpg_key')
    .values({
      id: context.newId(),
      organization_id: key.organizationId,
      name: key.name,
      key_id: key.keyId,
      content: key.content,
      created_by: context.actor.userId,
      created_at: context.now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const listGpgKeys = rowsOfOrganization('gpg_key');

/** @returns the deleted row, or undefined if there was none */
export async function deleteGpgKey(tx: Connection, id: string): Promise<GpgKeyRow | undefined> {
  return tx.deleteFrom('gpg_key').where('id', '=', id).returningAll().executeTakeFirst();
}

/** Home of a provider. */
export const providerHome = homeOf('registry_provider');

/** Home of a key. */
export const gpgKeyHome = homeOf('gpg_key');
