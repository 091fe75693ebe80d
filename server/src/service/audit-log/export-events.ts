/**
 * The audit trail as JSON lines, in the order of the chain. What is added while an export runs is in it or after
 * it, never in between: an export that was cut continues after its last line.
 */
import { once } from 'node:events';
import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { Context } from '../../framework/context.ts';
import { hijackReply } from '../../framework/http/replies/headers.ts';
import type { Wire } from '../../framework/http/route.ts';
import { getHead, linksAfter, numbersBetween } from '../../rows/audit-log/audit-link-store.ts';
import { linkEntries } from './link-entries.ts';
import { exportedView, numberOfEntry, timeOf } from './list-events.ts';

const atOnce = 500;
/** Interval between checks of the caller's right while an export runs. */
const recheckMilliseconds = 15_000;
/** A reader that is stalled for this long is disconnected. */
const longestPauseMilliseconds = 60_000;

export type ExportQuery = QueryOf<(typeof operations)['exportInstallationAuditEvents']>;

interface Range {
  readonly after: number;
  readonly to: number;
}

async function rangeOf(context: Context, chain: string, query: ExportQuery): Promise<Range> {
  const { db } = context;
  const offset = query.offset ? await numberOfEntry(db, chain, query.offset) : 0;
  await linkEntries(context, true);
  const head = (await getHead(db, chain))?.number ?? 0;
  const [from, to] = [timeOf(query.from), timeOf(query.to)];
  if (!from && !to) return { after: offset, to: head };
  const numbers = await numbersBetween(db, chain, { from, to });
  if (!numbers) return { after: 0, to: 0 };
  return { after: Math.max(offset, numbers.first - 1), to: to ? numbers.last : head };
}

/**
 * Sends the export. The right was checked.
 * @throws Refusal 400 before the first byte
 */
export async function exportEvents(
  context: Context,
  chain: string,
  query: ExportQuery,
  { reply, checkAgain }: Wire,
): Promise<void> {
  const range = await rangeOf(context, chain, query);
  const response = hijackReply(reply, {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-store',
  });
  let { after } = range;
  let checkedAt = Date.now();
  try {
    while (after < range.to && !response.destroyed) {
      const rows = await linksAfter(context.db, chain, { after, to: range.to, limit: atOnce });
      if (rows.length === 0) break;
      const lines = rows.map((row) => (row.event ? `${JSON.stringify(exportedView(row.event, row))}\n` : ''));
      if (!response.write(lines.join('')))
        await once(response, 'drain', { signal: AbortSignal.timeout(longestPauseMilliseconds) });
      after = rows.at(-1)?.number ?? range.to;
      if (Date.now() - checkedAt < recheckMilliseconds) continue;
      await checkAgain();
      checkedAt = Date.now();
    }
    response.end();
  } catch (error) {
    // Cut, so that it is not taken for complete.
    context.log.warn({ err: error }, 'export of the audit trail was cut');
    response.destroy();
  }
}
