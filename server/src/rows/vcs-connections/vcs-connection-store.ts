/** SQL of connections to forges. */
import type { Selectable } from 'kysely';
import type { VcsConnectionType } from '#contract/vcs-connections/connection-types.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { deleteById, homeOf, lockById, rowById, rowsOfOrganization } from '../row-queries.ts';
import type { VcsConnectionTable } from '../schema.ts';

export type VcsConnectionRow = Selectable<VcsConnectionTable>;

export interface NewVcsConnection {
  readonly organizationId: string;
  readonly name: string;
  readonly type: VcsConnectionType;
  readonly url: string;
  readonly vcsAgentKey: string;
  readonly accessScope: string;
  readonly connectionType: string;
  readonly tokenId: string | null;
}

/** @returns the row, or undefined where the organization already has a connection of that name */
export async function insertConnection(
  tx: Connection,
  context: ActorContext,
  connection: NewVcsConnection,
): Promise<VcsConnectionRow | undefined> {
  return tx
    .insertInto('vcs_connection')
    .values({
      id: context.newId(),
      organization_id: connection.organizationId,
      name: connection.name,
      type: connection.type,
      url: connection.url,
      vcs_agent_key: connection.vcsAgentKey,
      access_scope: connection.accessScope,
      connection_type: connection.connectionType,
      token_id: connection.tokenId,
      created_by: context.actor.userId,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Omitted columns are unchanged.
 * @returns the row; undefined where the organization has another connection of that name
 */
export async function updateConnection(
  tx: Connection,
  id: string,
  changes: Partial<Pick<VcsConnectionRow, 'name' | 'vcs_agent_key' | 'token_id'>> & {
    readonly updated_at: Date;
  },
): Promise<VcsConnectionRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('vcs_connection')
      .set(changes)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

export const listConnections = rowsOfOrganization('vcs_connection');

/** @returns undefined for what is not an id, too */
export const getConnection = rowById('vcs_connection');

export const lockConnection = lockById('vcs_connection');

export const deleteConnection = deleteById('vcs_connection');

/** Connections that have a token. */
export async function connectionsWithToken(
  db: Connection,
  tokenId: string,
): Promise<Pick<VcsConnectionRow, 'id' | 'name'>[]> {
  return db
    .selectFrom('vcs_connection')
    .select(['id', 'name'])
    .where('token_id', '=', tokenId)
    .orderBy('name')
    .execute();
}

/**
 * The token of a connection for a repository.
 * @returns null if the organization does not have the connection, it has no token, or the repository is on another
 * host
 */
export async function tokenIdOf(
  db: Connection,
  { organizationId }: { readonly organizationId: string },
  connectionId: string,
  repository: string,
): Promise<string | null> {
  const row = await getConnection(db, connectionId);
  if (row?.organization_id !== organizationId) return null;
  const origin = URL.parse(repository)?.origin;
  return origin !== undefined && origin === URL.parse(row.url)?.origin ? row.token_id : null;
}

/** Home of a connection. */
export const connectionHome = homeOf('vcs_connection');
