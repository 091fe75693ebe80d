/** SQL of deliveries: the outbox of notifications, and the log of what was sent. */
import { type Selectable, sql } from 'kysely';
import type { DeliveryStatus, NotificationEvent } from '#contract/notifications/events.ts';
import type {
  NotificationError,
  NotificationRequest,
  NotificationResponse,
} from '#contract/notifications/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import { storable } from '../../ground/database/storable.ts';
import { homeOf, rowById, rowsWhere } from '../row-queries.ts';
import type { NotificationAttemptTable, NotificationDeliveryTable } from '../schema.ts';
import type { EventFacts } from './stored-facts.ts';

export type DeliveryRow = Selectable<NotificationDeliveryTable>;
export type NotificationAttemptRow = Selectable<NotificationAttemptTable>;

export interface NewDeliveries {
  readonly eventId: string;
  readonly event: NotificationEvent;
  readonly organizationId: string;
  readonly projectId: string;
  readonly facts: EventFacts;
  readonly at: Date;
  readonly giveUpAt: Date;
  /** By the id of each delivery. */
  readonly endpoints: ReadonlyMap<string, string>;
}

export async function insertDeliveries(tx: Connection, made: NewDeliveries): Promise<void> {
  const { environment, deployment } = made.facts;
  const facts = JSON.stringify(made.facts);
  await tx
    .insertInto('notification_delivery')
    .values(
      [...made.endpoints].map(([id, endpointId]) => ({
        id,
        event_id: made.eventId,
        endpoint_id: endpointId,
        organization_id: made.organizationId,
        project_id: made.projectId,
        environment_id: environment?.id ?? null,
        deployment_id: deployment?.id ?? null,
        event_name: made.event,
        facts,
        status: 'waiting' as const,
        created_at: made.at,
        due_at: made.at,
        give_up_at: made.giveUpAt,
      })),
    )
    .execute();
}

/** An endpoint with deliveries that wait. */
export interface WaitingEndpoint {
  readonly id: string;
  readonly organization_id: string;
  readonly failures: number;
  /** When the next one may be sent. */
  readonly ready_at: Date;
}

/**
 * The endpoints with deliveries that wait, whatever their number: each costs two steps in the index.
 */
export async function waitingEndpoints(db: Connection): Promise<WaitingEndpoint[]> {
  const { rows } = await sql<WaitingEndpoint>`
    with recursive waiting (endpoint_id) as (
      (select endpoint_id from notification_delivery where status = 'waiting' order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from notification_delivery d
        where d.status = 'waiting' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
      from waiting w where w.endpoint_id is not null
    )
    select e.id, e.organization_id, e.failures,
      greatest(e.paused_until, (select d.due_at from notification_delivery d
        where d.endpoint_id = e.id and d.status = 'waiting' order by d.due_at limit 1)) as ready_at
    from waiting w join notification_endpoint e on e.id = w.endpoint_id`.execute(db);
  return rows.toSorted((a, b) => a.ready_at.getTime() - b.ready_at.getTime());
}

/**
 * Takes deliveries of an endpoint, oldest first, for as long as `leasedUntil`: a server that dies leaves them due.
 */
export async function takeDeliveries(
  db: Connection,
  endpointId: string,
  { most, now, leasedUntil }: { most: number; now: Date; leasedUntil: Date },
): Promise<DeliveryRow[]> {
  return db
    .updateTable('notification_delivery')
    .set({ due_at: leasedUntil, attempts: sql<number>`attempts + 1` })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('notification_delivery')
        .select('id')
        .where('endpoint_id', '=', endpointId)
        .where('status', '=', 'waiting')
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .orderBy('id')
        .limit(most)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute();
}

