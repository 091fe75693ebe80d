import type { Command } from 'commander';
import type { Resource } from '#contract/plan.ts';
import { onCall } from '../command-line.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find-deployment.ts';
import type { Column } from '../table.ts';

const columns: Column<Resource>[] = [
  { head: 'TYPE', value: ({ type }) => type, isWhole: true },
  { head: 'NAME', value: ({ name }) => name },
  { head: 'MODULE', value: ({ moduleName }) => moduleName, isExtra: true },
  { head: 'PROVIDER', value: ({ provider }) => provider, isExtra: true },
];

export function addResourceCommands(program: Command): void {
  const resources = withDeploymentFlags(
    program.command('resources').description('list the resources that a deployment has left; while it applies, those so far'),
  );
  onCall<DeploymentFlags>(resources, async ({ session, args: [given], options }) => {
    const id = await findDeploymentId(session, given, options);
    const all = await session.client.call('listDeploymentResources', { params: { id } });
    return session.isJson ? session.output.json(all) : session.output.table(all, columns, 'No resources.');
  });
}
