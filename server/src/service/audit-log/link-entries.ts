/**
 * Links entries to their chains, after their transactions have committed: these never wait for each other's
 * entries. One server at a time does it.
 */
import {
  chainOf,
  contentText,
  installationChain,
  linkHash,
  sha256,
  zeroHash,
} from '#contract/audit/chain.ts';
import { contentOf, isEntryMac } from '../../framework/audit/audit-content.ts';
import { storeAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { afterCommit, inTransaction } from '../../ground/database/transaction.ts';
import {
  type EventRow,
  getEvents,
  getHead,
  type HeadRow,
  insertHead,
  insertLinks,
  type LinkRow,
  lastLink,
  linkedIds,
  lockHead,
  openTransactions,
  putHeads,
  rootChain,
  unlinkedNumbers,
} from '../../rows/audit-log/audit-link-store.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';
import { headMac, isHead } from './head-mac.ts';
import { advance, noProgress } from './linking-progress.ts';

const atOnce = 500;

/** The end of a chain: what the next link follows. */
interface ChainEnd {
  readonly number: number;
  readonly hash: Buffer;
}

const start: ChainEnd = { number: 0, hash: Buffer.from(zeroHash, 'hex') };

/** The last root head that this server has seen: it only grows. */
const seenOf = perServer((): { last?: ChainEnd } => ({}));

/**
 * Only once it is committed: what a lost commit takes with it would otherwise be missed as if it had been
 * removed.
 */
function remember(context: Context, root: ChainEnd): void {
  const known = seenOf(context);
  afterCommit(context.db, () => {
    known.last = root;
  });
}

/** The hash of the root: it covers the links of all chains. */
export function rootHash(position: number, previous: Buffer, hash: Buffer): Buffer {
  return Buffer.from(sha256(`${position} ${previous.toString('hex')} ${hash.toString('hex')}`), 'hex');
}

/** Something that only a change from outside explains: recorded, logged, and linked with the next pass. */
async function recordBreak(context: Context, chain: string, details: Record<string, unknown>): Promise<void> {
  context.log.error({ chain, ...details }, 'the audit trail was changed from outside');
  await storeAudit(context, {
    organizationId: null,
    action: 'audit.broken',
    entity: 'auditChain',
    entityId: chain,
    details,
  });
}

/**
 * Continuation of a chain. The head decides, whatever the links contain: a chain whose end was removed
 * has a gap then, which stays.
 */
async function endOf(context: Context, chain: string, head: HeadRow | undefined): Promise<ChainEnd> {
  if (head && isHead(context.auditKeys.mac, head)) return head;
  const link = await lastLink(context.db, chain);
  if (!head && !link) return start;
  await recordBreak(context, chain, {
    reason: head ? 'the head is not the one that the service stored' : 'the head was removed',
    ...(head ? { headNumber: head.number } : {}),
  });
  if (!link) return start;
  return chain === rootChain
    ? { number: link.position, hash: link.root_hash }
    : { number: link.number, hash: link.hash };
}

/** A root that is behind what this server has seen was replaced by an older one. */
async function checkGrowth(context: Context, root: ChainEnd): Promise<void> {
  const seen = seenOf(context).last;
  remember(context, root);
  if (seen && seen.number > root.number)
    await recordBreak(context, rootChain, {
      reason: 'the trail was replaced by an older one',
      seen: seen.number,
      found: root.number,
    });
}

function warnOfForeign(context: Context, events: readonly EventRow[]): void {
  for (const event of events)
    if (!isEntryMac(context.auditKeys.mac, contentText(contentOf(event)), event.mac))
      context.log.error(
        { auditEventId: event.id },
        'an entry of the audit trail was not written by this service',
      );
}

/** Entries whose ids no other entry has: a copy of an entry is never linked, and verification finds it. */
async function withoutCopies(context: Context, events: readonly EventRow[]): Promise<EventRow[]> {
  const known = await linkedIds(
    context.db,
    events.map(({ id }) => id),
  );
  return events.filter(({ id }) => {
    const isCopy = known.has(id);
    if (isCopy) context.log.error({ auditEventId: id }, 'an entry of the audit trail is there twice');
    known.add(id);
    return !isCopy;
  });
}

class Chains {
  readonly #context: Context;
  readonly #ends = new Map<string, ChainEnd>();
  readonly links: LinkRow[] = [];
  #root: ChainEnd;

  constructor(context: Context, root: ChainEnd) {
    this.#context = context;
    this.#root = root;
  }

  get root(): ChainEnd {
    return this.#root;
  }

  /** The chains that have new links, with their new ends. */
  get ends(): ReadonlyMap<string, ChainEnd> {
    return this.#ends;
  }

  async add(event: EventRow): Promise<void> {
    const chain = chainOf(event.organization_id);
    const end = this.#ends.get(chain) ?? (await this.#endOf(chain));
    const number = end.number + 1;
    const previousHash = end.hash.toString('hex');
    const contentHash = sha256(contentText(contentOf(event)));
    const hash = Buffer.from(linkHash(chain, { number, previousHash, contentHash }), 'hex');
    const position = this.#root.number + 1;
    const root = rootHash(position, this.#root.hash, hash);
    this.#ends.set(chain, { number, hash });
    this.#root = { number: position, hash: root };
    const { at, actor_id, action, entity, entity_id, project_id } = event;
    this.links.push({
      position,
      root_hash: root,
      chain,
      number,
      previous_hash: end.hash,
      content_hash: Buffer.from(contentHash, 'hex'),
      hash,
      event_number: event.number,
      event_id: event.id,
      ...{ at, actor_id, action, entity, entity_id, project_id },
    });
  }

  async #endOf(chain: string): Promise<ChainEnd> {
    return endOf(this.#context, chain, await getHead(this.#context.db, chain));
  }
}

async function beginRoot(context: Context): Promise<void> {
  if (await lastLink(context.db, rootChain)) return;
  const head = { chain: rootChain, number: 0, hash: start.hash, progress: noProgress };
  await insertHead(context.db, { ...head, mac: headMac(context.auditKeys.mac, head) });
}

/** Lets trails that are open show the new entries: the links stand, whatever becomes of this. */
async function tellReaders(context: Context, chains: ReadonlySet<string>): Promise<void> {
  for (const id of chains)
    if (id !== installationChain)
      await inTransaction(context, (context) =>
        recordChange(context, {
          organizationId: id,
          projectId: null,
          environmentId: null,
          entity: 'auditTrail',
          id,
        }),
      ).catch((error: unknown) =>
        context.log.warn({ err: error, chain: id }, 'open audit trails do not show new entries'),
      );
}

/** @param linked gets the chains that have new links. @returns whether there may be more */
async function linkSome(context: Context, isWaiting: boolean, linked: Set<string>): Promise<boolean> {
  return inTransaction(context, async (context) => {
    const { db, auditKeys, now } = context;
    let head = await lockHead(db, rootChain, isWaiting);
    if (!head && !(await getHead(db, rootChain))) {
      await beginRoot(context);
      head = await lockHead(db, rootChain, isWaiting);
      if (!head && (await lastLink(db, rootChain)) === undefined) return false;
    } else if (!head) return false;
    const root = await endOf(context, rootChain, head);
    await checkGrowth(context, root);
    const progress = head?.progress ?? noProgress;
    const { oldest } = await openTransactions(db);
    const numbers = await unlinkedNumbers(db, progress, atOnce);
    const { next } = await openTransactions(db);
    const events = await getEvents(db, numbers);
    const isComplete = numbers.length < atOnce;
    const seen = { numbers, isComplete, now: now().getTime(), oldestOpen: oldest, next };
    const advanced = advance(progress, seen);
    if (head && events.length === 0 && advanced.gaps.length === progress.gaps.length) return false;
    warnOfForeign(context, events);
    const chains = new Chains(context, root);
    for (const event of await withoutCopies(context, events)) await chains.add(event);
    await insertLinks(db, chains.links);
    const heads = [
      { chain: rootChain, ...chains.root, progress: advanced },
      ...[...chains.ends].map(([chain, end]) => ({ chain, ...end, progress: null })),
    ];
    await putHeads(
      db,
      heads.map((each) => ({ ...each, mac: headMac(auditKeys.mac, each) })),
    );
    remember(context, chains.root);
    for (const chain of chains.ends.keys()) linked.add(chain);
    return !isComplete;
  });
}

/** Whether there is nothing to do, which is the usual case and costs two reads. */
async function isIdle(context: Context): Promise<boolean> {
  const head = await getHead(context.db, rootChain);
  if (!head?.progress || head.progress.gaps.length > 0 || !isHead(context.auditKeys.mac, head)) return false;
  const seen = seenOf(context).last;
  if (seen && seen.number > head.number) return false;
  return (await unlinkedNumbers(context.db, head.progress, 1)).length === 0;
}

/**
 * Links what is not linked yet.
 * @param isWaiting false: not while another server does it
 */
export async function linkEntries(context: Context, isWaiting = false): Promise<void> {
  if (await isIdle(context)) return;
  const linked = new Set<string>();
  while (await linkSome(context, isWaiting, linked));
  await tellReaders(context, linked);
}
