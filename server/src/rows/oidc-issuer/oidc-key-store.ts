/** SQL of the keys that sign the tokens of runs. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { OidcKeyTable } from '../schema.ts';

export type OidcKeyRow = Selectable<OidcKeyTable>;

const rotationLock = 719_034_056;

/** Only one server at a time decides about keys, until the end of its transaction. */
export async function lockRotation(tx: Connection): Promise<void> {
  await sql`select pg_advisory_xact_lock(${rotationLock})`.execute(tx);
}

/** The key that signs last comes first. */
export async function listKeyRows(db: Connection): Promise<OidcKeyRow[]> {
  return db.selectFrom('oidc_key').selectAll().orderBy('signs_from', 'desc').orderBy('id', 'desc').execute();
}

export async function insertKeyRow(
  tx: Connection,
  row: Omit<OidcKeyRow, 'public_key'> & { readonly public_key: object },
): Promise<void> {
  await tx
    .insertInto('oidc_key')
    .values({ ...row, public_key: JSON.stringify(row.public_key) })
    .execute();
}

export async function deleteKeyRows(tx: Connection, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await tx
      .deleteFrom('oidc_key')
      .where('id', 'in', [...ids])
      .execute();
}
