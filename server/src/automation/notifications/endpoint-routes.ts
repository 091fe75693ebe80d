/** Operations on notification endpoints. */
import type { EndpointChange } from '#contract/notifications/operations.ts';
import type { NotificationEndpoint } from '#contract/notifications/shapes.ts';
import { operations } from '#contract/operations.ts';
import { joinWarnings, warningHeader } from '#contract/schema/warning-header.ts';
import { type Changes, changesOf, sealedFingerprint } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { type Route, route, type Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound } from '../../ground/errors.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import { deliveriesChannel } from '../../rows/notifications/delivery-store.ts';
import {
  deleteEndpoint,
  type EndpointContent,
  type EndpointRow,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  openSecret,
  openValue,
  replaceEndpoint,
} from '../../rows/notifications/endpoint-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { sendNotification } from './delivery/send-notification.ts';
import { checkEndpoint, endpointProblem } from './endpoints/check-endpoint.ts';
import { testNotification } from './messages/notification.ts';
import { tellAssignments } from './notified-organizations.ts';

/**
 * Endpoints as replies have them.
 * The value is shown only to users who may change it: anyone who knows an address of Slack or Teams can post there.
 */
async function endpointViews(
  context: ActorContext,
  rows: readonly EndpointRow[],
): Promise<NotificationEndpoint[]> {
  const { access } = context.actor;
  const users = await creatorsOf(context.db, rows);
  return rows.map((row) => {
    const problem = endpointProblem(context.settings, row.type);
    const isShown = access.has('EDIT_ORGANIZATION_SETTINGS', inOrganization(row.organization_id));
    return {
      id: row.id,
      organizationId: row.organization_id,
      name: row.name,
      type: row.type,
      value: isShown ? openValue(context, row) : sensitiveMask,
      hasWebhookSecret: row.sealed_webhook_secret !== null,
      ...(problem === null ? {} : { problem }),
      createdBy: row.created_by,
      createdByUser: userOf(users, row.created_by),
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
    };
  });
}

async function endpointView(context: ActorContext, row: EndpointRow): Promise<NotificationEndpoint> {
  const [view] = await endpointViews(context, [row]);
  if (!view) throw new Error(`Endpoint ${row.id} has no view`);
  return view;
}

/** For the audit trail: secrets as fingerprints. */
function audited(context: Pick<Context, 'auditKeys' | 'sealer'>, row: EndpointRow) {
  const place = `notification endpoint of ${row.organization_id}`;
  return {
    name: row.name,
    type: row.type,
    value: sealedFingerprint(context, place, () => openValue(context, row)),
    webhookSecret: sealedFingerprint(context, place, () => openSecret(context, row)),
  };
}

const words = 'notification endpoint';

function nameTaken(name: string) {
  return conflict(`A notification endpoint named "${name}" already exists: choose another name`);
}

async function audit(
  context: ActorContext,
  row: EndpointRow,
  action: string,
  changes: Changes,
): Promise<void> {
  await recordAudit(context, {
    organizationId: row.organization_id,
    action: `notificationEndpoint.${action}`,
    entityId: row.id,
    details: { name: row.name, type: row.type },
    ...changes,
  });
}

/** New settings of an endpoint: a secret stays until it is removed, or the endpoint no longer signs anything. */
function changed(context: ActorContext, row: EndpointRow, change: EndpointChange): EndpointContent {
  const { name = row.name, type = row.type, value = openValue(context, row) } = change;
  const kept = type === 'Webhook' ? openSecret(context, row) : null;
  const { webhookSecret = kept } = change;
  return { name, type, value, webhookSecret };
}

async function updateEndpoint(
  context: ActorContext,
  id: string,
  change: EndpointChange,
): Promise<EndpointRow> {
  return inTransaction(context, async (context) => {
    const before = orNotFound(await lockEndpoint(context.db, id), words, id);
    const content = changed(context, before, change);
    checkEndpoint(context.settings, content.type, content.value, content.webhookSecret);
    const row = await replaceEndpoint(context.db, context, before, content);
    if (!row) throw nameTaken(content.name);
    await audit(context, row, 'updated', changesOf(audited(context, before), audited(context, row)));
    await context.events.publish(context.db, deliveriesChannel);
    return row;
  });
}

/** Not stored: the caller sees what was sent and answered. */
async function testEndpoint(context: ActorContext, id: string) {
  const row = orNotFound(await getEndpoint(context.db, id), words, id);
  const notification = await testNotification(context, row.organization_id);
  const startedAt = context.now();
  const sent = await sendNotification(context, row, notification, context.stopping);
  const durationMilliseconds = Math.max(0, context.now().getTime() - startedAt.getTime());
  await inTransaction(context, (context) => audit(context, row, 'tested', {}));
  const { response, error } = sent;
  const request = sent.request ?? { method: 'POST', address: '', headers: {}, body: '' };
  return { request, response, error, durationMilliseconds };
}

/** An endpoint that was stored, with a warning if nothing can be sent to it. */
async function storedView(context: ActorContext, row: EndpointRow, { reply }: Wire) {
  const view = await endpointView(context, row);
  if (view.problem !== undefined)
    reply.header(warningHeader, joinWarnings([`${view.problem}: deliveries fail until it is.`]));
  return view;
}

export const endpointRoutes: Route[] = [
  route(operations.listNotificationEndpoints, async (context, { query }) =>
    endpointViews(context, await listEndpoints(context.db, query.organizationId)),
  ),
  route(operations.createNotificationEndpoint, async (context, { body }, wire) => {
    const { organizationId, name, type, value, webhookSecret = null } = body;
    checkEndpoint(context.settings, type, value, webhookSecret);
    const row = await inTransaction(context, async (context) => {
      const content = { name, type, value, webhookSecret };
      const row = await insertEndpoint(context.db, context, organizationId, content);
      if (!row) throw nameTaken(name);
      await audit(context, row, 'created', changesOf(null, audited(context, row)));
      return row;
    });
    return storedView(context, row, wire);
  }),
  route(operations.getNotificationEndpoint, async (context, { params: { id } }) =>
    endpointView(context, orNotFound(await getEndpoint(context.db, id), words, id)),
  ),
  route(operations.updateNotificationEndpoint, async (context, { params, body }, wire) =>
    storedView(context, await updateEndpoint(context, params.id, body), wire),
  ),
  route(operations.deleteNotificationEndpoint, (context, { params }) =>
    inTransaction(context, async (context) => {
      const row = orNotFound(await lockEndpoint(context.db, params.id), words, params.id);
      await deleteEndpoint(context.db, row.id);
      await tellAssignments(context);
      await audit(context, row, 'deleted', changesOf(audited(context, row), null));
      return null;
    }),
  ),
  route(operations.testNotificationEndpoint, (context, { params }) => testEndpoint(context, params.id)),
];
