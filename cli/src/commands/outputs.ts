import type { Command } from 'commander';
import type { Outputs } from '#contract/deployments/plan.ts';
import { onCall } from '../command-line.ts';
import { BadCall } from '../exit-codes.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find-deployment.ts';
import { findEnvironment } from '../find-environment.ts';
import type { Session } from '../session/session.ts';
import { showOutputs, valueText } from '../show-deployment.ts';

interface OutputFlags extends DeploymentFlags {
  readonly name?: string;
}

/**
 * Outputs of an environment: those of what changed it last. Later runs that failed or only looked have none.
 */
async function outputsOfEnvironment(session: Session, idOrName: string): Promise<Outputs> {
  const { id } = await findEnvironment(session, idOrName);
  const [latest] = await session.client.call('listDeployments', {
    params: { id },
    query: { deploymentTypes: 'deploy,destroy', statuses: 'SUCCESS', limit: 1 },
  });
  return latest?.type === 'deploy' ? (latest.output ?? {}) : {};
}

async function outputsOf(session: Session, given: string | undefined, flags: OutputFlags): Promise<Outputs> {
  if (given === undefined && flags.environment !== undefined)
    return outputsOfEnvironment(session, flags.environment);
  const id = await findDeploymentId(session, given, flags);
  return (await session.client.call('getDeployment', { params: { id } })).output ?? {};
}

export function addOutputCommands(program: Command): void {
  const outputs = withDeploymentFlags(
    program
      .command('outputs')
      .description('show the outputs of a deployment, or those that an environment has now'),
  ).option('--name <output>', 'only the value of this output, as it is');
  onCall<OutputFlags>(outputs, async ({ session, args: [given], options }) => {
    const all = await outputsOf(session, given, options);
    if (options.name === undefined)
      return session.isJson ? session.output.json(all) : showOutputs(session.output, all);
    const one = all[options.name];
    if (!one)
      throw new BadCall(
        `There is no output "${options.name}". There ${Object.keys(all).length === 0 ? 'are none' : `are: ${Object.keys(all).join(', ')}`}.`,
      );
    return session.isJson ? session.output.json(one) : session.output.line(valueText(one.value));
  });
}
