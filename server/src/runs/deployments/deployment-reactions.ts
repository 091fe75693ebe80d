/** Reactions of deployments to other events: their own moves, and changes of their project. */

import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../../framework/context.ts';
import type { ArchivedProjects, ReactionPayloads, Reactions } from '../../framework/reactions.ts';
import { afterCommit } from '../../ground/database/transaction.ts';
import { environmentsWithQueued } from '../../rows/deployments/deployment-store.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { recordOrganizationEvents } from '../../rows/feeds/organization-news-store.ts';
import { endRunningSteps } from '../../rows/logs/step-store.ts';
import { recordEvent } from '../feeds/record-event.ts';
import { stepView } from '../logs/step-view.ts';
import { cancelDeployments } from './cancel-deployment.ts';
import { keepDemandsOfProject } from './requests/kept-demands.ts';
import { waitingForNow } from './views/waiting-for.ts';

type MovePayload = ReactionPayloads['deploymentMoved'];

/** The end of steps that were running when their deployment ended. */
const stepStatusAtEnd: Partial<Record<DeploymentStatus, StepStatus>> = {
  SUCCESS: 'SUCCESS',
  FAILURE: 'FAIL',
  INTERNAL_FAILURE: 'FAIL',
  TIMEOUT: 'TIMEOUT',
  ABORTED: 'CANCELLED',
  CANCELLED: 'CANCELLED',
};

async function endSteps(context: Context, { deployment }: MovePayload): Promise<void> {
  const status = stepStatusAtEnd[deployment.status];
  if (!status) return;
  for (const step of await endRunningSteps(context.db, deployment.id, status, context.now()))
    await recordEvent(context, deployment.id, 'step', stepView(step, deployment));
}

/** Writes the current status into the streams; the last one is followed by the end of the stream. */
async function recordStatus(
  context: Context,
  { deployment: row, environment, waiting }: MovePayload,
): Promise<void> {
  const status = row.status;
  const both = { status, environmentStatus: environment.status };
  const data = {
    ...both,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    waitingFor: waiting === undefined ? await waitingForNow(context, row) : waiting,
  };
  await recordEvent(context, row.id, 'status', data);
  const place = { projectId: row.project_id, environmentId: row.environment_id };
  await recordOrganizationEvents(context, [
    {
      ...place,
      organizationId: row.organization_id,
      deploymentId: row.id,
      name: 'deployment',
      data: { ...place, deploymentLogId: row.id, type: row.type, ...data },
    },
  ]);
  if (isTerminal(status)) await recordEvent(context, row.id, 'end', both);
}

/** One line per move, once it is stored. */
function logMove(context: Context, { deployment, from }: MovePayload): void {
  const { status: to, type, id, environment_id, project_id, organization_id } = deployment;
  const fields = {
    deploymentId: id,
    environmentId: environment_id,
    projectId: project_id,
    organizationId: organization_id,
    type,
    from,
    to,
    ...(from === null ? { trigger: deployment.trigger } : {}),
    ...(isTerminal(to) && deployment.error ? { error: deployment.error.message } : {}),
  };
  const level = to === 'INTERNAL_FAILURE' ? 'error' : 'info';
  afterCommit(context.db, () => context.log[level](fields, 'deployment moved'));
}

/** Destroys remain queued: clients request them and then delete the project. */
async function cancelQueued(context: Context, { projectIds, by }: ArchivedProjects): Promise<void> {
  for (const environmentId of await environmentsWithQueued(context.db, projectIds)) {
    const environment = await lockEnvironmentRow(context.db, environmentId);
    if (environment)
      await cancelDeployments(
        { ...context, ...by },
        environment,
        (row) => row.status === 'QUEUED' && row.type !== 'destroy',
      );
  }
}

export const deploymentReactions: Reactions<Context> = {
  deploymentMoved: [endSteps, recordStatus, logMove],
  // Twice: deployments that were queued before the projects were locked are found by the second one.
  projectsArchiving: [cancelQueued],
  projectsArchived: [cancelQueued],
  projectMoving: [keepDemandsOfProject],
};
