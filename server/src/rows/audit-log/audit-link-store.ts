/** SQL of the chains of the audit trail. */
import { type Selectable, sql } from 'kysely';
import type { AuditLink } from '#contract/audit/chain.ts';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { AuditEventTable, AuditHeadTable, AuditLinkTable } from '../schema.ts';
import type { Progress } from './columns.ts';

export type LinkRow = Selectable<AuditLinkTable>;
export type EventRow = Selectable<AuditEventTable>;
export type HeadRow = Selectable<AuditHeadTable>;

/** Of all chains together. */
export const rootChain = 'root';

/** Ids of transactions: the oldest that is open, and the next one. */
export async function openTransactions(db: Connection): Promise<{ oldest: string; next: string }> {
  const { rows } = await sql<{ oldest: string; next: string }>`
    select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next
    from pg_current_snapshot() s`.execute(db);
  return rows[0] as { oldest: string; next: string };
}

const findUnlinked = statement<{ number: number }>(`
  select e.number from audit_event e
  where e.number > $1 and not exists (select from audit_link l where l.event_number = e.number)
  union all
  select e.number from unnest($2::bigint[], $3::bigint[]) gap (first, last)
  join audit_event e on e.number between gap.first and gap.last
  where not exists (select from audit_link l where l.event_number = e.number)
  order by number limit $4`);

/** Numbers of entries that are not linked yet, in their order. */
export async function unlinkedNumbers(
  db: Connection,
  { upTo, gaps }: Pick<Progress, 'upTo' | 'gaps'>,
  limit: number,
): Promise<number[]> {
  const first = gaps.map(({ from }) => from);
  const last = gaps.map(({ to }) => to);
  const rows = await findUnlinked(db, upTo, first, last, limit);
  return rows.map(({ number }) => Number(number));
}

export async function getEvents(db: Connection, numbers: readonly number[]): Promise<EventRow[]> {
  if (numbers.length === 0) return [];
  return db
    .selectFrom('audit_event')
    .selectAll()
    .where('number', '=', sql<number>`any(${[...numbers]}::bigint[])`)
    .orderBy('number')
    .execute();
}

