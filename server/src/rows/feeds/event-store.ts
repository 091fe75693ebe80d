/** SQL of the events of deployments and organizations. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { DeploymentEventTable } from '../schema.ts';

/** Events that a reader of a deployment may not have yet. */
export interface StreamNews {
  readonly events: readonly Pick<Selectable<DeploymentEventTable>, 'number' | 'name' | 'data'>[];
  /** All steps, in their order, with the lengths of their logs. */
  readonly steps: readonly { readonly id: string; readonly name: string; readonly log_bytes: number }[];
}

const selectNews = statement<StreamNews>(`
  select
    (select coalesce(json_agg(e order by number), '[]') from (
      select number, name, data from deployment_event
      where deployment_id = $1 and number > $2 and name = any($3::text[]) order by number limit $4) e) as events,
    (select coalesce(json_agg(s order by position), '[]') from (
      select id, name, log_bytes, position from deployment_step where deployment_id = $1) s) as steps`);

/** Events of a deployment after a number, in their order, and its steps. @param names only events of these names */
export async function readStreamNews(
  db: Connection,
  deploymentId: string,
  after: number,
  { names, limit }: { readonly names: readonly string[]; readonly limit: number },
): Promise<StreamNews> {
  const [news] = await selectNews(db, deploymentId, after, names, limit);
  return news ?? { events: [], steps: [] };
}

/** Events of a deployment after a number, in their order. @param names only events of these names */
export async function listDeploymentEvents(
  db: Connection,
  deploymentId: string,
  after: number,
  { names, limit }: { readonly names: readonly string[]; readonly limit: number },
): Promise<Pick<Selectable<DeploymentEventTable>, 'number' | 'name' | 'data'>[]> {
  return db
    .selectFrom('deployment_event')
    .select(['number', 'name', 'data'])
    .where('deployment_id', '=', deploymentId)
    .where('number', '>', after)
    .where('name', 'in', [...names])
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Number of the event that ends a deployment, if it has ended. */
export async function endEventNumber(db: Connection, deploymentId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('deployment_event')
    .select('number')
    .where('deployment_id', '=', deploymentId)
    .where('name', '=', 'end')
    .executeTakeFirst();
  return row?.number;
}

/** Readers of events wait for each portion. */
const mostDeletedAtOnce = 10_000;

/** Deletes a portion of the events before a time. @returns whether there may be more */
export async function deleteOrganizationEvents(db: Connection, before: Date): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from organization_event where ctid = any(array(
      select ctid from organization_event where at < ${before} limit ${mostDeletedAtOnce}))`.execute(db);
  return Number(numAffectedRows) === mostDeletedAtOnce;
}

/** The oldest transaction that is still open: all events of earlier ones are settled. */
export async function oldestOpenTransaction(db: Connection): Promise<bigint> {
  const { rows } = await sql<{
    transaction: string;
  }>`select pg_snapshot_xmin(pg_current_snapshot())::text as transaction`.execute(db);
  return BigInt(rows[0]?.transaction ?? '0');
}

/** An event of an organization; it is settled when no transaction can add one before it any more. */
export interface OrganizationEventRow {
  readonly transaction: string;
  readonly number: string;
  readonly project_id: string | null;
  readonly name: string;
  readonly data: unknown;
  readonly at: Date;
  readonly is_settled: boolean;
}

/**
 * Events of an organization after a transaction and number, in their order: that of the columns. A bare name would
 * mean the text that is selected, where "10" comes before "9".
 */
export async function listOrganizationEvents(
  db: Connection,
  organizationId: string,
  after: { readonly transaction: bigint; readonly number: bigint },
  limit: number,
): Promise<OrganizationEventRow[]> {
  const { rows } = await sql<OrganizationEventRow>`
    select e.transaction::text, e.number::text, e.project_id, e.name, e.data, e.at,
      e.transaction < pg_snapshot_xmin(pg_current_snapshot()) as is_settled
    from organization_event e
    where e.organization_id = ${organizationId}
      and (e.transaction, e.number) > (${after.transaction.toString()}::text::xid8, ${after.number.toString()}::bigint)
    order by e.transaction, e.number limit ${limit}`.execute(db);
  return rows;
}

/** The channel on which readers of a deployment are woken. */
export function deploymentChannel(deploymentId: string): string {
  return `deployment:${deploymentId}`;
}

export interface NewEvent {
  /** One of the contract's event names, or one that only our own records have. */
  readonly name: string;
  readonly data: unknown;
}