/** Puts deliveries back that were taken and not begun. */
export async function putBack(db: Connection, ids: readonly string[], dueAt: Date): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('notification_delivery')
    .set({ due_at: dueAt, attempts: sql<number>`attempts - 1` })
    .where('id', 'in', [...ids])
    .where('status', '=', 'waiting')
    .execute();
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly status: DeliveryStatus;
  /** While it waits: when it is tried again. */
  readonly dueAt: Date;
  readonly startedAt: Date;
  readonly durationMilliseconds: number;
  readonly request: NotificationRequest | null;
  readonly response: NotificationResponse | null;
  readonly error: NotificationError | null;
  /** Recipients of an e-mail who got it, by this attempt or an earlier one. */
  readonly deliveredTo: readonly string[];
}

/** Whatever a mail server or an endpoint says can be stored: what is not stored would be sent again. */
function jsonOf(value: object | null): string | null {
  return (
    value && JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each))
  );
}

export async function storeAttempt(
  tx: Connection,
  { id, attempts }: DeliveryRow,
  ended: AttemptResult,
  now: Date,
) {
  const updated = await tx
    .updateTable('notification_delivery')
    .set({
      status: ended.status,
      due_at: ended.dueAt,
      finished_at: ended.status === 'waiting' ? null : now,
      last_error: ended.error && storable(ended.error.message),
      last_request: jsonOf(ended.request),
      ...(ended.deliveredTo.length === 0 ? {} : { delivered_to: [...ended.deliveredTo] }),
    })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  // Its endpoint was deleted in the meantime.
  if (!updated) return;
  await tx
    .insertInto('notification_attempt')
    .values({
      delivery_id: id,
      number: attempts,
      started_at: ended.startedAt,
      duration_ms: ended.durationMilliseconds,
      response: jsonOf(ended.response),
      error: jsonOf(ended.error),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Ends what was tried for long enough. @returns how many */
export async function giveUpDeliveries(db: Connection, now: Date): Promise<number> {
  const result = await db
    .updateTable('notification_delivery')
    .set({
      status: 'failed',
      finished_at: now,
      last_error: sql<string>`coalesce(last_error, 'The endpoint was not reached in time')`,
    })
    .where('status', '=', 'waiting')
    .where('give_up_at', '<=', now)
    .where('due_at', '<=', now)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Removes what ended before a time, some at once. @returns how many */
export async function deleteOldDeliveries(db: Connection, before: Date, most: number): Promise<number> {
  const result = await db
    .deleteFrom('notification_delivery')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('notification_delivery')
        .select('id')
        .where('status', '<>', 'waiting')
        .where('created_at', '<', before)
        .limit(most),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly eventName?: NotificationEvent | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Only those before this one. */
  readonly offset?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listDeliveries(
  db: Connection,
  organizationId: string,
  { endpointId, projectId, environmentId, eventName, status, offset, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  let query = db
    .selectFrom('notification_delivery')
    .selectAll()
    .where('organization_id', '=', organizationId);
  if (endpointId !== undefined) query = query.where('endpoint_id', '=', endpointId);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (environmentId !== undefined) query = query.where('environment_id', '=', environmentId);
  if (eventName !== undefined) query = query.where('event_name', '=', eventName);
  if (status !== undefined) query = query.where('status', '=', status);
  if (offset !== undefined) query = query.where('id', '<', offset);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

export const getDelivery = rowById('notification_delivery');

export const listAttempts = rowsWhere('notification_attempt', 'delivery_id', 'number');

/** It waits again, from now on, for all recipients. */
export async function restartDelivery(
  tx: Connection,
  id: string,
  { now, giveUpAt }: { now: Date; giveUpAt: Date },
): Promise<DeliveryRow | undefined> {
  return tx
    .updateTable('notification_delivery')
    .set({ status: 'waiting', due_at: now, give_up_at: giveUpAt, finished_at: null, delivered_to: null })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Home of a delivery. */
export const deliveryHome = homeOf('notification_delivery');

/** Wakes those that deliver. */
export const deliveriesChannel = 'notification-deliveries';
