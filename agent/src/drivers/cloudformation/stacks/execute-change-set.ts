/** `execute-change-set`: exactly the approved change set, once. Work that has begun is followed. */
import {
  CancelUpdateStackCommand,
  ExecuteChangeSetCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { type Api, explain, StackProblem } from './api/api.ts';
import type { ApprovedChangeSet } from './api/reports.ts';
import { tell } from './api/tell.ts';
import { describeChangeSet } from './describe-change-set.ts';
import { EventLog } from './events.ts';
import { findStack, statusOf } from './stack.ts';

const goodStatuses = ['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'IMPORT_COMPLETE'];

/** Consequence of a failure, by the status in which it left the stack. */
const consequences: Readonly<Record<string, string>> = {
  ROLLBACK_COMPLETE:
    'everything was rolled back; the next deployment removes what is left of the stack and creates another one',
  UPDATE_ROLLBACK_COMPLETE:
    'everything was rolled back to what it was before; correct the reason, then deploy again',
  ROLLBACK_FAILED: 'the rollback has failed, too; destroy the environment, then deploy again',
  UPDATE_ROLLBACK_FAILED: 'the rollback has failed, too; the next deployment says what to do',
  CREATE_FAILED: 'nothing was rolled back; destroy the environment, then deploy again',
  UPDATE_FAILED: 'nothing was rolled back; correct the reason, then deploy again',
};

/** @throws StackProblem unless the approved change set is as it was approved */
async function expectApproved(api: Api, approved: ApprovedChangeSet): Promise<'ready' | 'begun'> {
  const now = await describeChangeSet(api);
  const problem =
    typeof now.state === 'string'
      ? now.hash === approved.hash
        ? null
        : 'it has other changes'
      : now.state.problem;
  if (problem !== null)
    throw new StackProblem(`nothing was executed, because ${problem}: deploy again and approve the new plan`);
  return typeof now.state === 'string' ? now.state : 'ready';
}

/**
 * An interrupted run has AWS undo an update; a creation is not stopped, and the next run waits for its end.
 * @param begun ends once AWS has answered the request to begin: before that, there is nothing to cancel
 */
function onInterrupt(
  { client }: Api,
  { stackId, isUpdate, begun }: { stackId: string; isUpdate: boolean; begun: Promise<unknown> },
): Disposable {
  const stop = async () => {
    await begun.catch(() => undefined);
    if (!isUpdate) tell('Stopped: AWS still works on the stack, and the next run waits for its end.');
    else
      await client
        .send(new CancelUpdateStackCommand({ StackName: stackId }))
        .then(() =>
          tell('Stopped: AWS cancels the update and rolls it back; the next run waits for its end.'),
        )
        .catch((error: unknown) => tell(`Stopped, but the update was not cancelled: ${explain(error)}`));
    process.exit(130);
  };
  const listener = () => void stop();
  process.once('SIGINT', listener);
  return { [Symbol.dispose]: () => process.removeListener('SIGINT', listener) };
}

function judge(stack: Stack | null, log: EventLog, stackName: string): void {
  const status = statusOf(stack);
  if (goodStatuses.includes(status)) return tell(`Stack ${stackName} is ${status}.`);
  const reason = log.firstFailure() ?? stack?.StackStatusReason ?? 'AWS gives no reason';
  const consequence = consequences[status];
  throw new StackProblem(
    `stack ${stackName} is ${status}: ${reason}${consequence === undefined ? '' : `\n(${consequence})`}`,
  );
}

/** Ending the observation of AWS does not end its work. */
async function followed(log: EventLog): Promise<Stack | null> {
  try {
    return await log.follow();
  } catch (error) {
    throw new StackProblem(
      `${explain(error)}\n(AWS still works on the stack: the next deployment waits for its end)`,
      { cause: error },
    );
  }
}

export async function executeChangeSet(api: Api): Promise<undefined> {
  const { client, request } = api;
  const approved = JSON.parse(api.approved) as ApprovedChangeSet;
  const changeSetId = approved.changeSetId ?? '';
  const token = request.deploymentId;
  const state = await expectApproved(api, approved);
  const { stackId } = approved;
  const before = statusOf(await findStack(api, stackId));
  const isUpdate = before !== 'REVIEW_IN_PROGRESS' && !before.startsWith('CREATE_IN');
  const log = state === 'begun' ? await EventLog.of(api, stackId, token) : await EventLog.from(api, stackId);
  if (state === 'begun')
    tell('This deployment has begun to execute the change set already: its work is followed.');
  const execution = new ExecuteChangeSetCommand({
    ChangeSetName: changeSetId,
    StackName: stackId,
    ClientRequestToken: token,
    ...(request.disablesRollback ? { DisableRollback: true } : {}),
  });
  const begun: Promise<unknown> = state === 'begun' ? Promise.resolve() : client.send(execution);
  // From here on: AWS may have begun before its answer arrives.
  using _ = onInterrupt(api, { stackId, isUpdate, begun });
  await begun;
  judge(await followed(log), log, request.stackName);
  return undefined;
}
