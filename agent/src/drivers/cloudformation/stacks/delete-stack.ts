/** `delete-stack`: the stack whose deletion was approved, and nothing of the same name. */
import { DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import { type Api, StackProblem } from './api/api.ts';
import { tell } from './api/tell.ts';
import { EventLog } from './events.ts';
import { allResources, findStack, inWords, isAtWork, statusOf } from './stack.ts';

export async function deleteStack(api: Api): Promise<undefined> {
  const { client, request } = api;
  const { stackId } = JSON.parse(api.approved) as { readonly stackId: string };
  const before = await findStack(api, stackId);
  if (before === null || statusOf(before) === 'DELETE_COMPLETE') {
    tell(`Stack ${request.stackName} is gone already.`);
    return undefined;
  }
  const log = await EventLog.from(api, stackId);
  if (!isAtWork(statusOf(before))) {
    // Only after a failure AWS lets resources be left behind.
    const retained = statusOf(before) === 'DELETE_FAILED' ? request.retained : [];
    await client.send(
      new DeleteStackCommand({
        StackName: stackId,
        ClientRequestToken: request.deploymentId,
        ...(retained.length === 0 ? {} : { RetainResources: [...retained] }),
        ...(request.roleArn === null ? {} : { RoleARN: request.roleArn }),
      }),
    );
  }
  const after = await log.follow();
  if (statusOf(after) === 'DELETE_COMPLETE') {
    tell(`Stack ${request.stackName} is deleted.`);
    return undefined;
  }
  const left = await allResources(api, stackId);
  const failed = left.filter(({ status }) => status === 'DELETE_FAILED');
  throw new StackProblem(
    `stack ${request.stackName} is ${statusOf(after)}: ${log.firstFailure() ?? after?.StackStatusReason ?? 'AWS gives no reason'}\n` +
      `(what is left: ${inWords(failed.length > 0 ? failed : left)}; correct the reason and destroy again, or leave resources behind with ` +
      '--retain-resources in ENVARIUM_CF_CLI_ARGS_DELETE_STACK)',
  );
}
