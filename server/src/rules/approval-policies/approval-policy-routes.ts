/** Operations on approval policies. */
import { type ApprovalPolicyEntry, type FlowScope, policyScopes } from '#contract/custom-flows/shapes.ts';
import { operations } from '#contract/operations.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { createTemplate } from '../../code/templates/create-template.ts';
import { deleteTemplate } from '../../code/templates/delete-template.ts';
import { placeOfTemplate, templateViews } from '../../code/templates/template-view.ts';
import { updateTemplate } from '../../code/templates/update-template.ts';
import type { ActorContext } from '../../framework/context.ts';
import { warn } from '../../framework/http/replies/headers.ts';
import { type Route, route, type Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound, unknownEntity } from '../../ground/errors.ts';
import {
  assignmentsAt,
  assignmentsOf,
  type FlowAssignmentRow,
} from '../../rows/custom-flows/assignment-store.ts';
import { listOrganizationRows } from '../../rows/organizations/organization-store.ts';
import { inOrganization, inProject } from '../../rows/places.ts';
import { getProjectRows } from '../../rows/projects/project-store.ts';
import { getRowsOfType, getTemplateRows, listRowsOfType } from '../../rows/templates/template-store.ts';
import { assign, unassign, unassignAll } from '../custom-flows/assign.ts';
import {
  type FlowPlace,
  findPlace,
  mayView,
  partsOf,
  requirePlace,
  requireView,
} from '../custom-flows/assignment-places.ts';
import { policyOf } from '../custom-flows/flow-view.ts';
import { checkCataloguePolicy } from './check-policy.ts';
import { catalogue } from './evaluation/catalogue.ts';
import { findOpa } from './evaluation/find-opa.ts';
import { hashesOf } from './policy-hashes.ts';

const type = 'approval-policy';
type PolicyScope = (typeof policyScopes)[number];

function policyScopeOf(scope: string): PolicyScope | undefined {
  return policyScopes.find((each) => each === scope);
}

/** @throws Refusal 404 for an id of something else, and for a scope that there is not */
async function placeInPath(
  { db }: ActorContext,
  { scope: requestedScope, scopeId }: { readonly scope: string; readonly scopeId: string },
): Promise<FlowPlace & { readonly scope: PolicyScope }> {
  const scope = policyScopeOf(requestedScope);
  const place = scope && (await findPlace(db, { scope, scopeId }));
  return { ...orNotFound(place, 'organization, project or template', scopeId), scope: scope ?? 'PROJECT' };
}

