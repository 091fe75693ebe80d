/** Plans of deployments as documents and in numbers. */
import type { Command } from 'commander';
import type { PlanImpact } from '#contract/deployments/plan-impact.ts';
import { onCall } from '../../call/command-line.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../../find/find-deployment.ts';
import type { TableColumn } from '../../terminal/table.ts';

const columns: TableColumn<PlanImpact & { readonly id: string }>[] = [
  { head: 'DEPLOYMENT', value: ({ id }) => id, isWhole: true },
  { head: 'CREATE', value: ({ create }) => create, isWhole: true },
  { head: 'UPDATE', value: ({ update }) => update, isWhole: true },
  { head: 'DELETE', value: (impact) => impact.delete, isWhole: true },
  { head: 'REPLACE', value: ({ recreate }) => recreate, isWhole: true },
  { head: 'STATE ONLY', value: ({ metadata }) => metadata, isExtra: true },
];

/** Adds `plan-json` and `impact` of deployments. */
export function addPlanDocumentCommands(group: Command): void {
  const document = withDeploymentFlags(
    group
      .command('plan-json')
      .description('print the stored plan in the JSON form of terraform, with sensitive values hidden'),
  );
  onCall<DeploymentFlags>(document, async ({ session, args: [deployment], options }) => {
    const id = await findDeploymentId(session, deployment, options);
    return session.output.json(await session.client.call('getPlanJson', { params: { id } }));
  });
  const impact = group
    .command('impact <deployment...>')
    .description('show how many resources the stored plans create, change, destroy and replace');
  onCall(impact, async ({ session, words }) => {
    const { client, output, isJson } = session;
    const impacts = await client.call('getPlanImpact', { query: { deploymentIds: words.join(',') } });
    if (isJson) return output.json(impacts);
    const rows = Object.entries(impacts).map(([id, each]) => ({ id, ...each }));
    await output.table(rows, columns, '');
    for (const { id, destructive = [] } of rows)
      for (const { action, address } of destructive) await output.line(`${id} ${action} ${address}`);
  });
}
