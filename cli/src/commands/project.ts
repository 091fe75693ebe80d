import type { Command } from 'commander';
import type { Project } from '#contract/projects.ts';
import { gather, onCall } from '../command-line.ts';
import { findOrganization, findProject } from '../find-environment.ts';
import type { Column } from '../table.ts';

interface CreateFlags {
  readonly description?: string;
  readonly parent?: string;
  readonly tag?: string[];
}

function columnsFor(projects: readonly Project[]): Column<Project>[] {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return [
    { head: 'NAME', value: ({ name }) => name },
    { head: 'PARENT', value: ({ parentProjectId }) => parentProjectId && (names.get(parentProjectId) ?? parentProjectId) },
    { head: 'ARCHIVED', value: ({ isArchived }) => (isArchived ? 'yes' : '') },
    { head: 'ID', value: ({ id }) => id, isWhole: true },
  ];
}

export function addProjectCommands(program: Command): void {
  const group = program.command('project').description('projects: folders of environments');

  onCall(group.command('list').description('list projects'), async ({ session: { client, output, isJson, organizationId } }) => {
    const projects = await client.call('listProjects', { query: { organizationId } });
    return isJson ? output.json(projects) : output.table(projects, columnsFor(projects), 'No projects.');
  });

  const create = group
    .command('create <name>')
    .description('create a project')
    .option('--description <text>', 'what it is for')
    .option('--parent <project>', 'id or exact name of the project to put it in')
    .option('--tag <text>', 'may be repeated', gather);
  onCall<CreateFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const organization = await findOrganization(session);
    const parent = options.parent === undefined ? undefined : await findProject(client, organization.id, options.parent);
    const project = await client.call('createProject', {
      body: { organizationId: organization.id, name, description: options.description, parentProjectId: parent?.id, tags: options.tag },
    });
    return isJson ? output.json(project) : output.line(`Project ${name} was created: ${project.id}`);
  });
}
