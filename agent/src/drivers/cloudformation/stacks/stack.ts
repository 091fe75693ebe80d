/** A stack as AWS describes it, and what its status means. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  DescribeStacksCommand,
  paginateListStackResources,
  type Stack,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { type Api, StackProblem } from './api/api.ts';
import { environmentTag, type StackResource } from './api/reports.ts';
import { tell } from './api/tell.ts';

/** @param name of the stack, or its id; only by its id a deleted one is found */
export async function findStack({ client }: Pick<Api, 'client'>, name: string): Promise<Stack | null> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    return Stacks[0] ?? null;
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return null;
    throw error;
  }
}

export function statusOf(stack: Stack | null): string {
  return stack?.StackStatus ?? 'DELETE_COMPLETE';
}

/** Grows from one question to the next, so that short work is seen to end early and long work asks rarely. */
export class Patience {
  #milliseconds = 200;

  async wait(): Promise<void> {
    await delay(this.#milliseconds);
    this.#milliseconds = Math.min(this.#milliseconds * 1.5, 5_000);
  }

  /** Something has happened: more may follow soon. */
  reset(): void {
    this.#milliseconds = Math.min(this.#milliseconds, 1_000);
  }
}

/** Whether AWS is at work; a stack in review is waiting for a change set to be executed. */
export function isAtWork(status: string): boolean {
  return status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS';
}

/**
 * The stack once AWS does nothing with it; the time limit of the run ends this.
 * @param isWaitLogged whether a line says what is waited for
 */
export async function settledStack(
  api: Pick<Api, 'client'>,
  name: string,
  isWaitLogged = true,
): Promise<Stack | null> {
  const patience = new Patience();
  let isLogged = !isWaitLogged;
  for (;;) {
    const stack = await findStack(api, name);
    const status = statusOf(stack);
    if (stack === null || !isAtWork(status)) return stack;
    if (!isLogged)
      tell(
        `Stack ${stack.StackName} is ${status}: another change or an earlier run is at work. Waiting for its end …`,
      );
    isLogged = true;
    await patience.wait();
  }
}

/** The environment that has made a stack; undefined: none. */
export function ownerOf({ Tags = [] }: Stack): string | undefined {
  return Tags.find(({ Key }) => Key === environmentTag)?.Value;
}

/** @throws StackProblem for a stack of another environment */
export function refuseOthers(stack: Stack, { request }: Pick<Api, 'request'>): void {
  const owner = ownerOf(stack);
  if (owner === undefined || owner === request.environmentId) return;
  throw new StackProblem(
    `stack ${request.stackName} belongs to the environment ${owner}: choose another workspaceName, or remove the tag ` +
      `${environmentTag} of the stack to take it over`,
  );
}

const nestedType = 'AWS::CloudFormation::Stack';

async function resourcesIn(
  { client }: Pick<Api, 'client'>,
  stackId: string,
): Promise<StackResourceSummary[]> {
  const found: StackResourceSummary[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: stackId }))
    found.push(...(page.StackResourceSummaries ?? []));
  return found;
}

/** A resource with what AWS says of it. */
export interface FoundResource extends StackResource {
  readonly status: string;
  readonly reason: string | undefined;
  readonly stackId: string;
}

/** Everything that a stack has, nested stacks and what they have included. */
export async function allResources(
  api: Pick<Api, 'client'>,
  stackId: string,
  within: readonly string[] = [],
): Promise<FoundResource[]> {
  const found: FoundResource[] = [];
  for (const each of await resourcesIn(api, stackId)) {
    const status = each.ResourceStatus ?? '';
    if (status === 'DELETE_COMPLETE') continue;
    const physicalId = each.PhysicalResourceId || null;
    const resource = {
      logicalId: each.LogicalResourceId ?? '',
      physicalId,
      type: each.ResourceType ?? '',
      within,
      status,
      reason: each.ResourceStatusReason,
      stackId,
    };
    found.push(resource);
    if (resource.type === nestedType && physicalId?.startsWith('arn:') === true)
      found.push(...(await allResources(api, physicalId, [...within, resource.logicalId])));
  }
  return found;
}

/** Resources in the words of an error. */
export function inWords(
  resources: readonly Pick<FoundResource, 'logicalId' | 'type' | 'within' | 'reason'>[],
): string {
  const named = resources
    .slice(0, 10)
    .map(
      ({ within, logicalId, type, reason }) =>
        `${[...within, logicalId].join('.')} (${type}${reason ? `: ${reason}` : ''})`,
    );
  return `${named.join(', ')}${resources.length > 10 ? ` and ${resources.length - 10} more` : ''}`;
}
