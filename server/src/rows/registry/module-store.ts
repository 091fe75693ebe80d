/** SQL of modules. */
import type { Selectable } from 'kysely';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { homeOf, lockById, rowById } from '../row-queries.ts';
import type { RegistryModuleTable } from '../schema.ts';
import { type NamedBySettings, settingsName } from '../templates/template-use-store.ts';
import type { ModuleSettings } from './module-settings.ts';

export type ModuleRow = Selectable<RegistryModuleTable>;

/** Choices of people. */
export interface ModuleValues {
  readonly name: string;
  readonly provider: string;
  readonly settings: ModuleSettings;
}

function columnsOf({ name, provider, settings }: ModuleValues) {
  return { name, provider, settings: JSON.stringify(settings) };
}

/** @returns the row, or undefined if the organization has such a module */
export async function insertModule(
  tx: Connection,
  context: ActorContext,
  organizationId: string,
  values: ModuleValues,
): Promise<ModuleRow | undefined> {
  const now = context.now();
  return (
    tx
      .insertInto('registry_module')
      .values({
        id: context.newId(),
        organization_id: organizationId,
        ...columnsOf(values),
        created_by: context.actor.userId,
        created_at: now,
        updated_at: now,
      })
      // Without a target: a prepared statement cannot name a partial index.
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst()
  );
}

/** @returns the row, or undefined if the organization has another module of that name and provider */
export async function updateModule(
  tx: Connection,
  context: ActorContext,
  id: string,
  values: ModuleValues,
): Promise<ModuleRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('registry_module')
      .set({ ...columnsOf(values), updated_at: context.now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

export async function markModuleDeleted(tx: Connection, context: ActorContext, id: string): Promise<void> {
  await tx
    .updateTable('registry_module')
    .set({ is_deleted: true, updated_at: context.now() })
    .where('id', '=', id)
    .execute();
}

/** Without deleted ones, newest first. */
export async function listModules(db: Connection, organizationId: string): Promise<ModuleRow[]> {
  return db
    .selectFrom('registry_module')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_deleted', '=', false)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** The modules of an organization that name a credential or a connection, by name. */
export async function modulesNaming(
  db: Connection,
  organizationId: string,
  named: NamedBySettings,
): Promise<Pick<ModuleRow, 'id' | 'name' | 'provider'>[]> {
  return db
    .selectFrom('registry_module')
    .select(['id', 'name', 'provider'])
    .where('organization_id', '=', organizationId)
    .where('is_deleted', '=', false)
    .where(settingsName(named, 'sshkeys'))
    .orderBy('name')
    .orderBy('provider')
    .execute();
}

/** Deleted ones too. */
export const getModule = rowById('registry_module');

export const lockModule = lockById('registry_module');

/** Home of a module. */
export const moduleHome = homeOf('registry_module');
