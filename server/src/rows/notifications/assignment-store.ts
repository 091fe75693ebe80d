/** SQL of which endpoints hear of which events of which projects. */
import { type Selectable, sql } from 'kysely';
import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { pathOf } from '../projects/project-store.ts';
import { rowsWhere } from '../row-queries.ts';
import type { NotificationAssignmentTable } from '../schema.ts';

export type NotificationAssignmentRow = Selectable<NotificationAssignmentTable>;

export const listAssignments = rowsWhere('notification_assignment', 'project_id', 'created_at', 'id');

export async function getAssignment(
  db: Connection,
  projectId: string,
  endpointId: string,
): Promise<NotificationAssignmentRow | undefined> {
  return db
    .selectFrom('notification_assignment')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
}

/** One that is there keeps its id and its creator. */
export async function putAssignment(
  tx: Connection,
  context: ActorContext,
  place: { readonly organizationId: string; readonly projectId: string; readonly endpointId: string },
  eventNames: readonly NotificationEvent[],
): Promise<NotificationAssignmentRow> {
  return tx
    .insertInto('notification_assignment')
    .values({
      id: context.newId(),
      endpoint_id: place.endpointId,
      organization_id: place.organizationId,
      project_id: place.projectId,
      event_names: [...eventNames],
      created_by: context.actor.userId,
      created_at: context.now(),
    })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'endpoint_id']).doUpdateSet({ event_names: [...eventNames] }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteAssignment(tx: Connection, { id }: NotificationAssignmentRow): Promise<void> {
  await tx.deleteFrom('notification_assignment').where('id', '=', id).execute();
}

/** The organizations in which anything is assigned. */
export async function organizationsWithAssignments(db: Connection): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('notification_assignment').select('organization_id').distinct().execute();
  return new Set(rows.map((row) => row.organization_id));
}

/**
 * The endpoints that hear of an event of a project: of assignments to the project and to those above it, the
 * nearest one of each endpoint counts.
 */
export async function endpointsThatHear(
  db: Connection,
  projectId: string,
  event: NotificationEvent,
): Promise<string[]> {
  const { rows } = await sql<{ endpoint_id: string }>`
    select endpoint_id from (
      select distinct on (a.endpoint_id) a.endpoint_id, a.event_names
      from notification_assignment a join ${pathOf(sql.val(projectId))} as path on path.id = a.project_id
      order by a.endpoint_id, path.place desc
    ) as nearest where ${event} = any(event_names)`.execute(db);
  return rows.map((row) => row.endpoint_id);
}
