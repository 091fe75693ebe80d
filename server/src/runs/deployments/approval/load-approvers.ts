/** Users who may approve plans, with the current demands of the projects. */
import type { Connection } from '../../../framework/context.ts';
import { readApproverRows, type StoredApproverRow } from '../../../rows/deployments/approver-store.ts';
import { liftersIn } from '../../../tenancy/project-policies/lift-approval.ts';
import { projectsThatDemand } from '../../../tenancy/project-policies/project-demands.ts';

export interface ApproverRow extends Omit<StoredApproverRow, 'self_approval'> {
  readonly is_self_approval_forbidden: boolean;
}

/**
 * Facts that decide who may approve, of several deployments.
 * @param more further users to find the people of, such as the caller
 */
export async function getApproverRows(
  db: Connection,
  deploymentIds: readonly string[],
  more: readonly string[] = [],
): Promise<Map<string, ApproverRow>> {
  const rows = await readApproverRows(db, deploymentIds, more);
  const remainingAfter = liftersIn({ db });
  return new Map(
    await Promise.all(
      Array.from(rows, async ([id, { self_approval: policies, ...row }]): Promise<[string, ApproverRow]> => {
        const demands = await projectsThatDemand(policies, remainingAfter);
        return [id, { ...row, is_self_approval_forbidden: demands.length > 0 }];
      }),
    ),
  );
}
