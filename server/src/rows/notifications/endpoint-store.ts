/** SQL of notification endpoints; addresses and secrets are sealed, and opened where they are used or shown. */
import { type Selectable, sql } from 'kysely';
import type { EndpointType } from '#contract/notifications/events.ts';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { deleteById, homeOf, lockById, rowById, rowsOfOrganization } from '../row-queries.ts';
import type { NotificationEndpointTable } from '../schema.ts';

export type EndpointRow = Selectable<NotificationEndpointTable>;

/** Settings of an endpoint, with its secrets. */
export interface EndpointContent {
  readonly name: string;
  readonly type: EndpointType;
  readonly value: string;
  readonly webhookSecret: string | null;
}

const place = (row: string, field: string) => ({ table: 'notification_endpoint', row, field });

function sealed({ sealer }: Pick<Context, 'sealer'>, id: string, content: EndpointContent) {
  const { name, type, value, webhookSecret } = content;
  return {
    name,
    type,
    sealed_value: sealer.seal(value, place(id, 'sealed_value')),
    sealed_webhook_secret:
      webhookSecret === null ? null : sealer.seal(webhookSecret, place(id, 'sealed_webhook_secret')),
  };
}

export function openValue({ sealer }: Pick<Context, 'sealer'>, row: EndpointRow): string {
  return sealer.open(row.sealed_value, place(row.id, 'sealed_value')).toString('utf8');
}

export function openSecret({ sealer }: Pick<Context, 'sealer'>, row: EndpointRow): string | null {
  const { sealed_webhook_secret: secret } = row;
  return secret && sealer.open(secret, place(row.id, 'sealed_webhook_secret')).toString('utf8');
}

/** @returns undefined where the organization has an endpoint of that name */
export async function insertEndpoint(
  tx: Connection,
  context: ActorContext,
  organizationId: string,
  content: EndpointContent,
): Promise<EndpointRow | undefined> {
  const id = context.newId();
  const at = context.now();
  return tx
    .insertInto('notification_endpoint')
    .values({
      id,
      organization_id: organizationId,
      ...sealed(context, id, content),
      created_by: context.actor.userId,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Also ends the pause after failures. @returns undefined where another endpoint has the name */
export async function replaceEndpoint(
  tx: Connection,
  context: ActorContext,
  { id }: EndpointRow,
  content: EndpointContent,
): Promise<EndpointRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('notification_endpoint')
      .set({
        ...sealed(context, id, content),
        failures: 0,
        paused_until: null,
        updated_at: context.now(),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

export const listEndpoints = rowsOfOrganization('notification_endpoint');

export const getEndpoint = rowById('notification_endpoint');

export async function getEndpoints(
  db: Connection,
  ids: readonly string[],
): Promise<Map<string, EndpointRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('notification_endpoint')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export const lockEndpoint = lockById('notification_endpoint');

export const deleteEndpoint = deleteById('notification_endpoint');

/** An attempt succeeded: the endpoint is as good as new. */
export async function clearFailures(db: Connection, id: string): Promise<void> {
  await db
    .updateTable('notification_endpoint')
    .set({ failures: 0, paused_until: null })
    .where('id', '=', id)
    .where('failures', '>', 0)
    .execute();
}

/** It is tried at once, though it has failed before. */
export async function endRest(tx: Connection, id: string): Promise<void> {
  await tx.updateTable('notification_endpoint').set({ paused_until: null }).where('id', '=', id).execute();
}

/**
 * An attempt failed: the endpoint is left alone for a while.
 * @param seen the failures before the attempt: of several attempts at once, one counts
 */
export async function countFailure(
  db: Connection,
  id: string,
  seen: number,
  pausedUntil: Date,
): Promise<void> {
  await db
    .updateTable('notification_endpoint')
    .set({ failures: sql<number>`failures + 1`, paused_until: pausedUntil })
    .where('id', '=', id)
    .where('failures', '=', seen)
    .execute();
}

/** Home of an endpoint. */
export const endpointHome = homeOf('notification_endpoint');
