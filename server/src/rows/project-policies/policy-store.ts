/** SQL of the policies of projects. */
import { type Expression, type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { organizationOfProject, pathOf } from '../projects/project-store.ts';
import type { ProjectPolicyTable } from '../schema.ts';

export type PolicyRow = Selectable<ProjectPolicyTable>;

/** @returns undefined where the policy was never changed */
export async function getPolicyRow(db: Connection, projectId: string): Promise<PolicyRow | undefined> {
  return db.selectFrom('project_policy').selectAll().where('project_id', '=', projectId).executeTakeFirst();
}

/** A policy as a column of a statement, whose date is text. */
export type PolicyColumn = Omit<PolicyRow, 'updated_at'>;

/** The policy of a project as a column of a statement about projects; null where it was never changed. */
export function policyOf(projectId: Expression<string>): RawBuilder<PolicyColumn | null> {
  return sql`(select to_jsonb(project_policy) from project_policy where project_id = ${projectId})`;
}

/** Until the transaction ends, other transactions do not count environments against the limits of this policy. */
export async function lockPolicyRow(tx: Connection, projectId: string): Promise<void> {
  await tx
    .selectFrom('project_policy')
    .select('project_id')
    .where('project_id', '=', projectId)
    .forNoKeyUpdate()
    .execute();
}

/** Stores the policy of a project, whether or not it had one. */
export async function putPolicyRow(tx: Connection, row: Insertable<ProjectPolicyTable>): Promise<PolicyRow> {
  const { project_id: _, ...changes } = row;
  return tx
    .insertInto('project_policy')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Of several projects, those whose outputs may be used as inputs. */
export async function projectsWithOutputsAsInputs(
  db: Connection,
  projectIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (projectIds.length === 0) return new Set();
  const found = await db
    .selectFrom('project_policy')
    .select('project_id')
    .where('project_id', 'in', [...projectIds])
    .where('outputs_as_inputs_enabled', '=', true)
    .execute();
  return new Set(found.map((row) => row.project_id));
}

/** Setting of a project about approving one's own plans. */
export interface SelfApproval {
  readonly organizationId: string;
  readonly projectId: string;
  readonly isForbidden: boolean;
  /** Null: not recorded. */
  readonly setBy: string | null;
}

/**
 * Settings of a project and those above it about approving one's own plans, from the top down, as a column of a
 * statement about something in the project. Null: nothing.
 */
export function selfApprovalOf(projectId: Expression<string>): RawBuilder<SelfApproval[] | null> {
  return sql`(select jsonb_agg(jsonb_build_object(
      'organizationId', ${organizationOfProject(projectId)}, 'projectId', policy.project_id,
      'isForbidden', policy.self_approval_forbidden, 'setBy', policy.self_approval_set_by) order by step.place)
    from ${pathOf(projectId)} as step join project_policy policy on policy.project_id = step.id where policy.self_approval_forbidden is not null)`;
}

/** The same of one project, as it holds now. */
export async function readSelfApproval(db: Connection, projectId: string): Promise<SelfApproval[]> {
  const { rows } = await sql<{ policies: SelfApproval[] | null }>`
    select ${selfApprovalOf(sql.val(projectId))} as policies`.execute(db);
  return rows[0]?.policies ?? [];
}
