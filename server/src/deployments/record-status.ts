/** Records the status of a deployment for the readers of its event stream and of its organization's. */
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../context.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { recordOrganizationEvents } from '../feeds/organization-events.ts';
import { recordEvent } from '../feeds/record-event.ts';
import type { DeploymentRow } from './deployment-store.ts';
import { waitingFor } from './waiting-for.ts';

/** Tells readers where a deployment stands now; the last of these is its end. */
export async function recordStatus(
  context: Context,
  row: DeploymentRow,
  environment: EnvironmentRow,
): Promise<void> {
  const status = row.status as DeploymentStatus;
  const both = { status, environmentStatus: environment.status };
  const data = {
    ...both,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    waitingFor: await waitingFor(context, row),
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
