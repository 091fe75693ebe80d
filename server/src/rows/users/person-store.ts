/** SQL of people: users that sign in, found by their e-mail in any spelling of upper and lower case. */
import { sql, type Updateable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { AppUserTable } from '../schema.ts';
import type { UserRow } from './user-store.ts';

export async function findPersonByEmail(db: Connection, email: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('app_user')
    .selectAll()
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .where('is_api_key', '=', false)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** A person, unless the e-mail is already in use. @returns the person */
export async function insertPerson(
  tx: Connection,
  person: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly createdBy: string | null;
    readonly isEmailVerified: boolean;
  },
): Promise<UserRow> {
  await tx
    .insertInto('app_user')
    .values({
      id: person.id,
      email: person.email,
      name: person.name,
      created_by: person.createdBy,
      is_email_verified: person.isEmailVerified,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await findPersonByEmail(tx, person.email);
  if (!row) throw new Error('A person that was stored is not found');
  return row;
}

/** A user that is not deleted. */
export async function getPerson(db: Connection, id: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('app_user')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The same, locked until the transaction ends. */
export async function lockPerson(tx: Connection, id: string): Promise<UserRow | undefined> {
  return tx
    .selectFrom('app_user')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function updatePerson(
  tx: Connection,
  id: string,
  changes: Updateable<AppUserTable>,
): Promise<void> {
  await tx.updateTable('app_user').set(changes).where('id', '=', id).execute();
}
