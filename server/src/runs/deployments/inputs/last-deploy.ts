/**
 * Inputs that a deployment takes from the last deploy: a destroy and a task run at the commit that was deployed
 * last when their turn comes, and a destroy with the variables that it ran with.
 */
import type { Connection, Context } from '../../../framework/context.ts';
import type { ReferenceVariable, ResolvedVariables } from '../../../inputs/variables/resolve-variables.ts';
import { type DeploymentRow, lastDeployed } from '../../../rows/deployments/deployment-store.ts';
import { getInputs } from '../../../rows/deployments/inputs-store.ts';
import { openInputs, type PendingReference } from './run-inputs.ts';

/** The last deploy, for deployments of a type that takes something over from it. */
export async function lastDeployFor(
  db: Connection,
  deployment: Pick<DeploymentRow, 'type' | 'environment_id'>,
): Promise<DeploymentRow | undefined> {
  const isNeeded = deployment.type === 'destroy' || deployment.type === 'task';
  return isNeeded ? lastDeployed(db, deployment.environment_id) : undefined;
}

/**
 * Pure: the code of the last deploy (template, repository, folder and commit), and its tool with the version: a
 * template that names another tool since has no code for what was deployed.
 * Where nothing was deployed, the deployment runs what the template specifies.
 */
export function lastDeployColumns(
  deployment: Pick<DeploymentRow, 'follows_last_deploy'>,
  last: DeploymentRow | undefined,
) {
  if (!deployment.follows_last_deploy || !last) return {};
  return {
    template_id: last.template_id,
    template_name: last.template_name,
    repository: last.repository,
    path: last.path,
    commit_to_run: last.commit_hash,
    run_settings: last.run_settings && JSON.stringify(last.run_settings),
    tool: last.tool,
    tool_version: last.tool_version,
  };
}

/** The variables of a destroy. */
export interface VariablesOfDestroy extends ResolvedVariables {
  readonly references: PendingReference[];
}

/**
 * Terraform variables are those of the last deployment, whose code knows no others; one that was deleted
 * since keeps its last value, or its code could not be planned any more. Environment variables are the
 * current ones: they say how the tool runs (credentials, a proxy), and a deleted one does not come back.
 * References to outputs keep their last value for the case that the output is gone.
 * @param isDeployAhead the destroy waits for a deploy, whose code may know all of the current ones
 */
export async function withLastVariables(
  context: Pick<Context, 'db' | 'sealer'>,
  last: Pick<DeploymentRow, 'id'> | undefined,
  current: ResolvedVariables,
  isDeployAhead: boolean,
): Promise<VariablesOfDestroy> {
  const lastInputs = last && (await getInputs(context.db, last.id));
  if (!lastInputs) return current;
  const known = lastInputs.variables.filter((row) => row.type === 1);
  const isKnown = ({ name }: { name: string }) => isDeployAhead || known.some((row) => row.name === name);
  const deleted = known.filter(
    ({ name }) => !current.rows.some((row) => row.type === 1 && row.name === name),
  );
  const { environment, terraform } = openInputs(context, lastInputs.id, lastInputs.sealed_inputs);
  const lastOf = ({ name, type }: ReferenceVariable) =>
    (type === 0 ? environment : terraform).find((each) => each.name === name);
  return {
    environment: current.environment,
    terraform: [
      ...current.terraform.filter(isKnown),
      ...terraform.filter(({ name }) => deleted.some((row) => row.name === name)),
    ],
    references: current.references
      .filter((each) => each.type === 0 || isKnown(each))
      .map((each) => ({ ...each, last: lastOf(each) })),
    rows: [...current.rows.filter((row) => row.type === 0 || isKnown(row)), ...deleted],
    unusable: current.unusable,
    setIds: current.setIds,
    approval: current.approval,
  };
}