/** The places of assignments that the caller may see, their names by their ids. */
async function visiblePlaces(
  context: ActorContext,
  rows: readonly FlowAssignmentRow[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (scope: FlowScope) => rows.flatMap((row) => (row.scope === scope ? [row.scope_id] : []));
  const [organizations, projects, templates] = await Promise.all([
    listOrganizationRows(context.db, idsOf('ORGANIZATION')),
    getProjectRows(context.db, idsOf('PROJECT')),
    getTemplateRows(context.db, idsOf('BLUEPRINT')),
  ]);
  const named = [
    ...organizations.map((row) => ({
      scopeId: row.id,
      name: row.name,
      home: inOrganization(row.id),
      scope: 'ORGANIZATION' as const,
    })),
    ...projects.map((row) => ({
      scopeId: row.id,
      name: row.name,
      home: inProject(row),
      scope: 'PROJECT' as const,
    })),
    ...templates.map((row) => ({
      scopeId: row.id,
      name: row.name,
      home: placeOfTemplate(row),
      scope: 'BLUEPRINT' as const,
    })),
  ];
  return new Map(
    named.filter((place) => mayView(context, place)).map(({ scopeId, name }) => [scopeId, name]),
  );
}

async function listPolicies(context: ActorContext, organizationId: string): Promise<ApprovalPolicyEntry[]> {
  const { db } = context;
  const rows = await listRowsOfType(db, type, { organizationId });
  const assigned = await assignmentsOf(
    db,
    rows.map((row) => row.id),
  );
  const names = await visiblePlaces(context, assigned);
  const policies = (await templateViews(db, rows)).map(policyOf);
  const hashOf = await hashesOf(db, policies);
  return policies.map((policy) => ({
    policy,
    assignments: assigned.flatMap(({ template_id: blueprintId, scope: storedScope, scope_id: scopeId }) => {
      const scope = policyScopeOf(storedScope);
      const scopeName = names.get(scopeId);
      if (blueprintId !== policy.id || !scope || scopeName === undefined) return [];
      return { scope, scopeId, blueprintId, scopeName, hash: hashOf(policy) };
    }),
  }));
}

/** @throws Refusal 400 for an id that names nothing */
async function unassignNamed(context: ActorContext, id: string): Promise<null> {
  const { scope: requestedScope, scopeId, blueprintId } = partsOf(id);
  const scope = policyScopeOf(requestedScope);
  if (!scope) throw unknownEntity('query.id', 'policy assignment');
  return inTransaction(context, async (context) => {
    const place = await requirePlace(context, { scope, scopeId }, 'query.id');
    await unassign(context, place, { type, id: blueprintId, field: 'query.id' });
    return null;
  });
}

function warnWithoutEngine({ settings }: ActorContext, wire: Pick<Wire, 'reply'>): void {
  const { problem } = findOpa(settings);
  if (problem !== undefined)
    warn(wire, `${problem}. Until then, deployments that the policy is to check fail.`);
}

const assignments: Route[] = [
  route(operations.assignApprovalPolicy, (context, { body }, wire) => {
    warnWithoutEngine(context, wire);
    return inTransaction(context, async (context) => {
      const place = await requirePlace(context, body, 'body.scopeId');
      const policy = { type, id: body.blueprintId, field: 'body.blueprintId' } as const;
      await assign(context, place, policy, { id: context.newId(), position: null });
      const blueprintId = body.blueprintId.toLowerCase();
      const views = await templateViews(context.db, await getTemplateRows(context.db, [blueprintId]));
      const [stored] = views.map(policyOf);
      if (!stored) throw unknownEntity('body.blueprintId', 'approval policy');
      const hash = (await hashesOf(context.db, [stored]))(stored);
      return { scope: body.scope, scopeId: place.scopeId, blueprintId, hash };
    });
  }),
  route(operations.unassignApprovalPolicy, (context, { query }) => unassignNamed(context, query.id)),
  route(operations.unassignApprovalPolicies, (context, { params }) =>
    inTransaction(context, async (context) => {
      const place = await placeInPath(context, params);
      await unassignAll(context, place, type);
      return null;
    }),
  ),
  route(operations.listAssignedApprovalPolicies, async (context, { params }) => {
    const { db } = context;
    const place = await placeInPath(context, params);
    requireView(context, place);
    const { scope, scopeId } = place;
    const rows = await assignmentsAt(db, place);
    const records = await getRowsOfType(
      db,
      type,
      rows.map((row) => row.template_id),
    );
    const policies = new Map((await templateViews(db, records)).map((each) => [each.id, policyOf(each)]));
    return rows.toReversed().flatMap(({ id, template_id, created_at }) => {
      const blueprint = policies.get(template_id);
      return blueprint ? [{ id, scope, scopeId, blueprint, createdAt: created_at.toISOString() }] : [];
    });
  }),
];

export const approvalPolicyRoutes: Route[] = [
  route(operations.listApprovalPolicies, (context, { query }) => listPolicies(context, query.organizationId)),
  route(operations.findApprovalPolicies, async (context, { query }) => {
    const rows = await listRowsOfType(context.db, type, query);
    return (await templateViews(context.db, rows)).map(policyOf);
  }),
  route(operations.listCataloguePolicies, () => Promise.resolve([...catalogue()])),
  route(operations.getPolicyEngine, ({ settings }) => {
    const { problem } = findOpa(settings);
    return Promise.resolve({
      isAvailable: problem === undefined,
      ...(problem === undefined ? {} : { problem }),
    });
  }),
  route(operations.createApprovalPolicy, async (context, { body }, wire) => {
    warnWithoutEngine(context, wire);
    checkCataloguePolicy(body);
    return policyOf(await createTemplate(context, { ...body, type }));
  }),
  route(operations.updateApprovalPolicy, async (context, { body }) => {
    checkCataloguePolicy(body);
    return policyOf(await updateTemplate(context, body.id, { ...without(body, ['id']), type }));
  }),
  route(operations.deleteApprovalPolicy, (context, { params }) => deleteTemplate(context, params.id)),
  ...assignments,
];
