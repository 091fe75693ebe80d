/** SQL of who may approve a plan, and who has. */
import { sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { requiredByPolicies } from '../approval-policies/verdict-store.ts';
import { type SelfApproval, selfApprovalOf } from '../project-policies/policy-store.ts';
import { peopleBehind } from '../users/user-store.ts';
import { approversOf } from './review-store.ts';

export interface StoredApproverRow {
  readonly id: string;
  readonly environment_id: string;
  readonly started_by: string;
  /** For whom the service started it. */
  readonly requested_by: string | null;
  /** Settings of its project and those above it, from the top down; null: none. */
  readonly self_approval: readonly SelfApproval[] | null;
  /** Users that have approved it, oldest first. */
  readonly approvers: readonly string[];
  /** By user: itself and the user who made that key, for all users above and those of the query. */
  readonly people: Readonly<Record<string, readonly string[]>> | null;
  /** Latest requirements of approval policies. */
  readonly missing: readonly string[];
}

/**
 * Facts that decide who may approve, of several deployments.
 * @param more further users to find the people of, such as the caller
 */
export async function readApproverRows(
  db: Connection,
  deploymentIds: readonly string[],
  more: readonly string[] = [],
): Promise<Map<string, StoredApproverRow>> {
  if (deploymentIds.length === 0) return new Map();
  const approvers = approversOf(sql.ref('deployment.id'), sql.ref('deployment.plan_hash'));
  const rows = await db
    .selectFrom('deployment')
    .select(['id', 'environment_id', 'started_by', 'requested_by'])
    .select([
      selfApprovalOf(sql.ref('deployment.project_id')).as('self_approval'),
      approvers.as('approvers'),
      requiredByPolicies(sql.ref('deployment.id')).as('missing'),
      peopleBehind(
        sql`${approvers} || deployment.started_by || deployment.requested_by || ${[...more]}::text[]`,
      ).as('people'),
    ])
    .where('id', 'in', [...deploymentIds])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
