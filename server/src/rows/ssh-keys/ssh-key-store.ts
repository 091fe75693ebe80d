/** SQL of ssh keys; a value is opened for runs only. */

import { type Selectable, sql } from 'kysely';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { isUuid } from '../entity-home.ts';
import { isForProject, type ProjectPlace, type UsePlace } from '../projects/project-store.ts';
import { deleteById, homeOf, lockById, rowById, rowsOfOrganization } from '../row-queries.ts';
import type { SshKeyTable } from '../schema.ts';

export type SshKeyRow = Selectable<SshKeyTable>;

function association(id: string) {
  return { table: 'ssh_key', row: id, field: 'sealed_value' };
}

/** @returns the row, or undefined where the organization already has a key of that name */
export async function insertKey(
  tx: Connection,
  context: ActorContext,
  key: { organizationId: string; name: string; value: string; projectIds: string[] },
): Promise<SshKeyRow | undefined> {
  const id = context.newId();
  return tx
    .insertInto('ssh_key')
    .values({
      id,
      organization_id: key.organizationId,
      name: key.name,
      project_ids: key.projectIds,
      sealed_value: context.sealer.seal(key.value, association(id)),
      created_by: context.actor.userId,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Omitted fields are unchanged. */
export async function updateKey(
  tx: Connection,
  context: ActorContext,
  id: string,
  { value, projectIds }: { readonly value?: string; readonly projectIds?: string[] },
): Promise<SshKeyRow> {
  return tx
    .updateTable('ssh_key')
    .set({
      updated_at: context.now(),
      ...(value === undefined ? {} : { sealed_value: context.sealer.seal(value, association(id)) }),
      ...(projectIds === undefined ? {} : { project_ids: projectIds }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const listKeys = rowsOfOrganization('ssh_key');

export const getKey = rowById('ssh_key');

/** The private key in clear. */
export function openKey({ sealer }: Pick<Context, 'sealer'>, row: SshKeyRow): string {
  return sealer.open(row.sealed_value, association(row.id)).toString('utf8');
}

export const lockKey = lockById('ssh_key');

export const deleteKey = deleteById('ssh_key');

async function keysOf(
  db: Connection,
  { organizationId, projectId }: UsePlace,
  ids: readonly string[],
): Promise<SshKeyRow[]> {
  const known = ids.filter(isUuid);
  if (known.length === 0) return [];
  return db
    .selectFrom('ssh_key')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', known)
    .where(isForProject(sql`project_ids`, projectId))
    .execute();
}

/** @returns the first of some ids that is not that of a key which the project may use, or null */
export async function unknownKey(
  db: Connection,
  place: UsePlace,
  ids: readonly string[],
): Promise<string | null> {
  const rows = await keysOf(db, place, ids);
  return ids.find((id) => !rows.some((row) => row.id === id.toLowerCase())) ?? null;
}

/** Values in clear, in the order of the ids; keys that are gone, or not for the project, are missing. */
export async function getKeyValues(
  db: Connection,
  context: Pick<Context, 'sealer'>,
  place: ProjectPlace,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await keysOf(db, place, ids);
  return ids.flatMap((id) => {
    const row = rows.find((each) => each.id === id.toLowerCase());
    return row ? [openKey(context, row)] : [];
  });
}

/** Home of an ssh key. */
export const sshKeyHome = homeOf('ssh_key');
