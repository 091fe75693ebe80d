/** `create-change-set`: the plan of a deployment, on a stack that was brought into a state that allows one. */
import { randomUUID } from 'node:crypto';
import {
  type Capability,
  type ChangeSetSummary,
  CreateChangeSetCommand,
  type CreateChangeSetCommandInput,
  DeleteChangeSetCommand,
  DeleteStackCommand,
  type GetTemplateSummaryOutput,
  paginateListChangeSets,
} from '@aws-sdk/client-cloudformation';
import { type Api, StackProblem } from './api/api.ts';
import type { ChangeSetReport, StackRequest } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { readPages, reportOn } from './change-set.ts';
import { parametersFor } from './parameters.ts';
import { type ReadyStack, readyStack } from './ready-stack.ts';
import { findStack, Patience } from './stack.ts';
import { checkCapabilities, placeTemplate, type StackTemplate, summaryOf } from './template.ts';
import { Uploads } from './uploads.ts';

/** Begins the names of change sets of plans that are never applied, and of all others. */
const beginnings = { look: 'envarium-look-', plan: 'envarium-plan-' } as const;

function changeSetName({ isPlanOnly, deploymentId }: StackRequest): string {
  return `${isPlanOnly ? beginnings.look : beginnings.plan}${deploymentId.replaceAll(/[^A-Za-z0-9-]/g, '-')}`;
}

function descriptionOf({ environmentId, deploymentId }: StackRequest): string {
  return `Envarium: deployment ${deploymentId} of environment ${environmentId}`;
}

/** A plan that is never applied removes its change set itself; what is older was left by a run that was killed. */
const longestLook = 24 * 60 * 60 * 1000;

/** Change sets of this environment that no deployment will execute any more, and no other run is still reading. */
async function removeOlder({ client, request }: Api, stackName: string): Promise<void> {
  const isLeft = ({ ChangeSetName: name = '', CreationTime }: ChangeSetSummary) => {
    if (name === changeSetName(request)) return true;
    if (name.startsWith(beginnings.look)) return Date.now() - (CreationTime?.getTime() ?? 0) > longestLook;
    return !request.isPlanOnly && name.startsWith(beginnings.plan);
  };
  for await (const page of paginateListChangeSets({ client }, { StackName: stackName }))
    for (const summary of page.Summaries ?? []) {
      const { ChangeSetId, Description = '', ExecutionStatus } = summary;
      const isOurs = isLeft(summary) && Description.endsWith(`of environment ${request.environmentId}`);
      if (isOurs && ExecutionStatus !== 'EXECUTE_IN_PROGRESS')
        await client.send(new DeleteChangeSetCommand({ ChangeSetName: ChangeSetId }));
    }
}

/** Removes what a plan has left of which nothing is applied. A stack in review has nothing but change sets. */
async function tidyUp(api: Api, changeSetId: string, stackId: string): Promise<void> {
  const { client } = api;
  await client.send(new DeleteChangeSetCommand({ ChangeSetName: changeSetId }));
  const stack = await findStack(api, stackId);
  if (stack?.StackStatus !== 'REVIEW_IN_PROGRESS') return;
  for await (const page of paginateListChangeSets({ client }, { StackName: stackId }))
    if (
      (page.Summaries ?? []).some(
        ({ ChangeSetId, Status }) => ChangeSetId !== changeSetId && Status !== 'DELETE_COMPLETE',
      )
    )
      return;
  await client.send(new DeleteStackCommand({ StackName: stackId }));
}

const empty = /didn't contain changes|no updates are to be performed/i;

async function create(
  api: Api,
  ready: ReadyStack,
  template: StackTemplate,
  summary: GetTemplateSummaryOutput,
): Promise<{ readonly id: string; readonly stackId: string }> {
  const { request } = api;
  const { values } = parametersFor(api, summary);
  const ChangeSetName = changeSetName(request);
  const input = {
    StackName: request.stackName,
    ChangeSetName,
    ChangeSetType: ready.isCreation ? ('CREATE' as const) : ('UPDATE' as const),
    ...template.source,
    Parameters: [...values],
    Capabilities: [...request.capabilities] as Capability[],
    Description: descriptionOf(request),
    Tags: Object.entries(request.tags).map(([Key, Value]) => ({ Key, Value })),
    IncludeNestedStacks: (summary.ResourceTypes ?? []).includes('AWS::CloudFormation::Stack'),
    ...(request.roleArn === null ? {} : { RoleARN: request.roleArn }),
    ...(request.notificationArns.length === 0 ? {} : { NotificationARNs: [...request.notificationArns] }),
  };
  const isAware = !ready.isCreation && request.revertsDrift;
  return send(api, input, isAware);
}

/** Why AWS makes no change set that undoes drift. */
const notAware = /DeploymentMode|REVERT_DRIFT|drift-aware/i;

/** @param isAware the change set also undoes what was changed outside of the stack */
async function send(
  api: Api,
  input: Omit<CreateChangeSetCommandInput, 'ClientToken'>,
  isAware: boolean,
): Promise<{ readonly id: string; readonly stackId: string }> {
  const mode = isAware ? { DeploymentMode: 'REVERT_DRIFT' as const } : {};
  // A request that the SDK repeats makes no second change set.
  const ClientToken = randomUUID();
  try {
    const { Id = '', StackId = '' } = await api.client.send(
      new CreateChangeSetCommand({ ...input, ...mode, ClientToken }),
    );
    return { id: Id, stackId: StackId };
  } catch (error) {
    if (!isAware || !notAware.test((error as Error).message)) throw error;
    tell(`Drift of this stack cannot be undone by a change set: ${(error as Error).message}`);
    return send(api, input, false);
  }
}

/** Waits until a change set is computed. */
async function computed(api: Api, id: string) {
  const patience = new Patience();
  for (;;) {
    const described = await readPages(api, id);
    if (described === null)
      throw new StackProblem('the change set was deleted while it was computed: deploy again');
    if (!/^CREATE_(PENDING|IN_PROGRESS)$/.test(described.Status ?? '')) return described;
    await patience.wait();
  }
}

async function plan(api: Api, uploads: Uploads): Promise<ChangeSetReport> {
  const { request } = api;
  const template = await placeTemplate(api, uploads, 'plan');
  const summary = await summaryOf(api, template);
  checkCapabilities(summary, api);
  const { hidden } = parametersFor(api, summary);
  const ready = await readyStack(api);
  if (ready.stackId !== null) await removeOlder(api, ready.stackId);
  const { id, stackId } = await create(api, ready, template, summary);
  const described = await computed(api, id);
  if (described.Status === 'FAILED') {
    await tidyUp(api, id, stackId);
    if (!empty.test(described.StatusReason ?? ''))
      throw new StackProblem(
        `the change set of stack ${request.stackName} failed: ${described.StatusReason ?? 'AWS gives no reason'}`,
      );
    tell(`Stack ${request.stackName} is as the template and its parameters want it.`);
    return { stackId, changeSetId: null, isCreation: false, state: 'ready', changes: [], hash: '' };
  }
  const report = await reportOn(api, described, { isCreation: ready.isCreation, hidden });
  tell(
    `Change set ${described.ChangeSetName} ${ready.isCreation ? 'creates' : 'updates'} stack ${request.stackName}.`,
  );
  if (request.isPlanOnly) await tidyUp(api, id, stackId);
  return report;
}

export async function createChangeSet(api: Api): Promise<ChangeSetReport> {
  await using uploads = new Uploads(api);
  return await plan(api, uploads);
}
