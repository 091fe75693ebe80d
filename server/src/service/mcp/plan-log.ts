/** Plan of the latest deployment of an environment, from its log. */
import type { McpPlanLog } from '#contract/mcp/shapes.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { ActorContext } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { listStepRows } from '../../rows/logs/step-store.ts';
import { latestDeployment } from './latest-deployment.ts';
import { mcpLog } from './mcp-log.ts';

/** @throws Refusal 404 for a deployment that does not plan, 400 for one that has not begun to */
export async function planLog(context: ActorContext, environmentId: string): Promise<McpPlanLog> {
  const { environment, deployment } = await latestDeployment(context, environmentId);
  const { id, tool, type, status } = deployment;
  const name = toolFacts(tool)?.steps.plan;
  const step = (await listStepRows(context.db, id)).find((each) => each.name === name);
  if (!step) {
    const reason =
      status === 'NEVER_DEPLOYED' ? 'was never deployed' : `has no plan: its latest deployment is a ${type}`;
    throw new Refusal('not_found', `Environment "${environment.name}" ${reason}`);
  }
  if (step.status === 'NOT_STARTED')
    throw new Refusal(
      'bad_request',
      `The latest deployment of environment "${environment.name}" is ${status} and has not started to plan`,
    );
  return { deploymentLogId: id, status: step.status, ...(await mcpLog(context, step)) };
}
