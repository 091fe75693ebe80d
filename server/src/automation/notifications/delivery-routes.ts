/** Operations on the log of deliveries. */
import type { NotificationDelivery, NotificationRequest } from '#contract/notifications/shapes.ts';
import { operations } from '#contract/operations.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, orNotFound, unknownEntity } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { environmentHome } from '../../rows/environments/environment-store.ts';
import {
  type DeliveryRow,
  deliveriesChannel,
  getDelivery,
  listAttempts,
  listDeliveries,
  restartDelivery,
} from '../../rows/notifications/delivery-store.ts';
import {
  type EndpointRow,
  endRest,
  getEndpoint,
  getEndpoints,
} from '../../rows/notifications/endpoint-store.ts';
import { projectHome } from '../../rows/projects/project-store.ts';
import { giveUpAfter } from './record-event.ts';

const usualLimit = 50;
const words = 'notification delivery';

/** Not before the endpoint has rested. */
function nextAttempt({ due_at: dueAt }: DeliveryRow, { paused_until: rest }: EndpointRow): Date {
  return rest !== null && rest > dueAt ? rest : dueAt;
}

function view(row: DeliveryRow, endpoint: EndpointRow): NotificationDelivery {
  return {
    id: row.id,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    endpointName: endpoint.name,
    endpointType: endpoint.type,
    organizationId: row.organization_id,
    projectId: row.project_id,
    ...(row.environment_id === null ? {} : { environmentId: row.environment_id }),
    ...(row.facts.environment ? { environmentName: row.facts.environment.name } : {}),
    ...(row.deployment_id === null ? {} : { deploymentLogId: row.deployment_id }),
    eventName: row.event_name,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.created_at.toISOString(),
    ...(row.status === 'waiting' ? { nextAttemptAt: nextAttempt(row, endpoint).toISOString() } : {}),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at.toISOString() }),
    ...(row.last_error === null ? {} : { error: row.last_error }),
  };
}

async function views(
  { db }: Pick<ActorContext, 'db'>,
  rows: readonly DeliveryRow[],
): Promise<NotificationDelivery[]> {
  const endpoints = await getEndpoints(
    db,
    rows.map((row) => row.endpoint_id),
  );
  return rows.flatMap((row) => {
    const endpoint = endpoints.get(row.endpoint_id);
    return endpoint ? [view(row, endpoint)] : [];
  });
}

async function viewOf(context: Pick<ActorContext, 'db'>, row: DeliveryRow): Promise<NotificationDelivery> {
  const [found] = await views(context, [row]);
  return orNotFound(found, words, row.id);
}

type ListQuery = QueryOf<typeof operations.listNotificationDeliveries>;

/** @throws Refusal 400 for what is not in the organization */
async function checkFilters({ db }: ActorContext, { organizationId, ...query }: ListQuery): Promise<void> {
  const { endpointId, projectId, environmentId, offset } = query;
  const endpoint = endpointId ? await getEndpoint(db, endpointId) : undefined;
  const found = [
    ['endpointId', 'notification endpoint', endpointId, endpoint?.organization_id],
    ['projectId', 'project', projectId, projectId && (await projectHome(db, projectId))?.organizationId],
    [
      'environmentId',
      'environment',
      environmentId,
      environmentId && (await environmentHome(db, environmentId))?.organizationId,
    ],
  ] as const;
  for (const [name, words, id, home] of found)
    if (id && home !== organizationId.toLowerCase()) throw unknownEntity(`query.${name}`, words);
  if (offset && !isUuid(offset)) throw badField('query.offset', 'must be an id that a reply has');
}

async function list(context: ActorContext, { limit = usualLimit, ...filters }: ListQuery) {
  await checkFilters(context, filters);
  const { organizationId, ...query } = filters;
  const offset = query.offset || undefined;
  const rows = await listDeliveries(context.db, organizationId, { ...query, offset, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    deliveries: await views(context, page),
    nextPageKey: rows.length > limit ? (page.at(-1)?.id ?? '') : '',
  };
}

async function details(context: ActorContext, id: string) {
  const row = orNotFound(await getDelivery(context.db, id), words, id);
  const attempts = await listAttempts(context.db, row.id);
  const request: NotificationRequest | null = row.last_request;
  return {
    ...(await viewOf(context, row)),
    request,
    tries: attempts.map((attempt) => ({
      number: attempt.number,
      startedAt: attempt.started_at.toISOString(),
      durationMilliseconds: attempt.duration_ms,
      response: attempt.response,
      error: attempt.error,
    })),
  };
}

async function resend(context: ActorContext, id: string): Promise<NotificationDelivery> {
  const now = context.now();
  const restarted = await restartDelivery(context.db, id, { now, giveUpAt: giveUpAfter(now) });
  const row = orNotFound(restarted, words, id);
  await endRest(context.db, row.endpoint_id);
  await context.events.publish(context.db, deliveriesChannel);
  await recordAudit(context, {
    organizationId: row.organization_id,
    projectId: row.project_id,
    action: 'notificationDelivery.resent',
    entityId: row.id,
    details: { endpointId: row.endpoint_id, eventName: row.event_name },
  });
  return viewOf(context, row);
}

export const deliveryRoutes: Route[] = [
  route(operations.listNotificationDeliveries, (context, { query }) => list(context, query)),
  route(operations.getNotificationDelivery, (context, { params }) => details(context, params.id)),
  route(operations.resendNotificationDelivery, (context, { params }) =>
    inTransaction(context, (context) => resend(context, params.id)),
  ),
];
