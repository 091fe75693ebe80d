/**
 * What a deployment takes over from the last deploy: a destroy and a task run at the commit that was deployed
 * last when their turn comes, and a destroy with the variables that it ran with.
 */
import type { Connection, Context } from '../context.ts';
import type { LockedEnvironment } from '../environments/environment-store.ts';
import type { ResolvedVariables } from '../variables/resolve-variables.ts';
import { type DeploymentRow, lastDeployed, updateDeploymentRow } from './deployment-store.ts';
import { openInputs } from './run-inputs.ts';

/** Why a task cannot run now; null where it can. */
export async function taskRefusal(tx: Connection, environment: LockedEnvironment): Promise<string | null> {
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

/**
 * Terraform variables are those of the last deployment, whose code knows no others; one that was deleted
 * since keeps its last value, or its code could not be planned any more. Environment variables are the
 * current ones: they say how the tool runs (credentials, a proxy), and none comes back that a person has
 * deleted.
 */
export async function withLastVariables(
  context: Context,
  environmentId: string,
  current: ResolvedVariables,
): Promise<ResolvedVariables> {
  const last = await lastDeployed(context.db, environmentId);
  if (!last) return current;
  const known = last.variables.filter((row) => row.type === 1);
  const isKnown = ({ name }: { name: string }) => known.some((row) => row.name === name);
  const deleted = known.filter(
    ({ name }) => !current.rows.some((row) => row.type === 1 && row.name === name),
  );
  const lastValues = openInputs(context, last.id, last.sealed_inputs).terraform;
  return {
    environment: current.environment,
    terraform: [
      ...current.terraform.filter(isKnown),
      ...lastValues.filter(({ name }) => deleted.some((row) => row.name === name)),
    ],
    rows: [...current.rows.filter((row) => row.type === 0 || isKnown(row)), ...deleted],
    unusable: current.unusable,
  };
}
