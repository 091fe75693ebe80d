/** The result of a deployment in words. */

import { followingSentences } from '#contract/deployments/following-units.ts';
import type { Outputs } from '#contract/deployments/plan.ts';
import { planText } from '#contract/deployments/plan-counts.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { CommandSession } from '../session/session.ts';
import { durationText, millisecondsBetween } from '../terminal/durations.ts';
import type { Output } from '../terminal/output.ts';
import { safeText } from '../terminal/safe-text.ts';
import { showApproval, verdictLines } from './show-approval.ts';
import { showFindings } from './show-diagnostics.ts';
import { showUnrecorded } from './show-unrecorded.ts';

const colourOfStatus: Readonly<Partial<Record<DeploymentStatus, 'green' | 'red' | 'yellow'>>> = {
  SUCCESS: 'green',
  FAILURE: 'red',
  INTERNAL_FAILURE: 'red',
  TIMEOUT: 'red',
  ABORTED: 'red',
  CANCELLED: 'yellow',
  SKIPPED: 'yellow',
  WAITING_FOR_USER: 'yellow',
};

/** The status in its colour. */
function statusText(output: Output, status: DeploymentStatus): string {
  const colour = colourOfStatus[status];
  return colour ? output.style(colour, status) : status;
}

/** `1 to destroy, 2 to add`; undefined before there is a plan. */
export function plannedText(deployment: Pick<Deployment, 'planSummary' | 'isPlanEmpty'>): string | undefined {
  const { planSummary, isPlanEmpty } = deployment;
  return planSummary && planText({ planSummary, isPlanEmpty });
}

/** The plans that were applied before, and what follows this one; nothing for a deployment with one plan. */
export function levelLines({
  level = 1,
  earlierLevels = [],
  units,
  status,
  planSummary: summary,
}: Pick<Deployment, 'level' | 'earlierLevels' | 'units' | 'status' | 'planSummary'>): string[] {
  const before = earlierLevels.map(
    ({ level: number, planSummary }) =>
      `level ${number}: ${planSummary === undefined ? 'applied' : planText({ planSummary }, 'done')}`,
  );
  const plan = summary === undefined ? 'no plan' : 'this plan';
  const current = level > 1 && status !== 'SUCCESS' ? [`level ${level}: ${plan}`] : [];
  return [...before, ...current, ...followingSentences(units)];
}

/** Outputs by name with their values; the service hides the values of sensitive ones. */
export async function showOutputs(output: Output, outputs: Outputs | null): Promise<void> {
  const rows = Object.entries(outputsByName(outputs))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { value, sensitive }]) => ({ name, value, sensitive }));
  const columns = [
    { head: 'OUTPUT', value: (row: (typeof rows)[number]) => row.name, isWhole: true },
    {
      head: 'VALUE',
      value: (row: (typeof rows)[number]) => `${valueText(row.value)}${row.sensitive ? ' (sensitive)' : ''}`,
    },
  ];
  await output.table(rows, columns, 'No outputs.');
}

/** The value of an output: text unchanged, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

async function showFailure(output: Output, deployment: Deployment): Promise<void> {
  for (const line of verdictLines(deployment)) await output.line(`Policy ${safeText(line)}`);
  const message = safeText(deployment.error?.message ?? '').trim();
  if (message !== '') await output.line(message);
  if (deployment.failedCommand) await output.line(`Failed command: ${safeText(deployment.failedCommand)}`);
  await showUnrecorded(output, deployment.unrecordedResources ?? []);
}

/** Commands for a plan that waits for approval. */
async function showDecision(output: Output, id: string, isEmpty: boolean): Promise<void> {
  if (!isEmpty) {
    await output.line(`Approve it:  envarium approve ${id} --follow`);
    return output.line(`Cancel it:   envarium cancel ${id}`);
  }
  await output.line('There is nothing to apply, but the deployment blocks the queue until someone decides.');
  await output.line(`Cancel it:   envarium cancel ${id}`);
  await output.line(`Approve it:  envarium approve ${id} --follow`);
}

/** The step in which a plan waits for its approval. */
export const approvalStep = 'approval:wait';

/** Working time of a deployment: from its start to its end, without the wait for approval. */
export async function tookText(client: CommandSession['client'], deployment: Deployment): Promise<string> {
  const { id, startedAt, finishedAt, reviewers } = deployment;
  if (!startedAt || !finishedAt) return '';
  const wasReviewed = id !== undefined && reviewers.length > 0;
  const steps = wasReviewed ? await client.call('listSteps', { params: { deploymentLogId: id } }) : [];
  const waited = steps
    .filter(({ name }) => name === approvalStep)
    .reduce((sum, step) => sum + millisecondsBetween(step.startedAt, step.completedAt), 0);
  return durationText(millisecondsBetween(startedAt, finishedAt) - waited);
}

/** Whether there is drift, and what was started because of it. */
async function showDriftResult(
  output: Output,
  { driftDetected, remediation, diagnostics = [] }: Deployment,
): Promise<void> {
  const failed = diagnostics.filter(({ severity }) => severity === 'check').length;
  const checks = failed === 0 ? '' : `, but ${failed === 1 ? 'a check' : `${failed} checks`} failed`;
  await output.line(driftDetected ? 'Drift was found.' : `No drift${checks}.`);
  if (remediation?.deploymentId)
    await output.line(`A deploy was started to repair it: ${remediation.deploymentId}`);
  if (remediation?.reason) await output.line(`It is not repaired automatically: ${remediation.reason}`);
}

/** The last lines of a deployment that is over or waits for approval. */
export async function showResult(
  { client, output }: Pick<CommandSession, 'client' | 'output'>,
  id: string,
  deployment: Deployment,
): Promise<void> {
  const { type, status } = deployment;
  const plan = plannedText(deployment);
  if (plan !== undefined) await output.line(`Plan: ${plan}`);
  await showFindings(output, id, deployment);
  if (status === 'WAITING_FOR_USER') {
    await output.line(`${type} ${statusText(output, status)}: the plan waits for approval`);
    await showApproval(output, deployment);
    return showDecision(output, id, deployment.isPlanEmpty === true);
  }
  const duration = await tookText(client, deployment);
  if (status !== 'SUCCESS') await showFailure(output, deployment);
  if (type === 'driftDetection' && status === 'SUCCESS') await showDriftResult(output, deployment);
  if (type === 'deploy' && status === 'SUCCESS' && Object.keys(deployment.output ?? {}).length > 0)
    await showOutputs(output, deployment.output);
  if (deployment.skippedFor)
    await output.line(`A later deployment made it redundant: ${deployment.skippedFor}`);
  await output.line(`${type} ${statusText(output, status)}${duration === '' ? '' : ` in ${duration}`}`);
}
