/** Brings a stack into a state in which a change set can be made, or says what keeps it from that. */
import {
  ContinueUpdateRollbackCommand,
  DeleteStackCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { stackVariableNames } from '#protocol/tools/cloudformation/variables.ts';
import { type Api, StackProblem } from './api/api.ts';
import { tell } from './api/tell.ts';
import { EventLog } from './events.ts';
import { allResources, findStack, inWords, ownerOf, refuseOthers, settledStack, statusOf } from './stack.ts';

export interface ReadyStack {
  readonly isCreation: boolean;
  /** Of a stack that is there; null: there is none. */
  readonly stackId: string | null;
}

const updatable = [
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'UPDATE_FAILED',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
];

/** Remedy for a status in which no deployment can start. */
const remedies: Readonly<Record<string, string>> = {
  CREATE_FAILED:
    'its creation has failed and was not rolled back: destroy the environment, then deploy again',
  ROLLBACK_FAILED:
    'its creation has failed, and so has its rollback: destroy the environment, then deploy again',
  IMPORT_ROLLBACK_FAILED:
    'an import and its rollback have failed: correct the stack in AWS, then deploy again',
  UPDATE_ROLLBACK_FAILED:
    `an update and its rollback have failed. Correct what the events say, and set ${stackVariableNames.continuesRollback} to true: ` +
    'the next deployment continues the rollback. With a list of resources instead of true, it skips these',
  DELETE_FAILED:
    'its deletion has failed: destroy the environment again, which tries once more; --retain-resources in ' +
    'ENVARIUM_CF_CLI_ARGS_DELETE_STACK leaves resources behind that cannot be deleted',
};

export const protectionRemedy =
  'its termination protection is on: switch it off in AWS (aws cloudformation update-termination-protection ' +
  '--no-enable-termination-protection), then start again';

/** A stack whose creation was rolled back can only be deleted; it has no resources, unless some were kept. */
async function removeRolledBack(api: Api, stack: Stack): Promise<void> {
  const { client, request } = api;
  const { StackName = '', StackId = '' } = stack;
  if (request.isPlanOnly)
    throw new StackProblem(
      `stack ${StackName} is ROLLBACK_COMPLETE: its creation has failed, and ` +
        'nothing can be planned until a deployment has removed it',
    );
  if (ownerOf(stack) === undefined)
    throw new StackProblem(
      `stack ${StackName} is ROLLBACK_COMPLETE, and no deployment of this environment has made it: delete it in AWS, then deploy again`,
    );
  if (stack.EnableTerminationProtection === true)
    throw new StackProblem(
      `stack ${StackName} is ROLLBACK_COMPLETE and has to be deleted first, but ${protectionRemedy}`,
    );
  const left = await allResources(api, StackId);
  const existing = left.filter(({ status }) => status !== 'DELETE_SKIPPED');
  if (existing.length > 0)
    throw new StackProblem(
      `stack ${StackName} is ROLLBACK_COMPLETE and still has ${inWords(existing)}: destroy the environment, then deploy again`,
    );
  tell(
    `The creation of stack ${StackName} has failed and was rolled back: ` +
      'what is left of the stack is deleted, which has no resources.',
  );
  if (left.length > 0)
    tell(
      `These exist and belong to no stack any more: ${inWords(left)}. A new stack may conflict with them.`,
    );
  await client.send(new DeleteStackCommand({ StackName: StackId }));
  const after = await settledStack(api, StackId, false);
  if (statusOf(after) !== 'DELETE_COMPLETE')
    throw new StackProblem(
      `stack ${StackName} could not be deleted: it is ${statusOf(after)} (${after?.StackStatusReason ?? 'no reason'})`,
    );
}

/** @throws StackProblem if the rollback fails again */
async function continueRollback(api: Api, stack: Stack, skipped: readonly string[]): Promise<void> {
  const { StackName = '', StackId = '' } = stack;
  tell(
    `The rollback of stack ${StackName} is continued${skipped.length === 0 ? '' : ` without ${skipped.join(', ')}`}.`,
  );
  const log = await EventLog.from(api, StackId);
  await api.client.send(
    new ContinueUpdateRollbackCommand({
      StackName: StackId,
      ...(skipped.length === 0 ? {} : { ResourcesToSkip: [...skipped] }),
      ...(api.request.roleArn === null ? {} : { RoleARN: api.request.roleArn }),
    }),
  );
  const after = await log.follow();
  if (statusOf(after) !== 'UPDATE_ROLLBACK_COMPLETE')
    throw new StackProblem(
      `stack ${StackName} is ${statusOf(after)}: ${log.firstFailure() ?? 'the rollback has failed again'}`,
    );
}

function refuse(stack: Stack): never {
  const status = statusOf(stack);
  const why = stack.StackStatusReason ? ` (${stack.StackStatusReason})` : '';
  throw new StackProblem(
    `stack ${stack.StackName} is ${status}${why}: ${remedies[status] ?? 'no deployment can start from this'}`,
  );
}

async function refuseFailedDeletion(api: Api, stack: Stack): Promise<never> {
  const failed = (await allResources(api, stack.StackId ?? '')).filter(
    ({ status }) => status === 'DELETE_FAILED',
  );
  throw new StackProblem(
    `stack ${stack.StackName} is DELETE_FAILED${failed.length === 0 ? '' : `, because of ${inWords(failed)}`}: ${remedies['DELETE_FAILED']}`,
  );
}

/** @throws StackProblem that says what to do */
export async function readyStack(api: Api): Promise<ReadyStack> {
  const { request } = api;
  const found = await findStack(api, request.stackName);
  if (found !== null) refuseOthers(found, api);
  const stack = found === null ? null : await settledStack(api, request.stackName);
  if (stack === null) return { isCreation: true, stackId: null };
  const status = statusOf(stack);
  const stackId = stack.StackId ?? null;
  if (status === 'REVIEW_IN_PROGRESS') return { isCreation: true, stackId };
  if (status === 'ROLLBACK_COMPLETE') {
    await removeRolledBack(api, stack);
    return { isCreation: true, stackId: null };
  }
  if (status === 'DELETE_COMPLETE') return { isCreation: true, stackId: null };
  if (status === 'UPDATE_ROLLBACK_FAILED' && request.continuesRollback !== null && !request.isPlanOnly) {
    await continueRollback(api, stack, request.continuesRollback);
    return { isCreation: false, stackId };
  }
  if (status === 'DELETE_FAILED') return refuseFailedDeletion(api, stack);
  if (!updatable.includes(status)) return refuse(stack);
  if (ownerOf(stack) === undefined)
    tell(
      `Stack ${stack.StackName} exists, and no deployment of this environment has made it: the apply takes it over.`,
    );
  return { isCreation: false, stackId };
}
