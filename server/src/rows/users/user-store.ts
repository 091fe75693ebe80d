/** SQL of users and API keys. Some keys act as users of their own. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import { accessVersionsOf, joinAccessVersions, membershipsOf } from '../organizations/organization-store.ts';
import type { ApiKeyTable, AppUserTable } from '../schema.ts';

export type UserRow = Selectable<AppUserTable>;

/** @returns users by id; unknown ids are missing */
export async function getUsers(db: Connection, ids: readonly string[]): Promise<Map<string, UserRow>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const rows = await db.selectFrom('app_user').selectAll().where('id', 'in', unique).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The users who created rows, by id. */
export function creatorsOf(
  db: Connection,
  rows: readonly { readonly created_by: string | null }[],
): Promise<Map<string, UserRow>> {
  return getUsers(
    db,
    rows.flatMap((row) => row.created_by ?? []),
  );
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

/** Identity of the caller of a request: an API key, and the user it acts as. */
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
};

/** Tells whether anything that identifies a caller has changed. */
export interface KeyStamp {
  /** Another one after each change of the row of the key or of its user. */
  readonly stamp: string;
  /** As `accessVersionsOf` writes them. */
  readonly accessVersions: string;
}

function keysOfUsers(db: Connection) {
  return db
    .selectFrom('api_key')
    .innerJoin('app_user', 'app_user.id', 'api_key.user_id')
    .where(sql<boolean>`not app_user.is_blocked and app_user.deleted_at is null`);
}

interface StampRow {
  readonly key_version: string;
  readonly user_version: string;
  readonly organization_id: string | null;
  readonly access_version: string | null;
}

// Every request asks this: a row for each organization is faster than one with all of them. Every change of a
// row gives it another xmin, the transaction that wrote it.
const findStamp = statement<StampRow>(`
  select api_key.xmin::text as key_version, app_user.xmin::text as user_version,
    organization.id as organization_id, organization.access_version::text
  from api_key join app_user on app_user.id = api_key.user_id
    ${joinAccessVersions('api_key.user_id')}
  where api_key.id = $1 and not app_user.is_blocked and app_user.deleted_at is null
  order by organization.id`);

/** The stamp of an API key; keys of blocked and deleted users have none. */
export async function findKeyStamp(db: Connection, id: string): Promise<KeyStamp | undefined> {
  const rows = await findStamp(db, id);
  const [row] = rows;
  if (!row) return undefined;
  const accessVersions = rows
    .filter((each) => each.organization_id !== null)
    .map((each) => `${each.organization_id} ${each.access_version}`)
    .join();
  return { stamp: `${row.key_version} ${row.user_version}`, accessVersions };
}

/** An API key and the user it acts as; keys of blocked and deleted users are not found. */
export async function findApiKey(db: Connection, id: string): Promise<FoundKey | undefined> {
  return keysOfUsers(db)
    .select([
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
    ])
    .where('api_key.id', '=', id)
    .executeTakeFirst();
}

/** Facts about a caller before its rights. */
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
 * Owner of credentials that were tried.
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

/**
 * The users that count as one with each of some users, as a column of a statement: the user, and for a key of an
 * organization also the one who made it. A JSON object of lists by user; null for no users.
 * @param users an array of ids; null among them counts as no user
 */
export function peopleBehind(users: RawBuilder<unknown>): RawBuilder<Record<string, string[]> | null> {
  return sql<Record<string, string[]> | null>`(
    with recursive behind (root, id) as (
      select root, root from unnest(${users}) as root where root is not null
      union
      select behind.root, made.created_by from behind join app_user made on made.id = behind.id
      where made.is_api_key and made.created_by is not null
    )
    select jsonb_object_agg(root, ids) from (select root, jsonb_agg(id) as ids from behind group by root) as each)`;
}

/** The user in the audit trail for what the service does automatically (sweeps, timers). */
export const systemUserId = 'envarium';
