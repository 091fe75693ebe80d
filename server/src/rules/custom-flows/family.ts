/** Custom flows: records that are stored as templates, and where they are assigned. */
import type { FlowPlaceBody } from '#contract/custom-flows/operations.ts';
import type { CustomFlowAssignment } from '#contract/custom-flows/shapes.ts';
import { operations } from '#contract/operations.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { createTemplate } from '../../code/templates/create-template.ts';
import { deleteTemplate } from '../../code/templates/delete-template.ts';
import { templateView, templateViews } from '../../code/templates/template-view.ts';
import { updateTemplate } from '../../code/templates/update-template.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { assignmentsAt } from '../../rows/custom-flows/assignment-store.ts';
import {
  getRowsOfType,
  homeOfType,
  listRowsOfType,
  lockTemplate,
} from '../../rows/templates/template-store.ts';
import { assign, unassign } from './assign.ts';
import { requirePlace, requireView } from './assignment-places.ts';
import { flowOf } from './flow-view.ts';

const type = 'custom-flow';

/** @param index of the element in the request */
async function assignedTo(
  context: ActorContext,
  named: FlowPlaceBody,
  index: number,
): Promise<CustomFlowAssignment[]> {
  const { db } = context;
  const place = await requirePlace(context, named, `body.${index}.scopeId`);
  requireView(context, place);
  const wanted = named.blueprintId?.toLowerCase();
  const rows = (await assignmentsAt(db, place)).filter(
    (row) => wanted === undefined || row.template_id === wanted,
  );
  const records = await getRowsOfType(
    db,
    type,
    rows.map((row) => row.template_id),
  );
  const flows = new Map((await templateViews(db, records)).map((each) => [each.id, flowOf(each)]));
  return rows.flatMap(({ template_id: blueprintId, position }) => {
    const flow = flows.get(blueprintId);
    if (!flow) return [];
    const { organizationId } = flow;
    const order = position === null ? {} : { order: position };
    return { ...without(place, ['home']), blueprintId, organizationId, ...order, customFlowTemplate: flow };
  });
}

const assignments: Route[] = [
  route(operations.assignCustomFlows, (context, { body }) =>
    inTransaction(context, async (context) => {
      const ids = body.map(() => context.newId()).toSorted();
      for (const [index, named] of body.entries()) {
        const place = await requirePlace(context, named, `body.${index}.scopeId`);
        const flow = { type, id: named.blueprintId, field: `body.${index}.blueprintId` } as const;
        await assign(context, place, flow, {
          id: ids[index] ?? context.newId(),
          position: named.order ?? null,
        });
      }
      return null;
    }),
  ),
  route(operations.unassignCustomFlows, (context, { body }) =>
    inTransaction(context, async (context) => {
      for (const [index, named] of body.entries()) {
        const place = await requirePlace(context, named, `body.${index}.scopeId`);
        await unassign(context, place, {
          type,
          id: named.blueprintId,
          field: `body.${index}.blueprintId`,
        });
      }
      return null;
    }),
  ),
  route(operations.listCustomFlowAssignments, async (context, { body }) => {
    const found = [];
    for (const [index, named] of body.entries()) found.push(...(await assignedTo(context, named, index)));
    return found;
  }),
];

const customFlowRoutes: Route[] = [
  route(operations.listCustomFlows, async (context, { query }) => {
    const rows = await listRowsOfType(context.db, type, query);
    return (await templateViews(context.db, rows)).map(flowOf);
  }),
  route(operations.createCustomFlow, async (context, { body }) =>
    flowOf(await createTemplate(context, { ...body, type })),
  ),
  route(operations.updateCustomFlow, async (context, { body }) =>
    flowOf(await updateTemplate(context, body.id, { ...without(body, ['id']), type })),
  ),
  route(operations.getCustomFlow, async (context, { params }) => {
    const [row] = await getRowsOfType(context.db, type, [params.id]);
    return flowOf(await templateView(context.db, orNotFound(row, 'custom flow', params.id)));
  }),
  route(operations.deleteCustomFlow, (context, { params }) => deleteTemplate(context, params.id)),
  ...assignments,
];

export const family: Family = {
  name: 'custom-flows',
  routes: customFlowRoutes,
  entities: {
    customFlow: homeOfType('custom-flow'),
  },
  locks: { customFlow: lockTemplate },
  tables: ['flow_assignment'],
};
