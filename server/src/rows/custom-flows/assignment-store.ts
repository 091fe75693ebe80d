/** SQL of the places that custom flows and approval policies are assigned to. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { FlowScope } from '#contract/custom-flows/shapes.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { organizationOfProject, projectsAbove } from '../projects/project-store.ts';
import type { FlowAssignmentTable } from '../schema.ts';
import { isOfType, projectOfTemplate } from '../templates/template-store.ts';

export type FlowAssignmentRow = Selectable<FlowAssignmentTable>;

/** Place of an assignment. */
export interface ScopePlace {
  readonly scope: FlowScope;
  readonly scopeId: string;
}

export interface NewAssignment {
  /** Of those that are made at the same time, the order of the ids is that of assignment. */
  readonly id: string;
  readonly templateId: string;
  /** Null: after those that have one. */
  readonly position: number | null;
}

/** @returns the row if it is new or got another position, otherwise undefined */
export async function putAssignment(
  tx: Connection,
  context: ActorContext,
  { scope, scopeId }: ScopePlace,
  { id, templateId, position }: NewAssignment,
): Promise<FlowAssignmentRow | undefined> {
  return tx
    .insertInto('flow_assignment')
    .values({
      id,
      template_id: templateId,
      scope,
      scope_id: scopeId,
      position,
      created_by: context.actor.userId,
      created_at: context.now(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'scope_id', 'template_id'])
        .doUpdateSet({ position })
        .where(sql<boolean>`flow_assignment.position is distinct from excluded.position`),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Removes some of what is assigned to a place. @returns the rows that were there */
export async function deleteAssignments(
  tx: Connection,
  { scope, scopeId }: ScopePlace,
  templateIds: readonly string[],
): Promise<FlowAssignmentRow[]> {
  if (templateIds.length === 0) return [];
  return tx
    .deleteFrom('flow_assignment')
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .where('template_id', 'in', [...templateIds])
    .returningAll()
    .execute();
}

/** Removes everything that is assigned to templates that are deleted for good. */
export async function deleteAssignmentsOfTemplates(tx: Connection, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .deleteFrom('flow_assignment')
    .where('scope', '=', 'BLUEPRINT')
    .where('scope_id', 'in', [...ids])
    .execute();
}

/** Assignments to a place itself: by position, then in the order of assignment. */
export async function assignmentsAt(
  db: Connection,
  { scope, scopeId }: ScopePlace,
): Promise<FlowAssignmentRow[]> {
  return db
    .selectFrom('flow_assignment')
    .selectAll()
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .orderBy('position', (order) => order.asc().nullsLast())
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Places of some custom flows or approval policies, newest first. */
export async function assignmentsOf(
  db: Connection,
  templateIds: readonly string[],
): Promise<FlowAssignmentRow[]> {
  if (templateIds.length === 0) return [];
  return db
    .selectFrom('flow_assignment')
    .selectAll()
    .where('template_id', 'in', [...templateIds])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/**
 * Assignments of approval policies that decide about a template's deployments in a project.
 * @param templateId null: of any template, so only those of the project, those above it and the organization
 */
function assignedPolicies(projectId: Expression<string>, templateId: string | null): RawBuilder<unknown> {
  return sql`from flow_assignment a where (
      (a.scope = 'ORGANIZATION' and a.scope_id = ${organizationOfProject(projectId)})
      or (a.scope = 'BLUEPRINT' and a.scope_id = ${templateId}::uuid)
      or (a.scope = 'PROJECT' and a.scope_id = any (${projectsAbove(projectId)}::uuid[])))
    and ${isOfType(sql<string>`a.template_id`, 'approval-policy')}`;
}

/**
 * Whether approval policies decide about deployments of a template in a project, as a column of a statement about
 * projects.
 */
export function hasPoliciesFor(templateId: string): (projectId: Expression<string>) => RawBuilder<boolean> {
  return (projectId) => sql<boolean>`exists (select ${assignedPolicies(projectId, templateId)})`;
}

/** Ids of the approval policies that decide: the template's, those of the projects and of the organization. */
export async function policiesFor(
  db: Connection,
  { projectId, templateId }: { readonly projectId: string; readonly templateId: string },
): Promise<string[]> {
  const id = sql<string>`${projectId}::uuid`;
  const { rows } = await sql<{ template_id: string }>`
    select distinct a.template_id ${assignedPolicies(id, templateId)}`.execute(db);
  return rows.map((row) => row.template_id);
}

/** Whether one of the approval policies that decide was assigned at a time or later. */
export async function arePoliciesAssignedSince(
  db: Connection,
  { projectId, templateId }: { readonly projectId: string; readonly templateId: string },
  since: Date,
): Promise<boolean> {
  const id = sql<string>`${projectId}::uuid`;
  const { rows } = await sql<{ are: boolean }>`
    select exists (select ${assignedPolicies(id, templateId)} and a.created_at >= ${since}) as are`.execute(
    db,
  );
  return rows[0]?.are === true;
}

/** Places of an approval policy. */
export interface PolicyPlace {
  readonly policyId: string;
  /** Null: the organization, or a template of it. */
  readonly projectId: string | null;
  /** Null: it is not assigned to a template. */
  readonly templateId: string | null;
  /** Of an assignment to a template, which takes other rights than the settings of its place: who made it. */
  readonly assignedBy: string | null;
}

/** Places whose approval policies decide about a template's deployments in a project. */
export async function policyPlaces(
  db: Connection,
  { projectId, templateId }: { readonly projectId: string; readonly templateId: string | null },
): Promise<PolicyPlace[]> {
  const id = sql<string>`${projectId}::uuid`;
  const { rows } = await sql<PolicyPlace>`
    select a.template_id as "policyId", case a.scope when 'PROJECT' then a.scope_id
      when 'BLUEPRINT' then ${projectOfTemplate(sql<string>`a.scope_id`)} end as "projectId",
      case a.scope when 'BLUEPRINT' then a.scope_id end as "templateId",
      case a.scope when 'BLUEPRINT' then a.created_by end as "assignedBy"
    ${assignedPolicies(id, templateId)}`.execute(db);
  return rows;
}
