/** Pages of the audit trail, newest first, as the chain has it: a page never changes while the trail grows. */

import type { AuditEvent, AuditEvents } from '#contract/audit/shapes.ts';
import type { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import { contentOf } from '../../framework/audit/audit-content.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import {
  type EventRow,
  getLinkOfEntry,
  type LinkedRow,
  linkView,
  listLinks,
} from '../../rows/audit-log/audit-link-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { linkEntries } from './link-entries.ts';

const usualLimit = 50;

export type AuditQuery = QueryOf<(typeof operations)['listInstallationAuditEvents']>;

/** An entry as it is exported: what its hash covers, without fields that have no value. */
export function exportedView(event: EventRow, link: LinkedRow): Omit<AuditEvent, 'actor'> {
  const content = Object.entries(contentOf(event)).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(content), link: linkView(link) } as Omit<AuditEvent, 'actor'>;
}

/** The number in a chain of the entry with an id. @throws Refusal 400 that names the field */
export async function numberOfEntry(db: Connection, chain: string, id: string): Promise<number> {
  const link = isUuid(id) ? await getLinkOfEntry(db, id) : undefined;
  if (link?.chain !== chain) throw badField('query.offset', 'is not the id of an entry of this trail');
  return link.number;
}

/** A time of a query; the contract has checked its form. */
export function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

/** @throws Refusal 400 for an offset that is not an entry of the chain */
export async function listEvents(context: Context, chain: string, query: AuditQuery): Promise<AuditEvents> {
  const { db } = context;
  const { from, to, offset, limit = usualLimit, projectId, ...equal } = query;
  if (projectId !== undefined && !isUuid(projectId)) return { events: [], nextPageKey: '' };
  await linkEntries(context);
  const rows = await listLinks(db, chain, {
    ...equal,
    projectId,
    from: timeOf(from),
    to: timeOf(to),
    before: offset ? await numberOfEntry(db, chain, offset) : undefined,
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const users = await getUsers(
    db,
    page.map((row) => row.actor_id),
  );
  const events = page.flatMap((row): AuditEvent[] =>
    row.event ? [{ ...exportedView(row.event, row), actor: userOf(users, row.event.actor_id) }] : [],
  );
  return { events, nextPageKey: rows.length > limit ? (page.at(-1)?.event_id ?? '') : '' };
}
