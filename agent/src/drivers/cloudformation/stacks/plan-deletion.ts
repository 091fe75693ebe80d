/** `plan-deletion`: what a destroy deletes, and what stays. */
import { GetTemplateCommand, paginateListChangeSets, type Stack } from '@aws-sdk/client-cloudformation';
import { parse } from 'yaml';
import { recordOf } from '#contract/schema/is-record.ts';
import { type Api, StackProblem } from './api/api.ts';
import type { DeletionReport } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { protectionRemedy } from './ready-stack.ts';
import {
  allResources,
  type FoundResource,
  inWords,
  ownerOf,
  refuseOthers,
  settledStack,
  statusOf,
} from './stack.ts';

/** Deletion policies by logical id. */
async function policiesOf({ client }: Api, StackName: string): Promise<Record<string, string>> {
  const { TemplateBody = '' } = await client.send(
    new GetTemplateCommand({ StackName, TemplateStage: 'Processed' }),
  );
  const resources = recordOf(recordOf(parse(TemplateBody, { logLevel: 'silent' }))['Resources']);
  return Object.fromEntries(
    Object.entries(resources).map(([id, resource]) => {
      const policy = recordOf(resource)['DeletionPolicy'];
      return [id, typeof policy === 'string' ? policy : 'Delete'];
    }),
  );
}

function staysBecause(resource: FoundResource, policy: string, retained: readonly string[]): string | null {
  if (
    resource.within.length === 0 &&
    resource.status === 'DELETE_FAILED' &&
    retained.includes(resource.logicalId)
  )
    return 'it stays, because --retain-resources names it';
  if (policy !== 'Retain' && policy !== 'RetainExceptOnCreate') return null;
  return `it stays, because its DeletionPolicy is ${policy}`;
}

/** Whether another plan was made in a stack that has nothing yet. */
async function isPlannedByOthers({ client, request }: Api, stackId: string): Promise<boolean> {
  for await (const page of paginateListChangeSets({ client }, { StackName: stackId }))
    if (
      (page.Summaries ?? []).some(
        ({ Description = '' }) => !Description.endsWith(`of environment ${request.environmentId}`),
      )
    )
      return true;
  return false;
}

/** Why a destroy leaves a stack as it is; null if it does not. */
async function leftBecause(api: Api, stack: Stack): Promise<string | null> {
  if (statusOf(stack) === 'REVIEW_IN_PROGRESS')
    return (await isPlannedByOthers(api, stack.StackId ?? ''))
      ? 'another environment or user has planned it'
      : null;
  return ownerOf(stack) === undefined ? 'no deployment of this environment has made it' : null;
}

export async function planDeletion(api: Api): Promise<DeletionReport> {
  const { request } = api;
  const stack = await settledStack(api, request.stackName);
  if (stack === null || statusOf(stack) === 'DELETE_COMPLETE') {
    tell(`There is no stack ${request.stackName}.`);
    return { stackId: null, resources: [] };
  }
  refuseOthers(stack, api);
  const left = await leftBecause(api, stack);
  if (left !== null) {
    tell(`Stack ${request.stackName} stays as it is: ${left}.`);
    return { stackId: null, resources: [] };
  }
  if (stack.EnableTerminationProtection === true)
    throw new StackProblem(`stack ${request.stackName} cannot be deleted: ${protectionRemedy}`);
  const stackId = stack.StackId ?? request.stackName;
  if (statusOf(stack) === 'REVIEW_IN_PROGRESS') {
    tell(`Stack ${request.stackName} has no resources: nothing was ever applied.`);
    return { stackId, resources: [] };
  }
  const resources = await allResources(api, stackId);
  const failed = resources.filter(({ status }) => status === 'DELETE_FAILED');
  if (statusOf(stack) === 'DELETE_FAILED')
    tell(`An earlier deletion has failed, because of ${inWords(failed)}: this one tries again.`);
  const policies = new Map<string, Record<string, string>>();
  for (const id of new Set([stackId, ...resources.map((each) => each.stackId)]))
    policies.set(id, await policiesOf(api, id));
  return {
    stackId,
    resources: resources.map((resource) => {
      const { logicalId, physicalId, type, within } = resource;
      const policy = policies.get(resource.stackId)?.[logicalId] ?? 'Delete';
      return { logicalId, physicalId, type, within, stays: staysBecause(resource, policy, request.retained) };
    }),
  };
}
