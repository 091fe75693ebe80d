import type { Command } from 'commander';
import { onCall } from '../command-line.ts';
import { timeText } from '../durations.ts';
import { findEnvironment } from '../find-environment.ts';

export function addTemplateCommands(program: Command): void {
  const group = program.command('template').description('where the code of environments comes from');
  const show = group
    .command('show [template]')
    .description('show a template: its id')
    .option('-e, --environment <environment>', 'the one of this environment: its id or exact name');
  onCall<{ environment?: string }>(show, async ({ session, args: [given], options }) => {
    const { client, output, isJson } = session;
    const id =
      given ?? (options.environment === undefined ? '' : ((await findEnvironment(session, options.environment)).blueprintId ?? ''));
    const template = await client.call('getTemplate', { params: { id: id || 'unknown' } });
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
