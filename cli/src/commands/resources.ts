import type { Command } from 'commander';
import type { Resource } from '#contract/deployments/plan.ts';
import { onCall } from '../call/command-line.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find/find-deployment.ts';
import { findEnvironment } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import type { TableColumn } from '../terminal/table.ts';

const columns: TableColumn<Resource>[] = [
  { head: 'TYPE', value: ({ type }) => type, isWhole: true },
  { head: 'NAME', value: ({ name }) => name },
  { head: 'MODULE', value: ({ moduleName }) => moduleName, isExtra: true },
  { head: 'PROVIDER', value: ({ provider }) => provider, isExtra: true },
];

/** Of an environment: those of the last deployment that changed any; deployments that only plan have none. */
async function resourcesOf(
  session: CommandSession,
  deployment: string | undefined,
  flags: DeploymentFlags,
): Promise<Resource[]> {
  const { client } = session;
  if (deployment !== undefined || flags.environment === undefined)
    return client.call('listDeploymentResources', {
      params: { id: await findDeploymentId(session, deployment, flags) },
    });
  const { id } = await findEnvironment(session, flags.environment);
  const query = { deploymentTypes: 'deploy,destroy', limit: 100 };
  const deployments = await client.call('listDeployments', { params: { id }, query });
  const changed = deployments.find(({ resourceCount }) => typeof resourceCount === 'number');
  return changed?.id === undefined
    ? []
    : client.call('listDeploymentResources', { params: { id: changed.id } });
}

export function addResourceCommands(program: Command): void {
  const resources = withDeploymentFlags(
    program
      .command('resources')
      .description('list the resources after a deployment, or the current ones of an environment'),
  );
  onCall<DeploymentFlags>(resources, async ({ session, args: [deployment], options }) => {
    const all = await resourcesOf(session, deployment, options);
    return session.list(all, columns, 'No resources.');
  });
}
