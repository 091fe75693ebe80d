/** Followers of an environment, as the interface returns them. */

import { withoutNulls } from '#contract/schema/without-nulls.ts';
import type { DownstreamEnvironment } from '#contract/triggers/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { getTemplateRows } from '../../rows/templates/template-store.ts';
import { type DownstreamRow, listDownstreamRows } from '../../rows/triggers/downstream-store.ts';

function lastTrigger(row: DownstreamRow): Pick<DownstreamEnvironment, 'lastTrigger'> {
  if (row.last_at === null || row.last_cause_id === null) return {};
  const rest = withoutNulls({ deploymentId: row.last_deployment_id, reason: row.last_reason });
  return { lastTrigger: { at: row.last_at.toISOString(), causedBy: row.last_cause_id, ...rest } };
}

/** The right was checked on the environment. @returns those that the caller may see, oldest first */
export async function listDownstream(
  { db, actor }: ActorContext,
  upstreamId: string,
): Promise<DownstreamEnvironment[]> {
  const rows = await listDownstreamRows(db, upstreamId);
  const environments = await getEnvironmentRows(
    db,
    rows.map((row) => row.downstream_id),
  );
  const templates = await getTemplateRows(db, [...new Set(environments.map((row) => row.template_id))]);
  return rows.flatMap((row) => {
    const environment = environments.find(({ id }) => id === row.downstream_id);
    if (!environment || !actor.access.has('VIEW_ENVIRONMENT', inEnvironment(environment))) return [];
    const { id, name, workspace_name: workspaceName, project_id: projectId, status } = environment;
    const blueprintName = templates.find((each) => each.id === environment.template_id)?.name ?? '';
    return [
      {
        id,
        name,
        workspaceName,
        projectId,
        status,
        latestDeploymentLog: { blueprintName },
        ...lastTrigger(row),
      },
    ];
  });
}
