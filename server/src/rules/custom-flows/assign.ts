/** Assigns custom flows and approval policies to places, and takes them away again. */
import type { AssignedTemplateType } from '#contract/schema/enumerations.ts';
import { kindOf } from '../../code/templates/template-kinds.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { notFound, unknownEntity } from '../../ground/errors.ts';
import {
  assignmentsAt,
  deleteAssignments,
  type FlowAssignmentRow,
  type NewAssignment,
  putAssignment,
} from '../../rows/custom-flows/assignment-store.ts';
import { getTemplateRows, holdTemplateRow, type TemplateRow } from '../../rows/templates/template-store.ts';
import { type FlowPlace, holdPlace, requireEdit } from './assignment-places.ts';

/** Assignment in a request. */
export interface FlowTarget {
  readonly type: AssignedTemplateType;
  readonly id: string;
  /** Location of the id in the request, as `body.blueprintId`. */
  readonly field: string;
}

/**
 * A custom flow or an approval policy of the place's organization; locked until the transaction ends.
 * @throws Refusal 400 that names the field
 */
async function requireRecord(
  context: ActorContext,
  { home }: FlowPlace,
  { type, id, field }: FlowTarget,
): Promise<TemplateRow> {
  const row = await holdTemplateRow(context.db, id);
  if (row?.type !== type || row.organization_id !== home.organizationId)
    throw unknownEntity(field, kindOf(type).words);
  return row;
}

async function audit(
  context: ActorContext,
  { scope, scopeId, home }: FlowPlace,
  row: TemplateRow,
  action: 'assigned' | 'unassigned',
  { position }: FlowAssignmentRow,
): Promise<void> {
  const { entity } = kindOf(row.type);
  const order = position === null ? {} : { order: position };
  const assigned = { scope, scopeId, ...order };
  await recordAudit(context, {
    organizationId: home.organizationId,
    projectId: home.projectId,
    action: `${entity}.${action}`,
    entityId: row.id,
    details: { name: row.name, ...assigned },
    ...(action === 'assigned' ? changesOf(null, assigned) : changesOf(assigned, null)),
  });
}

/** Assigning again changes nothing but the position. @throws Refusal 400 or 403 */
export async function assign(
  context: ActorContext,
  place: FlowPlace,
  assigned: FlowTarget,
  { id, position }: Pick<NewAssignment, 'id' | 'position'>,
): Promise<void> {
  await requireEdit(context, place);
  if (!(await holdPlace(context.db, place))) throw notFound('template', place.scopeId);
  const record = await requireRecord(context, place, assigned);
  if (record.is_deleted) throw unknownEntity(assigned.field, kindOf(record.type).words);
  const row = await putAssignment(context.db, context, place, { id, templateId: record.id, position });
  if (row) await audit(context, place, record, 'assigned', row);
}

/** Assignments that do not exist there are ignored, including deleted records. @throws Refusal 400 or 403 */
export async function unassign(context: ActorContext, place: FlowPlace, assigned: FlowTarget): Promise<void> {
  await requireEdit(context, place);
  const record = await requireRecord(context, place, assigned);
  for (const row of await deleteAssignments(context.db, place, [record.id]))
    await audit(context, place, record, 'unassigned', row);
}

/** Takes all records of a type away from a place itself. @throws Refusal 403 */
export async function unassignAll(
  context: ActorContext,
  place: FlowPlace,
  type: AssignedTemplateType,
): Promise<void> {
  await requireEdit(context, place);
  const rows = await assignmentsAt(context.db, place);
  const records = await getTemplateRows(
    context.db,
    rows.map((row) => row.template_id),
  );
  const ids = records.filter((record) => record.type === type).map(({ id }) => id);
  for (const row of await deleteAssignments(context.db, place, ids)) {
    const record = records.find(({ id }) => id === row.template_id);
    if (record) await audit(context, place, record, 'unassigned', row);
  }
}
