/** Commands about templates. */
import type { Command } from 'commander';
import type { Template } from '#contract/templates/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findEnvironment, findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { addTemplateEditCommands } from './edit-templates.ts';
import { findTemplate } from './find-template.ts';

const columns: TableColumn<Template>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TOOL', value: ({ type }) => type },
  { head: 'REPOSITORY', value: ({ repository }) => repository },
  { head: 'REVISION', value: ({ revision }) => revision ?? '', isExtra: true },
  { head: 'CHANGED', value: ({ updatedAt }) => timeText(updatedAt), isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

/** @throws BadCall unless exactly one of both is specified */
async function shown(
  session: CommandSession,
  idOrName: string | undefined,
  environment: string | undefined,
): Promise<Template> {
  const { client } = session;
  if ((idOrName === undefined) === (environment === undefined))
    throw new BadCall('Specify either a template, or --environment with the id or name of an environment.');
  if (environment === undefined)
    return findTemplate(client, (await findOrganization(session)).id, idOrName ?? '');
  const { blueprintId, latestDeploymentLog } = await findEnvironment(session, environment);
  return client.call('getTemplate', { params: { id: blueprintId ?? latestDeploymentLog.blueprintId } });
}

/** Retries of a failed run, in words. */
function retryText({ retry }: Template): string | undefined {
  const parts = [
    ['deploys', retry?.onDeploy],
    ['destroys', retry?.onDestroy],
  ] as const;
  const texts = parts.flatMap(([what, rule]) => {
    if (!rule?.times) return [];
    return `${what} ${rule.times}×${rule.errorRegex ? ` on ${rule.errorRegex}` : ''}`;
  });
  return texts.length > 0 ? texts.join(', ') : undefined;
}

async function projectNames(session: CommandSession, template: Template): Promise<string> {
  const ids = template.projectIds ?? [];
  if (ids.length === 0) return '';
  const { organizationId } = template;
  const all = await session.client.call('listProjects', { query: { organizationId } });
  return ids.map((id) => all.find((each) => each.id === id)?.name ?? id).join(', ');
}

/** A tool with the version that the template requests of it. */
function withVersion(template: Template, tool: string): string {
  const version = (template as unknown as Readonly<Record<string, unknown>>)[`${tool}Version`];
  return typeof version === 'string' && version !== '' ? `${tool} ${version}` : tool;
}

async function show(session: CommandSession, template: Template): Promise<void> {
  const { output, isJson } = session;
  if (isJson) return output.json(template);
  return output.fields([
    ['Name', template.name],
    ['Id', template.id],
    ['Tool', withVersion(template, template.type)],
    ['Runs', template.terragruntTfBinary && withVersion(template, template.terragruntTfBinary)],
    ['Units', template.isTerragruntRunAll ? 'all below the folder' : undefined],
    ['Repository', template.repository],
    ['Revision', template.revision || 'the default branch'],
    ['Folder', template.path],
    ['File', template.fileName],
    ['Description', template.description],
    ['Projects', await projectNames(session, template)],
    ['Retries', retryText(template)],
    ['Deleted', template.isDeleted ? 'yes' : undefined],
    ['Changed', timeText(template.updatedAt)],
  ]);
}

function addReads(group: Command): void {
  const list = group
    .command('list')
    .description('list templates')
    .option('--project <project>', 'only those that this project may use: its id or exact name');
  onCall<{ project?: string }>(list, async ({ session, options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const query =
      options.project === undefined
        ? { organizationId }
        : { projectId: (await findProject(client, organizationId, options.project)).id };
    const all = await client.call('listTemplates', { query });
    return session.list(all, columns, 'No templates.');
  });
  const one = group
    .command('show [template]')
    .description('show a template: its id or exact name')
    .option('-e, --environment <environment>', 'the template of this environment: its id or exact name');
  onCall<{ environment?: string }>(one, async ({ session, args: [idOrName], options }) =>
    show(session, await shown(session, idOrName, options.environment)),
  );
}

function addProjects(group: Command): void {
  onCall(
    group.command('add-project <template> <project>').description('let a project use the template'),
    async ({ session, args: [idOrName = '', name = ''] }) => {
      const { client } = session;
      const { id: organizationId } = await findOrganization(session);
      const { id } = await findTemplate(client, organizationId, idOrName);
      const project = await findProject(client, organizationId, name);
      const params = { id };
      return show(
        session,
        await client.call('addTemplateToProject', { params, body: { projectId: project.id } }),
      );
    },
  );
  onCall(
    group
      .command('remove-project <template> <project>')
      .description('stop a project from using the template; its environments keep working'),
    async ({ session, args: [idOrName = '', name = ''] }) => {
      const { client } = session;
      const { id: organizationId } = await findOrganization(session);
      const { id } = await findTemplate(client, organizationId, idOrName);
      const project = await findProject(client, organizationId, name, { withArchived: true });
      const params = { id, projectId: project.id };
      return show(session, await client.call('removeTemplateFromProject', { params }));
    },
  );
}

function addDelete(group: Command): void {
  onCall(
    group
      .command('delete <template>')
      .description('delete a template: its id or exact name; environments that use it keep working'),
    async ({ session, args: [idOrName = ''] }) => {
      const { client } = session;
      const { id, name } = await findTemplate(client, (await findOrganization(session)).id, idOrName);
      const deleted = await client.call('deleteTemplate', { params: { id } });
      return session.answer(deleted, `Template ${plain(name)} was deleted`);
    },
  );
}

export function addTemplateCommands(program: Command): void {
  const group = program
    .command('templates')
    .alias('template')
    .description('templates: code that environments share');
  addReads(group);
  addTemplateEditCommands(group);
  addProjects(group);
  addDelete(group);
}
