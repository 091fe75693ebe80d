/**
 * A destroy and a task run at the commit that was deployed last when their turn comes, whatever the template
 * says by now.
 */
import type { Connection } from '../context.ts';
import { type DeploymentRow, lastDeployed, updateDeploymentRow } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';

/** Why a task cannot run now; null where it can. The caller holds the environment's row lock. */
export async function taskRefusal(tx: Connection, environment: EnvironmentRow): Promise<string | null> {
  const { name, resting_status: resting } = environment;
  if (resting === 'INACTIVE')
    return `Environment "${name}" is inactive: a task has nothing to work on; deploy it first`;
  if ((await lastDeployed(tx, environment.id)) !== undefined) return null;
  return `Environment "${name}" has no deployment that applied anything: a task runs at the commit of the last one; deploy it first`;
}

/**
 * Gives a deployment the code of the last deploy: repository, folder and commit, and for a task also its tool
 * version. Where nothing was deployed, it stays with what the template says.
 */
export async function followLastDeploy(tx: Connection, deployment: DeploymentRow): Promise<DeploymentRow> {
  if (!deployment.follows_last_deploy) return deployment;
  const last = await lastDeployed(tx, deployment.environment_id);
  if (!last) return deployment;
  return updateDeploymentRow(tx, deployment.id, {
    blueprint_repository: last.blueprint_repository,
    blueprint_path: last.blueprint_path,
    commit_hash: last.commit_hash,
    // A task speaks for the environment afterwards, and what that follows is the template's revision.
    ...(deployment.type === 'task'
      ? { tool_version: last.tool_version }
      : { blueprint_revision: last.commit_hash ?? '' }),
  });
}
