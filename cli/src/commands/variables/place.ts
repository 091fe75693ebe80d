/** The options that name a place with variables and sets: the organization, or something in it. */
import type { Command } from 'commander';
import { findEnvironment, findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { findTemplate } from '../templates/find-template.ts';

export interface VariablePlaceFlags {
  readonly project?: string;
  readonly template?: string;
  readonly environment?: string;
}

export interface VariablePlace {
  readonly kind: 'organization' | 'project' | 'template' | 'environment';
  readonly id: string;
}

/** @param project what `--project` means here */
export function withPlaceFlags(command: Command, project: string): Command {
  return command
    .option('--project <project>', `${project}: its id or exact name`)
    .option('--template <template>', 'a template: its id or exact name')
    .option('-e, --environment <environment>', 'an environment: its id or exact name');
}

/**
 * The place of the options; without any, the organization.
 * @throws BadCall for several places, or one that does not exist
 */
export async function placeOf(session: CommandSession, flags: VariablePlaceFlags): Promise<VariablePlace> {
  const { project, template, environment } = flags;
  if ([project, template, environment].filter((flag) => flag !== undefined).length > 1)
    throw new BadCall('Specify only one of --project, --template and --environment.');
  if (environment !== undefined)
    return { kind: 'environment', id: (await findEnvironment(session, environment)).id };
  const { id } = await findOrganization(session);
  if (template !== undefined)
    return { kind: 'template', id: (await findTemplate(session.client, id, template)).id };
  if (project !== undefined)
    return { kind: 'project', id: (await findProject(session.client, id, project)).id };
  return { kind: 'organization', id };
}
