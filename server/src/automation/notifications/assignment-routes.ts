/** Operations on what each project tells which endpoint. */
import type { NotificationAssignment } from '#contract/notifications/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { notFound } from '../../ground/errors.ts';
import {
  deleteAssignment,
  getAssignment,
  listAssignments,
  type NotificationAssignmentRow,
  putAssignment,
} from '../../rows/notifications/assignment-store.ts';
import { lockEndpoint } from '../../rows/notifications/endpoint-store.ts';
import { holdProjectRow } from '../../rows/projects/project-store.ts';
import { creatorsOf, getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { tellAssignments } from './notified-organizations.ts';

async function views(
  { db }: Pick<ActorContext, 'db'>,
  rows: readonly NotificationAssignmentRow[],
): Promise<NotificationAssignment[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => ({
    id: row.id,
    notificationEndpointId: row.endpoint_id,
    eventNames: row.event_names,
    createdBy: row.created_by,
    createdByUser: userOf(users, row.created_by),
  }));
}

interface EndpointAssignment {
  readonly projectId: string;
  readonly endpointId: string;
  readonly eventNames: NotificationAssignment['eventNames'];
}

/** @throws Refusal 404 for an endpoint of another organization */
async function assign(context: ActorContext, wanted: EndpointAssignment): Promise<NotificationAssignment> {
  const { projectId, endpointId } = wanted;
  const eventNames = [...new Set(wanted.eventNames)];
  const { db } = context;
  const project = await holdProjectRow(db, projectId);
  const endpoint = await lockEndpoint(db, endpointId);
  if (!project) throw notFound('project', projectId);
  if (endpoint?.organization_id !== project.organization_id)
    throw notFound('notification endpoint', endpointId);
  const before = await getAssignment(db, project.id, endpoint.id);
  const place = { organizationId: project.organization_id, projectId: project.id, endpointId: endpoint.id };
  const isRemoved = eventNames.length === 0;
  if (isRemoved && before) await deleteAssignment(db, before);
  const row = isRemoved ? null : await putAssignment(db, context, place, eventNames);
  await tellAssignments(context);
  await recordAudit(context, {
    organizationId: project.organization_id,
    projectId: project.id,
    action: row ? 'notificationEndpoint.assigned' : 'notificationEndpoint.unassigned',
    entityId: endpoint.id,
    details: { name: endpoint.name, eventNames },
    ...changesOf({ eventNames: before?.event_names.toSorted() ?? [] }, { eventNames: eventNames.toSorted() }),
  });
  const users = await getUsers(db, [context.actor.userId]);
  const [view] = row ? await views(context, [row]) : [];
  return (
    view ?? {
      id: before?.id ?? endpoint.id,
      notificationEndpointId: endpoint.id,
      eventNames: [],
      createdBy: context.actor.userId,
      createdByUser: userOf(users, context.actor.userId),
    }
  );
}

export const assignmentRoutes: Route[] = [
  route(operations.listNotificationAssignments, async (context, { params }) =>
    views(context, await listAssignments(context.db, params.projectId)),
  ),
  route(operations.assignNotificationEndpoint, (context, { params, body }) =>
    inTransaction(context, (context) => assign(context, { ...params, ...body })),
  ),
];
