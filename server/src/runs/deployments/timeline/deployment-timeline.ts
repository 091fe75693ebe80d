/** Breakdown of the time of a deployment, from the reports of its runs. */
import type { DeploymentTimeline, TimelinePhaseName } from '#contract/deployments/timeline.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import { restoreStep, sourceStep, storeStateStep, variablesStep } from '#protocol/tools/steps.ts';
import type { StepFacts } from '#protocol/tools/tool.ts';
import type { Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { listTimedAttempts } from '../../../rows/dispatch/run-store.ts';
import { listDeploymentEvents } from '../../../rows/feeds/event-store.ts';
import { listStepRows, type StepRow } from '../../../rows/logs/step-store.ts';
import { composeTimeline, type TimedCommand, type TimedStep } from './compose-timeline.ts';

const mostCommands = 1_000;
const approvalStep = 'approval:wait';

function phaseNames(row: DeploymentRow, steps: StepFacts | undefined): Map<string, TimelinePhaseName> {
  return new Map<string, TimelinePhaseName>([
    [sourceStep(row.type), 'checkout'],
    [variablesStep, 'setup'],
    ...(steps?.prepare ?? []).map((name) => [name, 'init'] as const),
    [steps?.plan ?? '', 'plan'],
    [restoreStep, 'restore'],
    [steps?.apply ?? '', 'apply'],
    [steps?.destroy ?? '', 'apply'],
    [steps?.outputs ?? '', 'outputs'],
    ['task:run', 'task'],
    [storeStateStep, 'state'],
  ]);
}

function timedSteps(row: DeploymentRow, rows: readonly StepRow[]): TimedStep[] {
  const names = phaseNames(row, toolFacts(row.tool)?.steps);
  const approval = rows.find(({ name }) => name === approvalStep)?.position ?? Infinity;
  return rows.flatMap(({ name, position, started_at: startedAt, completed_at: completedAt }) => {
    const phase = names.get(name);
    if (phase === undefined || startedAt === null || completedAt === null) return [];
    return [{ name, phase, run: position < approval ? 'plan' : 'apply', startedAt, completedAt }] as const;
  });
}

/** The timeline of a deployment, or of as much of it as has happened. */
export async function deploymentTimeline(context: Context, row: DeploymentRow): Promise<DeploymentTimeline> {
  const [steps, attempts, events] = await Promise.all([
    listStepRows(context.db, row.id),
    listTimedAttempts(context.db, row.id),
    listDeploymentEvents(context.db, row.id, 0, { names: ['process'], limit: mostCommands }),
  ]);
  // Steps have the times of the last level.
  const begin = row.level === null ? undefined : attempts[0]?.createdAt;
  const approval = steps.find(({ name }) => name === approvalStep);
  return composeTimeline({
    id: row.id,
    queuedAt: begin ?? row.queued_at,
    startedAt: begin ?? row.started_at,
    finishedAt: row.finished_at,
    isApprovalNeeded: approval !== undefined && approval.started_at !== null,
    attempts,
    steps: timedSteps(row, steps),
    // Only the server writes events, and checks them as it does.
    commands: events
      .map(({ data }) => data as TimedCommand)
      .filter(({ at }) => begin === undefined || new Date(at) >= begin),
  });
}
