/** Logs of deployments as MCP servers read them: of a step, of a plan, or of a failure. */
import type { LogEvent } from '#contract/deployments/shapes.ts';
import {
  type McpDeployment,
  type McpErrorAnalysis,
  type McpLog,
  type McpPlanLog,
  mcpLogKilobytes,
} from '#contract/mcp/shapes.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { badField, Refusal } from '../../ground/errors.ts';
import { listStepRows, readLog, type StepRow } from '../../rows/logs/step-store.ts';
import { deploymentView } from '../../runs/deployments/views/deployment-view.ts';
import { linesOf, wholeLinesOf } from '../../runs/logs/step-log.ts';
import { stepView } from '../../runs/logs/step-view.ts';
import { latestDeployment, requireDeploymentRow } from './latest-deployment.ts';

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

/**
 * A deployment with its steps, and the log of one of them.
 * @param stepName empty or absent: the first step that failed or timed out, if any
 */
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

/** Why the latest deployment of an environment failed: its error, and the failed step with its lines. */
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

/**
 * Plan of the latest deployment of an environment, from its log.
 * @throws Refusal 404 for a deployment that does not plan, 400 for one that has not begun to
 */
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

const newline = 0x0a;

/**
 * Number of bytes at the beginning that belong to a line that began before them; of an endless line, to a
 * character.
 */
function cutBytes(bytes: Buffer): number {
  const first = bytes.indexOf(newline);
  if (first >= 0 && first + 1 < bytes.length) return first + 1;
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(start, 0);
}

/**
 * The end of a step's log: what a reader wants who has room for a part of it.
 * @param maximumBytes how much is read at most
 * @returns whole lines, and whether there are others before them
 */
async function readLogEnd(
  { db }: Pick<Context, 'db'>,
  step: StepRow,
  maximumBytes: number,
): Promise<{ events: LogEvent[]; isTruncated: boolean }> {
  const from = Math.max(0, step.log_bytes - maximumBytes);
  const slices = await readLog(db, step.id, from, maximumBytes);
  const read = Buffer.concat(slices.map(({ bytes }) => bytes));
  const cut = from === 0 ? 0 : cutBytes(read);
  const bytes = wholeLinesOf(read.subarray(cut), step);
  return { events: linesOf(bytes, from + cut, slices), isTruncated: from > 0 };
}

/** The first step that failed or timed out. */
function failedStep(steps: readonly StepRow[]): StepRow | undefined {
  return steps.find(({ status }) => status === 'FAIL' || status === 'TIMEOUT');
}

async function mcpLog(context: Pick<Context, 'db'>, step: StepRow): Promise<McpLog> {
  const { events, isTruncated } = await readLogEnd(context, step, mcpLogKilobytes * 1024);
  return { stepName: step.name, events, truncated: isTruncated };
}
