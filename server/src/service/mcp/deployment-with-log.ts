/** A deployment with its steps, and the log of one of them. */
import type { McpDeployment } from '#contract/mcp/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import type { StepRow } from '../../rows/logs/step-store.ts';
import { listStepRows } from '../../rows/logs/step-store.ts';
import { deploymentView } from '../../runs/deployments/views/deployment-view.ts';
import { stepView } from '../../runs/logs/step-view.ts';
import { requireDeploymentRow } from './latest-deployment.ts';
import { failedStep, mcpLog } from './mcp-log.ts';

/** @throws Refusal 400 for a step that the deployment does not have, or that has not started */
function requestedStep(steps: readonly StepRow[], name: string): StepRow {
  const step = steps.find((each) => each.name === name);
  if (!step) {
    const names = steps.map((each) => each.name).join(', ') || 'none';
    throw badField('query.stepName', `is not a step of this deployment. Its steps: ${names}`);
  }
  if (step.status === 'NOT_STARTED')
    throw badField('query.stepName', `names the step "${name}", which has not started`);
  return step;
}

/** @param stepName empty or absent: the first step that failed or timed out, if any */
export async function deploymentWithLog(
  context: ActorContext,
  id: string,
  stepName = '',
): Promise<McpDeployment> {
  const row = await requireDeploymentRow(context, id);
  const steps = await listStepRows(context.db, id);
  const step = stepName === '' ? failedStep(steps) : requestedStep(steps, stepName);
  return {
    deployment: await deploymentView(context, row),
    steps: steps.map((each) => stepView(each, row)),
    log: step ? await mcpLog(context, step) : null,
  };
}
