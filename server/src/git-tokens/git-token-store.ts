/** SQL of tokens for repositories and registries; a value is opened for runs only. */
import type { Selectable } from 'kysely';
import type { TokenType } from '#contract/git-tokens/operations.ts';
import { homeById, isUuid } from '../access/entity-home.ts';
import type { ActorContext, Connection, Context } from '../context.ts';
import type { GitTokenTable } from '../database/schema.ts';

export type GitTokenRow = Selectable<GitTokenTable>;

function association(id: string) {
  return { table: 'git_token', row: id, field: 'sealed_value' };
}

/** @returns the row, or undefined where the organization already has a token of that name */
export async function insertToken(
  tx: Connection,
  context: ActorContext,
  token: { organizationId: string; name: string; value: string; type: TokenType; hosts: string[] },
): Promise<GitTokenRow | undefined> {
  const id = context.newId();
  return tx
    .insertInto('git_token')
    .values({
      id,
      organization_id: token.organizationId,
      name: token.name,
      type: token.type,
      hosts: token.hosts,
      sealed_value: context.sealer.seal(token.value, association(id)),
      created_by: context.actor.userId,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** @param type absent: tokens of all types */
export async function listTokens(
  db: Connection,
  organizationId: string,
  type?: TokenType,
): Promise<GitTokenRow[]> {
  return db
    .selectFrom('git_token')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? 'GIT'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export async function getToken(db: Connection, id: string): Promise<GitTokenRow | undefined> {
  return db.selectFrom('git_token').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function lockToken(tx: Connection, id: string): Promise<void> {
  await tx.selectFrom('git_token').select('id').where('id', '=', id).forUpdate().execute();
}

export async function deleteToken(tx: Connection, id: string): Promise<void> {
  await tx.deleteFrom('git_token').where('id', '=', id).execute();
}

/** A token for repositories; undefined where the organization has no such token. */
export async function getRepositoryToken(
  db: Connection,
  organizationId: string,
  id: string,
): Promise<GitTokenRow | undefined> {
  const row = isUuid(id) ? await getToken(db, id) : undefined;
  return row?.organization_id === organizationId && row.type === 'GIT' ? row : undefined;
}

/** Whether a token may be sent to the host of a repository: one without hosts may be sent to all. */
export function isTokenFor({ hosts }: Pick<GitTokenRow, 'hosts'>, repository: string): boolean {
  const host = URL.parse(repository)?.host;
  return hosts.length === 0 || (host !== undefined && hosts.includes(host));
}

export function openToken({ sealer }: Pick<Context, 'sealer'>, row: GitTokenRow): string {
  return sealer.open(row.sealed_value, association(row.id)).toString('utf8');
}

/** Where a git token lives. */
export const gitTokenHome = homeById((db, id) =>
  db.selectFrom('git_token').select('organization_id').where('id', '=', id).executeTakeFirst(),
);
