/** Finds a deployment by its id, or as the latest of an environment. */
import type { Command } from 'commander';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { plain } from '../terminal/safe-text.ts';
import { findEnvironment, isId, isIdBeginning } from './find-environment.ts';

export interface DeploymentFlags {
  readonly environment?: string;
}

export function withDeploymentFlags(command: Command): Command {
  return command
    .argument('[deployment]', 'id of the deployment')
    .option(
      '-e, --environment <environment>',
      'the latest deployment of this environment: its id or exact name',
    );
}

/**
 * @param flags name the environment, instead of an id
 * @throws BadCall unless exactly one is specified, or if the environment has no deployment
 */
export async function findDeploymentId(
  session: CommandSession,
  id: string | undefined,
  { environment }: DeploymentFlags,
): Promise<string> {
  if ((id === undefined) === (environment === undefined))
    throw new BadCall(
      'Specify either the id of a deployment, or --environment with the id or name of an environment.',
    );
  if (environment !== undefined) {
    const { latestDeploymentLog, name } = await findEnvironment(session, environment);
    if (latestDeploymentLog.status === 'NEVER_DEPLOYED')
      throw new BadCall(`Environment "${plain(name)}" was never deployed: run "envarium deploy" first.`);
    return latestDeploymentLog.id ?? '';
  }
  if (id !== undefined && isId(id)) return id;
  if (id !== undefined && isIdBeginning(id))
    throw new BadCall(
      `"${id}" is only the beginning of an id: "envarium deployments list" with an environment shows whole ids.`,
    );
  throw new BadCall(
    `"${id}" is not the id of a deployment. For the latest deployment of an environment, use --environment ${id}.`,
  );
}
