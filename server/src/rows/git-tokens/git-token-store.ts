/** SQL of tokens for repositories and registries; a value is opened for runs only. */

import { type Selectable, sql } from 'kysely';
import type { TokenType } from '#contract/git-tokens/operations.ts';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { isUuid } from '../entity-home.ts';
import { isForProject, type ProjectPlace, type UsePlace } from '../projects/project-store.ts';
import { deleteById, homeOf, lockById, rowById } from '../row-queries.ts';
import type { GitTokenTable } from '../schema.ts';

export type GitTokenRow = Selectable<GitTokenTable>;

function association(id: string) {
  return { table: 'git_token', row: id, field: 'sealed_value' };
}

/** @returns the row, or undefined where the organization already has a token of that name */
export async function insertToken(
  tx: Connection,
  context: ActorContext,
  token: {
    organizationId: string;
    name: string;
    value: string;
    type: TokenType;
    hosts: string[];
    projectIds: string[];
  },
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
      project_ids: token.projectIds,
      sealed_value: context.sealer.seal(token.value, association(id)),
      created_by: context.actor.userId,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Omitted fields are unchanged.
 * @returns the row; undefined where the organization has another token of that name
 */
export async function updateToken(
  tx: Connection,
  context: ActorContext,
  id: string,
  { name, value, hosts, projectIds }: UpdatedToken,
): Promise<GitTokenRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('git_token')
      .set({
        updated_at: context.now(),
        ...(name === undefined ? {} : { name }),
        ...(hosts === undefined ? {} : { hosts }),
        ...(projectIds === undefined ? {} : { project_ids: projectIds }),
        ...(value === undefined ? {} : { sealed_value: context.sealer.seal(value, association(id)) }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** Changes to a token. */
export interface UpdatedToken {
  readonly name?: string;
  readonly value?: string;
  readonly hosts?: string[];
  readonly projectIds?: string[];
}

/** The tokens that environments of a project may use, newest first. */
export async function tokensOfProject(
  db: Connection,
  { organizationId, projectId }: ProjectPlace,
): Promise<GitTokenRow[]> {
  return db
    .selectFrom('git_token')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(isForProject(sql`project_ids`, projectId))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
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

export const getToken = rowById('git_token');

export const lockToken = lockById('git_token');

export const deleteToken = deleteById('git_token');

/** A token for repositories; undefined where environments of the project may not use such a token. */
export async function getRepositoryToken(
  db: Connection,
  { organizationId, projectId }: UsePlace,
  id: string,
): Promise<GitTokenRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db
    .selectFrom('git_token')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .where('type', '=', 'GIT')
    .where(isForProject(sql`project_ids`, projectId))
    .executeTakeFirst();
}

/** Whether a token may be sent to the host of a repository: one without hosts may be sent to all. */
export function isTokenFor({ hosts }: Pick<GitTokenRow, 'hosts'>, repository: string): boolean {
  const host = URL.parse(repository)?.host;
  return hosts.length === 0 || (host !== undefined && hosts.includes(host));
}

export function openToken({ sealer }: Pick<Context, 'sealer'>, row: GitTokenRow): string {
  return sealer.open(row.sealed_value, association(row.id)).toString('utf8');
}

/** Home of a git token. */
export const gitTokenHome = homeOf('git_token');
