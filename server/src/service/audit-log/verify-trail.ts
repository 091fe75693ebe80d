/** Verifies the audit trail: what it says against its chain, and the chain against its head. */
import { chainOf, contentText } from '#contract/audit/chain.ts';
import type { AuditVerification } from '#contract/audit/shapes.ts';
import { type AuditFinding, ChainWalk } from '#contract/audit/verify.ts';
import { contentOf, isEntryMac } from '../../framework/audit/audit-content.ts';
import type { Context } from '../../framework/context.ts';
import {
  getHead,
  type HeadRow,
  type LinkedRow,
  linksAfter,
  linkView,
  listChains,
  listHeads,
  lostEntries,
  numberOfHash,
  positionsAfter,
  rootChain,
} from '../../rows/audit-log/audit-link-store.ts';
import type { Progress } from '../../rows/audit-log/columns.ts';
import { isHead } from './head-mac.ts';
import { rootHash } from './link-entries.ts';
import { noProgress } from './linking-progress.ts';

const atOnce = 500;
const mostFindings = 1000;
/** Entries that are older have been linked, unless this is prevented. */
const lateSeconds = 60;

type VerifiedHead = AuditVerification['heads'][number];

/** Findings of one verification. */
class Report {
  readonly #findings: AuditVerification['findings'] = [];
  readonly heads: VerifiedHead[] = [];
  entries = 0;
  #count = 0;

