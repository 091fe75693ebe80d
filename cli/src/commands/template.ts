import type { Command } from 'commander';
import { onCall } from '../command-line.ts';
import { timeText } from '../terminal/durations.ts';
import { BadCall } from '../exit-codes.ts';
import { findEnvironment } from '../find-environment.ts';
import type { Session } from '../session/session.ts';

/** @throws BadCall unless exactly one is specified */
async function templateId(
  session: Session,
  given: string | undefined,
  environment: string | undefined,
): Promise<string> {
  if ((given === undefined) === (environment === undefined))
    throw new BadCall(
      'Specify either the id of a template, or --environment with the id or name of an environment.',
    );
  if (environment === undefined) return given ?? '';
  const { blueprintId, latestDeploymentLog } = await findEnvironment(session, environment);
  return blueprintId ?? latestDeploymentLog.blueprintId;
}

export function addTemplateCommands(program: Command): void {
  const group = program
    .command('template')
    .description('templates: where the code of environments comes from');
  const show = group
    .command('show [template]')
    .description('show a template: its id')
    .option('-e, --environment <environment>', 'the template of this environment: its id or exact name');
  onCall<{ environment?: string }>(show, async ({ session, args: [given], options }) => {
    const { client, output, isJson } = session;
    const template = await client.call('getTemplate', {
      params: { id: await templateId(session, given, options.environment) },
    });
    if (isJson) return output.json(template);
    return output.fields([
      ['Name', template.name],
      ['Id', template.id],
      ['Tool', template.type],
      ['Repository', template.repository],
      ['Revision', template.revision || 'the default branch'],
      ['Folder', template.path],
      ['Description', template.description],
      ['Changed', timeText(template.updatedAt)],
    ]);
  });
}
