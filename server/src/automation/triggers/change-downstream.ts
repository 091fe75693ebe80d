/** Changes which environments are deployed after another one. */

import { mostDownstream } from '#contract/triggers/operations.ts';
import type { DownstreamEnvironment } from '#contract/triggers/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, pointerTo } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import {
  type EnvironmentRow,
  getEnvironmentRow,
  getEnvironmentRows,
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import {
  deleteDownstream,
  edgesBelow,
  insertDownstream,
  listDownstreamRows,
  lockDownstream,
} from '../../rows/triggers/downstream-store.ts';
import { recordEnvironmentEvent } from '../../runs/feeds/organization-events.ts';
import { listDownstream } from './downstream-view.ts';
import { findCycle } from './find-cycle.ts';

const fieldOf = (place: number) => `body.downstreamEnvironmentIds.${place}`;

const unknownEnvironment = (field: string) =>
  badField(field, 'does not match an environment of the same project that you have access to');

interface RequestedEnvironment {
  readonly field: string;
  readonly row: EnvironmentRow;
}

/**
 * The environments of a request that do not follow yet.
 * @throws Refusal 400 for an id that the organization does not have, 403 for one that the caller may not see
 */
async function findNamed(
  context: ActorContext,
  upstream: EnvironmentRow,
  named: readonly string[],
  now: readonly string[],
): Promise<RequestedEnvironment[]> {
  const others = named.flatMap((id, place) => (now.includes(id) ? [] : [{ id, field: fieldOf(place) }]));
  const rows = await getEnvironmentRows(context.db, others.map(({ id }) => id).filter(isUuid));
  return others.map(({ id, field }) => {
    const row = rows.find((each) => each.id === id);
    if (row?.organization_id !== upstream.organization_id) throw unknownEnvironment(field);
    requireRight(context.actor, inEnvironment(row), 'VIEW_ENVIRONMENT', pointerTo(field));
    return { field, row };
  });
}

/** @throws Refusal 400 for what cannot follow, 403 for what the caller must not deploy */
function checkAdded(
  { actor }: ActorContext,
  upstream: EnvironmentRow,
  added: readonly RequestedEnvironment[],
): void {
  for (const { field, row } of added) {
    if (row.id === upstream.id)
      throw badField(field, 'is the environment itself: its deployments would never end');
    if (row.project_id !== upstream.project_id) throw unknownEnvironment(field);
    requireRight(actor, inEnvironment(row), 'RUN_APPLY', pointerTo(field));
  }
}

/** The cycle in words; of environments that the caller must not see, only their existence is mentioned. */
async function inWords(context: ActorContext, ids: readonly string[]): Promise<string> {
  const rows = await getEnvironmentRows(context.db, ids);
  return ids
    .map((id) => {
      const row = rows.find((each) => each.id === id);
      return row && context.actor.access.has('VIEW_ENVIRONMENT', inEnvironment(row))
        ? `"${row.name}"`
        : 'another environment';
    })
    .join(' → ');
}

/** @throws Refusal 400 */
async function checkCycle(
  context: ActorContext,
  upstream: EnvironmentRow,
  named: readonly string[],
  added: readonly string[],
): Promise<void> {
  const cycle = findCycle(upstream.id, added, await edgesBelow(context.db, added));
  if (cycle === null) return;
  throw badField(
    fieldOf(named.indexOf(cycle[1] ?? '')),
    `makes a cycle, in which deployments would never end: ${await inWords(context, cycle)}`,
  );
}

/** Followers after a request, computed from the current ones. */
type DownstreamChange = (now: readonly string[]) => readonly string[];

async function change(
  context: ActorContext,
  id: string,
  named: readonly string[],
  after: DownstreamChange,
): Promise<LockedEnvironment> {
  // Before the environment: who stores another one after this one holds both in the same order.
  const before = await getEnvironmentRow(context.db, id);
  if (before) await lockDownstream(context.db, before.organization_id);
  const upstream = await requireEnvironment(context, id);
  const now = (await listDownstreamRows(context.db, id)).map((row) => row.downstream_id);
  const wanted = [...new Set(after(now))];
  const added = wanted.filter((each) => !now.includes(each));
  const removed = now.filter((each) => !wanted.includes(each));
  if (wanted.length > mostDownstream)
    throw badField('body.downstreamEnvironmentIds', `makes more than ${mostDownstream} in total`);
  const found = await findNamed(context, upstream, named, now);
  if (added.length + removed.length === 0) return upstream;
  checkAdded(
    context,
    upstream,
    found.filter(({ row }) => added.includes(row.id)),
  );
  await checkCycle(context, upstream, named, added);
  await deleteDownstream(context.db, id, removed);
  await insertDownstream(context.db, id, added, { userId: context.actor.userId, at: context.now() });
  const updated = await updateEnvironmentRow(context.db, upstream, { has_downstream: wanted.length > 0 });
  await recordEnvironmentAudit(
    context,
    upstream,
    'environment.downstreamChanged',
    { added, removed },
    changesOf({ downstreamEnvironmentIds: now }, { downstreamEnvironmentIds: wanted }),
  );
  await recordEnvironmentEvent(context, updated, 'updated');
  return updated;
}

/** The right was checked on the environment. @throws Refusal 400 that names the field, 403 */
export async function changeDownstream(
  context: ActorContext,
  id: string,
  named: readonly string[],
  after: DownstreamChange,
): Promise<DownstreamEnvironment[]> {
  return inTransaction(context, async (context) => {
    await change(context, id, named, after);
    return listDownstream(context, id);
  });
}
