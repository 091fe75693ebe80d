/** Why the latest deployment of an environment failed: its error, and the failed step with its lines. */
import type { McpErrorAnalysis } from '#contract/mcp/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { listStepRows } from '../../rows/logs/step-store.ts';
import { stepView } from '../../runs/logs/step-view.ts';
import { latestDeployment } from './latest-deployment.ts';
import { failedStep, mcpLog } from './mcp-log.ts';

export async function analyzeError(context: ActorContext, environmentId: string): Promise<McpErrorAnalysis> {
  const { deployment } = await latestDeployment(context, environmentId);
  const { id, type, status, error, failed_command: failedCommand, diagnostics } = deployment;
  const step = failedStep(await listStepRows(context.db, id));
  return {
    deploymentLogId: id,
    type,
    status,
    error,
    ...(failedCommand === null ? {} : { failedCommand }),
    ...(diagnostics === null ? {} : { diagnostics }),
    failedStep: step ? stepView(step, deployment) : null,
    log: step ? await mcpLog(context, step) : null,
  };
}
