/** What came out of a deployment, in words. */
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { Outputs } from '#contract/deployments/plan.ts';
import { stripVTControlCharacters } from 'node:util';
import { durationBetween } from './terminal/durations.ts';
import type { Output } from './terminal/output.ts';

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
export function statusText(output: Output, status: DeploymentStatus): string {
  const colour = colourOfStatus[status];
  return colour ? output.style(colour, status) : status;
}

/** `2 to add, 1 to change, 0 to destroy`; undefined before there is a plan. */
export function planText({ planSummary }: Pick<Deployment, 'planSummary'>): string | undefined {
  if (!planSummary) return undefined;
  const { added, changed, destroyed, imported } = planSummary;
  const rest = `${added} to add, ${changed} to change, ${destroyed} to destroy`;
  return imported ? `${imported} to import, ${rest}` : rest;
}

/** Outputs by name, as one value each; those of sensitive ones are hidden by the service. */
export async function showOutputs(output: Output, outputs: Outputs | null): Promise<void> {
  const rows = Object.entries(outputs ?? {})
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

/** A value of an output: text as it is, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

async function showFailure(output: Output, deployment: Deployment): Promise<void> {
  const message = stripVTControlCharacters(deployment.error?.message ?? '').trim();
  if (message !== '') await output.line(message);
  if (deployment.failedCommand)
    await output.line(`Failed command: ${stripVTControlCharacters(deployment.failedCommand)}`);
  const unrecorded = deployment.unrecordedResources ?? [];
  if (unrecorded.length === 0) return;
  await output.line('Made or begun, and in no state:');
  const columns = [
    { head: 'ADDRESS', value: (row: (typeof unrecorded)[number]) => row.address, isWhole: true },
    { head: 'ID', value: (row: (typeof unrecorded)[number]) => row.id, isWhole: true },
    { head: 'CERTAINTY', value: (row: (typeof unrecorded)[number]) => row.certainty },
  ];
  await output.table(unrecorded, columns, '');
}

/** How to go on with one that waits for a person. */
async function showDecision(output: Output, id: string): Promise<void> {
  await output.line(`Approve it:  envarium approve ${id} --follow`);
  await output.line(`Refuse it:   envarium cancel ${id}`);
}

/** The last lines of a deployment that is over or waits for a person. */
export async function showResult(output: Output, id: string, deployment: Deployment): Promise<void> {
  const { type, status, startedAt, finishedAt } = deployment;
  const plan = planText(deployment);
  if (plan !== undefined) await output.line(`Plan: ${plan}`);
  if (status === 'WAITING_FOR_USER') {
    await output.line(`${type} ${statusText(output, status)}: a person must approve the plan`);
    return showDecision(output, id);
  }
  const duration = durationBetween(startedAt, finishedAt);
  if (status !== 'SUCCESS') await showFailure(output, deployment);
  if (type === 'driftDetection' && status === 'SUCCESS')
    await output.line(deployment.driftDetected ? 'Drift was found.' : 'No drift.');
  if (type === 'deploy' && status === 'SUCCESS' && Object.keys(deployment.output ?? {}).length > 0)
    await showOutputs(output, deployment.output);
  await output.line(`${type} ${statusText(output, status)}${duration === '' ? '' : ` in ${duration}`}`);
}