  add(chain: string, found: readonly AuditFinding[]): void {
    this.#count += found.length;
    for (const finding of found)
      if (this.#findings.length < mostFindings) this.#findings.push({ chain, ...finding });
  }

  reply(now: Date): AuditVerification {
    return {
      isIntact: this.#count === 0,
      checkedAt: now.toISOString(),
      entries: this.entries,
      findings: this.#findings,
      findingCount: this.#count,
      heads: this.heads,
    };
  }
}

/** Columns of a link that lists filter by. */
const copied = ['id', 'at', 'actor_id', 'action', 'entity', 'entity_id', 'project_id'] as const;

function isCopyWrong(row: LinkedRow): boolean {
  const { event } = row;
  if (event === null) return false;
  const link = { ...row, id: row.event_id };
  const isOther = chainOf(event.organization_id) !== row.chain;
  return isOther || copied.some((column) => String(link[column]) !== String(event[column]));
}

/** Facts outside of the hashes: the author of an entry, and whether lists find it. */
function* findingsOf(context: Context, row: LinkedRow): Generator<AuditFinding> {
  const { event, number, event_id: entryId } = row;
  if (event === null) return;
  const about = { number, entryId };
  if (!isEntryMac(context.auditKeys.mac, contentText(contentOf(event)), event.mac))
    yield { kind: 'entryForged', ...about, text: `Entry ${number} is not as the service wrote it` };
  if (isCopyWrong(row))
    yield { kind: 'linkChanged', ...about, text: `Lists do not show entry ${number} where it belongs` };
  if (event.action === 'audit.broken')
    yield {
      kind: 'breakRecorded',
      ...about,
      text: `The service found at ${event.at.toISOString()} that ${String(event.details['reason'])}`,
    };
}

/** The end of a chain as it was found, against its head. */
function* compareHead(
  context: Context,
  head: HeadRow | undefined,
  last: { readonly number: number; readonly hash: string } | null,
): Generator<AuditFinding> {
  const reached = last?.number ?? 0;
  if (!head) {
    if (reached > 0) yield { kind: 'headChanged', text: 'The head of the chain was removed' };
    return;
  }
  if (!isHead(context.auditKeys.mac, head))
    yield { kind: 'headChanged', text: 'The head of the chain is not the one that the service stored' };
  else if (reached < head.number)
    yield {
      kind: 'endRemoved',
      number: reached + 1,
      text: `Entries ${reached + 1} to ${head.number} were removed with their links`,
    };
  else if (last?.hash !== head.hash.toString('hex'))
    yield { kind: 'linkChanged', number: reached, text: `Entry ${reached} is not the one of the head` };
}

async function verifyChain(context: Context, chain: string, report: Report): Promise<void> {
  // Before the links: those that are added in the meantime come after it.
  const head = await getHead(context.db, chain);
  const walk = new ChainWalk(chain, false);
  const to = head && isHead(context.auditKeys.mac, head) ? head.number : Number.MAX_SAFE_INTEGER;
  for (let after = 0; ; ) {
    const rows = await linksAfter(context.db, chain, { after, to, limit: atOnce });
    for (const row of rows) {
      report.add(chain, walk.next(linkView(row), row.event && contentOf(row.event), row.event_id));
      report.add(chain, [...findingsOf(context, row)]);
      report.entries++;
    }
    after = rows.at(-1)?.number ?? to;
    if (rows.length < atOnce) break;
  }
  const { last } = walk;
  report.add(chain, [...compareHead(context, head, last)]);
  if (last && last.number > 0) report.heads.push({ chain, ...last });
}

/** The hashes of all links in the order in which they were made: none of the chains is missing. */
async function verifyRoot(context: Context, root: HeadRow | undefined, report: Report): Promise<void> {
  const isOurs = root !== undefined && isHead(context.auditKeys.mac, root);
  const to = isOurs ? root.number : Number.MAX_SAFE_INTEGER;
  let last: { number: number; hash: Buffer } = { number: 0, hash: Buffer.alloc(32) };
  for (;;) {
    const rows = await positionsAfter(context.db, { after: last.number, to, limit: 10 * atOnce });
    for (const { position, hash, root_hash } of rows) {
      const expected = last.number + 1;
      if (position > expected)
        report.add(rootChain, [
          {
            kind: 'linkRemoved',
            number: expected,
            text: `Links ${expected} to ${position - 1} of all chains were removed`,
          },
        ]);
      else if (!rootHash(position, last.hash, hash).equals(root_hash))
        report.add(rootChain, [
          { kind: 'linkChanged', number: position, text: `Link ${position} of all chains was changed` },
        ]);
      last = { number: position, hash: root_hash };
    }
    if (rows.length < 10 * atOnce) break;
  }
  const end = { number: last.number, hash: last.hash.toString('hex') };
  report.add(rootChain, [...compareHead(context, root, end)]);
}

async function findLost(context: Context, chain: string | null, report: Report, progress: Progress) {
  const before = new Date(context.now().getTime() - lateSeconds * 1000);
  const lost = await lostEntries(context.db, chain, { before, progress, limit: mostFindings });
  report.add(
    chain ?? rootChain,
    lost.map(({ id }) => ({
      kind: 'entryNotLinked',
      entryId: id,
      text: `Entry ${id} is in no chain: it was inserted or moved, or the service does not run`,
    })),
  );
}

async function checkKnownHead(context: Context, chains: readonly string[], known: string, report: Report) {
  const hash = Buffer.from(known, 'hex');
  for (const chain of chains) if ((await numberOfHash(context.db, chain, hash)) !== undefined) return;
  report.add(chains.length === 1 ? (chains[0] ?? rootChain) : rootChain, [
    { kind: 'headNotFound', text: `No entry has the hash ${known}: the trail that had it was replaced` },
  ]);
}

/**
 * Verifies one chain, or all of them and that none is missing.
 * @param chain null: all
 * @param known hash of an entry that must be there
 */
export async function verifyTrail(
  context: Context,
  chain: string | null,
  known: string | undefined,
): Promise<AuditVerification> {
  const { db } = context;
  const report = new Report();
  const root = await getHead(db, rootChain);
  const progress = root?.progress ?? noProgress;
  await findLost(context, chain, report, progress);
  const heads = chain === null ? (await listHeads(db)).map((head) => head.chain) : [];
  const chains =
    chain === null
      ? [...new Set([...heads.filter((each) => each !== rootChain), ...(await listChains(db))])]
      : [chain];
  for (const each of chains) await verifyChain(context, each, report);
  if (chain === null) await verifyRoot(context, root, report);
  if (known !== undefined) await checkKnownHead(context, chains, known, report);
  return report.reply(context.now());
}
