/** SQL of what is deployed after what. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { DownstreamTable } from '../schema.ts';

export type DownstreamRow = Selectable<DownstreamTable>;

/** Followers of an environment, oldest first. */
export const listDownstreamRows = rowsWhere('downstream', 'upstream_id', 'created_at', 'downstream_id');

/** Until the end of the transaction, no other transaction of the organization changes what follows what. */
export async function lockDownstream(tx: Connection, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`downstream ${organizationId}`}, 0))`.execute(tx);
}

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Everything that follows some environments, directly or through others. */
export async function edgesBelow(tx: Connection, ids: readonly string[]): Promise<Edge[]> {
  const { rows } = await sql<Edge>`
    with recursive below (upstream_id, downstream_id) as (
      select upstream_id, downstream_id from downstream where upstream_id = any(${[...ids]}::uuid[])
      union
      select d.upstream_id, d.downstream_id from downstream d join below b on d.upstream_id = b.downstream_id
    )
    select upstream_id as "from", downstream_id as "to" from below`.execute(tx);
  return rows;
}

/** Adds what does not follow yet. */
export async function insertDownstream(
  tx: Connection,
  upstreamId: string,
  ids: readonly string[],
  by: { readonly userId: string; readonly at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const row = (id: string) => ({
    upstream_id: upstreamId,
    downstream_id: id,
    created_by: by.userId,
    created_at: by.at,
  });
  await tx
    .insertInto('downstream')
    .values(ids.map(row))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteDownstream(
  tx: Connection,
  upstreamId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .deleteFrom('downstream')
    .where('upstream_id', '=', upstreamId)
    .where('downstream_id', 'in', [...ids])
    .execute();
}

/** The result of a deployment upstream. */
export async function setLastTrigger(
  tx: Connection,
  { upstream_id, downstream_id }: Pick<DownstreamRow, 'upstream_id' | 'downstream_id'>,
  last: Pick<DownstreamRow, 'last_at' | 'last_cause_id' | 'last_deployment_id' | 'last_reason'>,
): Promise<void> {
  await tx
    .updateTable('downstream')
    .set(last)
    .where('upstream_id', '=', upstream_id)
    .where('downstream_id', '=', downstream_id)
    .execute();
}