/** Those of some ids that entries have which are linked. */
export async function linkedIds(db: Connection, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('audit_link')
    .select('event_id')
    .where('event_id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
  return new Set(rows.map((row) => row.event_id));
}

/** @param isWaiting false: undefined as well while another server has it */
export async function lockHead(
  tx: Connection,
  chain: string,
  isWaiting: boolean,
): Promise<HeadRow | undefined> {
  return tx
    .selectFrom('audit_head')
    .selectAll()
    .where('chain', '=', chain)
    .forUpdate()
    .$if(!isWaiting, (query) => query.skipLocked())
    .executeTakeFirst();
}

export async function getHead(db: Connection, chain: string): Promise<HeadRow | undefined> {
  return db.selectFrom('audit_head').selectAll().where('chain', '=', chain).executeTakeFirst();
}

export async function listHeads(db: Connection): Promise<HeadRow[]> {
  return db.selectFrom('audit_head').selectAll().orderBy('chain').execute();
}

/** Stores a head, unless there is one. */
export async function insertHead(
  tx: Connection,
  head: Omit<HeadRow, 'progress'> & { readonly progress: Progress | null },
): Promise<void> {
  await tx
    .insertInto('audit_head')
    .values({ ...head, progress: head.progress && JSON.stringify(head.progress) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function putHeads(
  tx: Connection,
  heads: readonly (Omit<HeadRow, 'progress'> & { readonly progress: Progress | null })[],
): Promise<void> {
  await tx
    .insertInto('audit_head')
    .values(heads.map((head) => ({ ...head, progress: head.progress && JSON.stringify(head.progress) })))
    .onConflict((conflict) =>
      conflict.column('chain').doUpdateSet((eb) => ({
        number: eb.ref('excluded.number'),
        hash: eb.ref('excluded.hash'),
        mac: eb.ref('excluded.mac'),
        progress: eb.ref('excluded.progress'),
      })),
    )
    .execute();
}

export async function insertLinks(tx: Connection, links: readonly LinkRow[]): Promise<void> {
  if (links.length > 0)
    await tx
      .insertInto('audit_link')
      .values([...links])
      .execute();
}

/** The last link of a chain as it is stored, or of all of them. */
export async function lastLink(db: Connection, chain: string): Promise<LinkRow | undefined> {
  const query = db.selectFrom('audit_link').selectAll().limit(1);
  return chain === rootChain
    ? query.orderBy('position', 'desc').executeTakeFirst()
    : query.where('chain', '=', chain).orderBy('number', 'desc').executeTakeFirst();
}

/** A link with what it links; the entry is null where it is gone. */
export type LinkedRow = LinkRow & { readonly event: EventRow | null };

/** Links of a chain in their order. @param after their numbers are higher @param to and not higher than this */
export async function linksAfter(
  db: Connection,
  chain: string,
  { after, to, limit }: { readonly after: number; readonly to: number; readonly limit: number },
): Promise<LinkedRow[]> {
  const links = await db
    .selectFrom('audit_link')
    .selectAll()
    .where('chain', '=', chain)
    .where('number', '>', after)
    .where('number', '<=', to)
    .orderBy('number')
    .limit(limit)
    .execute();
  return withEvents(db, links);
}

async function withEvents(db: Connection, links: readonly LinkRow[]): Promise<LinkedRow[]> {
  const events = await getEvents(
    db,
    links.map((link) => link.event_number),
  );
  const byNumber = new Map(events.map((event) => [event.number, event]));
  return links.map((link) => ({ ...link, event: byNumber.get(link.event_number) ?? null }));
}

/** Positions of all links in their order: what the root is made of. */
export async function positionsAfter(
  db: Connection,
  { after, to, limit }: { readonly after: number; readonly to: number; readonly limit: number },
): Promise<Pick<LinkRow, 'position' | 'hash' | 'root_hash'>[]> {
  return db
    .selectFrom('audit_link')
    .select(['position', 'hash', 'root_hash'])
    .where('position', '>', after)
    .where('position', '<=', to)
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** Chains that have links. */
export async function listChains(db: Connection): Promise<string[]> {
  const rows = await db.selectFrom('audit_link').select('chain').distinct().orderBy('chain').execute();
  return rows.map(({ chain }) => chain);
}

const findLost = statement<{ number: number; id: string }>(`
  select e.number, e.id from audit_event e
  where ($1::text is null or coalesce(e.organization_id::text, 'installation') = $1)
    and (e.at < $2 or e.number <= $3)
    and not exists (select from audit_link l where l.event_number = e.number)
    and not exists (
      select from unnest($4::bigint[], $5::bigint[]) gap (first, last) where e.number between first and last)
  order by e.number limit $6`);

/**
 * Entries that should have been linked long ago: they are no longer linked.
 * @param chain null: of all chains
 */
export async function lostEntries(
  db: Connection,
  chain: string | null,
  { before, progress, limit }: { readonly before: Date; readonly progress: Progress; readonly limit: number },
): Promise<{ number: number; id: string }[]> {
  const first = progress.gaps.map(({ from }) => from);
  const last = progress.gaps.map(({ to }) => to);
  return findLost(db, chain, before, progress.upTo, first, last, limit);
}

/** The number that has a hash in a chain. */
export async function numberOfHash(db: Connection, chain: string, hash: Buffer): Promise<number | undefined> {
  const row = await db
    .selectFrom('audit_link')
    .select('number')
    .where('chain', '=', chain)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row?.number;
}

/** A link as the interface shows it. */
export function linkView(row: LinkRow): AuditLink {
  return {
    number: row.number,
    previousHash: row.previous_hash.toString('hex'),
    contentHash: row.content_hash.toString('hex'),
    hash: row.hash.toString('hex'),
  };
}

export async function getLinkOfEntry(db: Connection, id: string): Promise<LinkRow | undefined> {
  return db.selectFrom('audit_link').selectAll().where('event_id', '=', id).executeTakeFirst();
}

/** Filters of a list of entries. */
export interface LinkFilter {
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly entity?: string | undefined;
  readonly entityId?: string | undefined;
  readonly projectId?: string | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Not included. */
  readonly to?: Date | undefined;
  /** Only lower numbers. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Links of a chain, newest first. */
export async function listLinks(db: Connection, chain: string, filter: LinkFilter): Promise<LinkedRow[]> {
  const { actorId, action, entity, entityId, projectId, from, to, before, limit } = filter;
  const equal = { actor_id: actorId, action, entity, entity_id: entityId, project_id: projectId } as const;
  let query = db.selectFrom('audit_link').selectAll().where('chain', '=', chain);
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) query = query.where(column as keyof typeof equal, '=', value);
  if (from) query = query.where('at', '>=', from);
  if (to) query = query.where('at', '<', to);
  if (before !== undefined) query = query.where('number', '<', before);
  return withEvents(db, await query.orderBy('number', 'desc').limit(limit).execute());
}

/** First and last number of the entries of a time; undefined where there is none. */
export async function numbersBetween(
  db: Connection,
  chain: string,
  { from, to }: Pick<LinkFilter, 'from' | 'to'>,
): Promise<{ first: number; last: number } | undefined> {
  let query = db.selectFrom('audit_link').where('chain', '=', chain);
  if (from) query = query.where('at', '>=', from);
  if (to) query = query.where('at', '<', to);
  const { first, last } = await query
    .select((eb) => [eb.fn.min('number').as('first'), eb.fn.max('number').as('last')])
    .executeTakeFirstOrThrow();
  return first === null || last === null ? undefined : { first: Number(first), last: Number(last) };
}
