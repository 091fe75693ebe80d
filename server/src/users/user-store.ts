/** SQL of users and API keys. Some keys act as users of their own. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Connection } from '../context.ts';
import { statement } from '../database/prepared.ts';
import type { ApiKeyTable, AppUserTable } from '../database/schema.ts';
import { accessVersionsOf, membershipsOf } from '../organizations/organization-store.ts';

export type UserRow = Selectable<AppUserTable>;

/** @returns users by id; ids that nobody has are missing */
export async function getUsers(db: Connection, ids: readonly string[]): Promise<Map<string, UserRow>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const rows = await db.selectFrom('app_user').selectAll().where('id', 'in', unique).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** A user, unless one has this id already. */
export async function insertUser(
  tx: Connection,
  user: { readonly id: string; readonly name: string; readonly isApiKey: boolean },
): Promise<void> {
  await tx
    .insertInto('app_user')
    .values({ id: user.id, name: user.name, email: '', is_api_key: user.isApiKey })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function hasApiKey(db: Connection): Promise<boolean> {
  const row = await db.selectFrom('api_key').select('id').limit(1).executeTakeFirst();
  return row !== undefined;
}

/** The first key of an installation, which is a user of its own. */
export async function insertBootstrapKey(
  tx: Connection,
  key: { readonly id: string; readonly name: string; readonly secretHmac: Buffer },
): Promise<void> {
  await tx
    .insertInto('api_key')
    .values({
      id: key.id,
      name: key.name,
      user_id: key.id,
      secret_hmac: key.secretHmac,
      is_bootstrap: true,
    })
    .execute();
}

/**
 * Whether a user operates the installation: it is the user of its first key. Rights in an organization, even
 * all of them, do not make anybody the operator.
 */
export async function isOperator(db: Connection, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('api_key')
    .select('id')
    .where('user_id', '=', userId)
    .where('is_bootstrap', '=', true)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** What identifies the caller of a request: an API key, and the user it acts as. */
export type FoundKey = Pick<
  Selectable<ApiKeyTable>,
  | 'secret_hmac'
  | 'secret_id'
  | 'secret_used_at'
  | 'second_secret_hmac'
  | 'second_secret_id'
  | 'second_secret_used_at'
  | 'expires_at'
  | 'networks'
> & {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
  readonly access_versions: string;
};

function keyStatement(db: Connection): (db: Connection, id: string) => Promise<FoundKey[]> {
  const { sql: text } = db
    .selectFrom('api_key')
    .innerJoin('app_user', 'app_user.id', 'api_key.user_id')
    .select((eb) => [
      'api_key.secret_hmac',
      'api_key.secret_id',
      'api_key.secret_used_at',
      'api_key.second_secret_hmac',
      'api_key.second_secret_id',
      'api_key.second_secret_used_at',
      'api_key.expires_at',
      'api_key.networks',
      'app_user.id as user_id',
      'app_user.name',
      'app_user.email',
      accessVersionsOf(eb.ref('app_user.id')).as('access_versions'),
    ])
    .where('api_key.id', '=', '')
    .where(sql<boolean>`not app_user.is_blocked and app_user.deleted_at is null`)
    .compile();
  return statement<FoundKey>(text);
}

let findKey: ReturnType<typeof keyStatement> | undefined;

/** An API key and the user it acts as; keys of blocked and deleted users are not found. */
export async function findApiKey(db: Connection, id: string): Promise<FoundKey | undefined> {
  // Every request asks this: the text is made once.
  findKey ??= keyStatement(db);
  const [row] = await findKey(db, id);
  return row;
}

/** What is known of a caller before its rights. */
export interface Caller {
  readonly name: string;
  readonly email: string;
  readonly accessVersions: string;
}

/** A user who may sign in: a column of a statement about sessions; null for one that is blocked or deleted. */
export function callerOf(userId: Expression<string>): RawBuilder<Caller | null> {
  return sql`(select jsonb_build_object('name', app_user.name, 'email', app_user.email,
      'accessVersions', ${accessVersionsOf(sql.ref('app_user.id'))})
    from app_user where app_user.id = ${userId} and not app_user.is_blocked and app_user.deleted_at is null)`;
}

/** Of a secret, and of its key. */
export async function storeLastUse(db: Connection, keyId: string, secretId: string, at: Date): Promise<void> {
  const useOf = (id: 'secret_id' | 'second_secret_id', used: 'secret_used_at' | 'second_secret_used_at') =>
    sql<Date>`case when ${sql.ref(id)} = ${secretId} then ${at} else ${sql.ref(used)} end`;
  await db
    .updateTable('api_key')
    .set({
      last_used_at: at,
      secret_used_at: useOf('secret_id', 'secret_used_at'),
      second_secret_used_at: useOf('second_secret_id', 'second_secret_used_at'),
    })
    .where('id', '=', keyId)
    .execute();
}

/**
 * Whose credentials somebody tried.
 * @param id of a key, or of a user who signs in with a password
 */
export async function ownerOfCredentials(
  db: Connection,
  id: string,
): Promise<{ entity: 'apiKey' | 'user'; organizationIds: string[] }> {
  const key = await findApiKey(db, id);
  const memberships = await membershipsOf(db, key?.user_id ?? id);
  const organizationIds = memberships.map((row) => row.organization_id);
  return { entity: key ? 'apiKey' : 'user', organizationIds };
}

/** Ends the keys that belong to a person. */
export async function deleteKeysOf(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('api_key').where('user_id', '=', userId).execute();
}
