/** Open requirements of a plan that a person has to approve: deadline, approvers, and demands of policies. */
import { followingSentences } from '#contract/deployments/following-units.ts';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import { planText } from '#contract/deployments/plan-counts.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import type { Context } from '../../../framework/context.ts';
import type { ServerSettings } from '../../../ground/config/config.ts';
import type { PlainDeploymentRow } from '../../../rows/deployments/shown-deployment-store.ts';
import { excludedFrom } from '../decisions/decide-approver.ts';
import { type ApproverRow, getApproverRows } from './load-approvers.ts';

type WaitingRow = Pick<
  PlainDeploymentRow,
  | 'id'
  | 'updated_at'
  | 'plan_summary'
  | 'planned_units'
  | 'level'
  | 'has_changes'
  | 'approval_decided_by'
  | 'tool'
>;

const dayMilliseconds = 86_400_000;

/** The last time at which a plan could begin to wait that is not decided in time now. */
export function expiredSince(
  now: Date,
  { approvalWaitDays }: Pick<ServerSettings, 'approvalWaitDays'>,
): Date {
  return new Date(now.getTime() - approvalWaitDays * dayMilliseconds);
}

function untilOf(
  { updated_at: since }: WaitingRow,
  settings: Pick<ServerSettings, 'approvalWaitDays'>,
): string {
  return new Date(since.getTime() + settings.approvalWaitDays * dayMilliseconds).toISOString();
}

function plannedInWords({ plan_summary: planSummary }: Pick<WaitingRow, 'plan_summary'>): string {
  return planSummary ? planText({ planSummary, isPlanEmpty: false }) : 'its plan';
}

function moreInWords({ approvers, missing }: ApproverRow): string {
  if (approvers.length === 0 && missing.length === 0) return '';
  const count = approvers.length === 1 ? '1 person has' : `${approvers.length} people have`;
  const so = approvers.length === 0 ? '' : `. ${count} approved it so far`;
  return missing.length === 0 ? so : `${so}. Approval policies ask for more: ${missing.join('; ')}`;
}

function sentence(
  row: WaitingRow,
  tool: Pick<ToolFacts, 'approval'> | undefined,
  facts: ApproverRow | undefined,
): string {
  const since = row.updated_at.toISOString();
  const more = facts ? moreInWords(facts) : '';
  if (row.has_changes === false)
    return `Waiting since ${since} for a person, but there is nothing to apply: the plan is empty. The deployment can be cancelled${more}`;
  const note = tool?.approval.isExact === false ? `. The approval covers ${tool.approval.covers}` : '';
  const following = followingSentences(row.planned_units)
    .map((text) => `. ${text}`)
    .join('');
  const first = row.level === null ? '' : `. Applied before: ${row.level.done.join(', ')}`;
  return `Waiting since ${since} for a person to approve or refuse: ${plannedInWords(row)}${note}${first}${following}${more}`;
}

/**
 * @param tool undefined for one that this version cannot run
 * @param facts undefined: not read, for events
 */
export function waitingForApproval(
  row: WaitingRow,
  tool: Pick<ToolFacts, 'approval'> | undefined,
  settings: Pick<ServerSettings, 'approvalWaitDays'>,
  facts?: ApproverRow,
): WaitingFor {
  return {
    kind: 'approval',
    since: row.updated_at.toISOString(),
    text: sentence(row, tool, facts),
    approval: {
      until: untilOf(row, settings),
      decidedBy: row.approval_decided_by,
      ...(facts ? { missing: [...facts.missing], excluded: excludedFrom(facts) } : {}),
    },
  };
}

/** The same of several deployments that wait, for readers. */
export async function waitingForApprovals(
  { db, settings }: Pick<Context, 'db' | 'settings'>,
  rows: readonly WaitingRow[],
): Promise<[string, WaitingFor][]> {
  const approvers = await getApproverRows(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const facts = approvers.get(row.id);
    return [row.id, waitingForApproval(row, toolFacts(row.tool), settings, facts)];
  });
}
