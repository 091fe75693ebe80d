/** The environments that references name: what is known of each, and whether this run may use it. */

import { loadAccess } from '../../../framework/access/load-access.ts';
import type { Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { type LastOutputs, lastOutputsOf } from '../../../rows/deployments/last-outputs-store.ts';
import { isUuid } from '../../../rows/entity-home.ts';
import { type EnvironmentRow, getEnvironmentRows } from '../../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../../rows/places.ts';
import { projectsWithOutputsAsInputs } from '../../../rows/project-policies/policy-store.ts';
import { getProjectRows } from '../../../rows/projects/project-store.ts';
import { getUsers, systemUserId } from '../../../rows/users/user-store.ts';

/** User whose rights decide: who started the run, or who created the environment if the service did. */
function readerOf(
  deployment: Pick<DeploymentRow, 'started_by'>,
  environment: Pick<EnvironmentRow, 'user_id'>,
): string {
  return deployment.started_by === systemUserId ? environment.user_id : deployment.started_by;
}

/** An environment that the reader may view. */
export interface OutputEnvironment {
  readonly environment: EnvironmentRow;
  readonly projectName: string;
  /** The policy of its project allows it. */
  readonly isAllowed: boolean;
  /** Absent: nothing was ever deployed. */
  readonly last: LastOutputs | undefined;
}

export interface Sources {
  /** By the id of the environment; one that does not exist, or that the reader may not view, is not there. */
  readonly byId: ReadonlyMap<string, OutputEnvironment>;
  /** Name of the person whose rights decide. */
  readonly reader: string;
  /** Name of an environment in messages: the name is shown only to those who may view it. */
  shown(environment: EnvironmentRow): string;
}

/**
 * @param environment that the run is of: what other organizations have does not exist for it
 * @param ids as references have them: any text
 */
export async function loadSources(
  { db }: Pick<Context, 'db'>,
  deployment: Pick<DeploymentRow, 'started_by'>,
  environment: EnvironmentRow,
  ids: readonly string[],
): Promise<Sources> {
  const readerId = readerOf(deployment, environment);
  const known = [...new Set(ids)].filter((id) => isUuid(id));
  const [rows, access, users, last] = await Promise.all([
    getEnvironmentRows(db, known),
    loadAccess(db, readerId),
    getUsers(db, [readerId]),
    lastOutputsOf(db, known),
  ]);
  const maySee = (row: EnvironmentRow) =>
    row.organization_id === environment.organization_id && access.has('VIEW_ENVIRONMENT', inEnvironment(row));
  const visible = rows.filter(maySee);
  const projectIds = [...new Set(visible.map((row) => row.project_id))];
  const [allowed, projects] = await Promise.all([
    projectsWithOutputsAsInputs(db, projectIds),
    getProjectRows(db, projectIds),
  ]);
  const sources = visible.map((row): [string, OutputEnvironment] => [
    row.id,
    {
      environment: row,
      projectName: projects.find((project) => project.id === row.project_id)?.name ?? '',
      isAllowed: allowed.has(row.project_id),
      last: last.find((each) => each.environment_id === row.id),
    },
  ]);
  return {
    byId: new Map(sources),
    reader: users.get(readerId)?.name ?? readerId,
    shown: (row) => (row.id === environment.id || maySee(row) ? `"${row.name}"` : row.id),
  };
}
