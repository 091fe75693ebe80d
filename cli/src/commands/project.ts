import type { Command } from 'commander';
import type { Project } from '#contract/projects/shapes.ts';
import type { EnvironmentSchedule } from '#contract/schedules/shapes.ts';
import { gather, onCall } from '../call/command-line.ts';
import { findOrganization, findProject, projectOf } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';

interface CreateProjectFlags {
  readonly description?: string;
  readonly parent?: string;
  readonly tag?: string[];
}

interface UpdateProjectFlags {
  readonly name?: string;
  readonly description?: string;
  readonly tag?: string[];
  readonly tags: boolean;
}

function columnsFor(projects: readonly Project[]): TableColumn<Project>[] {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return [
    { head: 'NAME', value: ({ name }) => name },
    {
      head: 'PARENT',
      value: ({ parentProjectId }) => parentProjectId && (names.get(parentProjectId) ?? parentProjectId),
    },
    { head: 'ARCHIVED', value: ({ isArchived }) => (isArchived ? 'yes' : '') },
    { head: 'ID', value: ({ id }) => id, isId: true },
  ];
}

const scheduleColumns: TableColumn<EnvironmentSchedule>[] = [
  { head: 'ENVIRONMENT', value: ({ deploy, destroy }) => (deploy ?? destroy)?.environmentId, isWhole: true },
  { head: 'DEPLOY', value: ({ deploy }) => deploy?.cron },
  { head: 'NEXT', value: ({ deploy }) => timeText(deploy?.nextSchedule), isExtra: true },
  { head: 'DESTROY', value: ({ destroy }) => destroy?.cron },
  { head: 'NEXT', value: ({ destroy }) => timeText(destroy?.nextSchedule), isExtra: true },
];

async function show({ output, isJson }: CommandSession, project: Project): Promise<void> {
  if (isJson) return output.json(project);
  return output.fields([
    ['Name', project.name],
    ['Id', project.id],
    ['Description', project.description],
    ['Parent', project.parentProjectId],
    ['Archived', project.isArchived ? 'yes' : undefined],
    ['Tags', project.tags.join(', ')],
    ['Role', project.role],
    ['Created', `${timeText(project.createdAt)} by ${project.createdByUser?.name ?? project.createdBy}`],
  ]);
}

function addCreate(group: Command): void {
  const create = group
    .command('create <name>')
    .description('create a project')
    .option('--description <text>', 'what it is for')
    .option('--parent <project>', 'id or exact name of the parent project')
    .option('--tag <text>', 'tag; may be repeated', gather);
  onCall<CreateProjectFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const organization = await findOrganization(session);
    const parent =
      options.parent === undefined ? undefined : await findProject(client, organization.id, options.parent);
    const project = await client.call('createProject', {
      body: {
        organizationId: organization.id,
        name,
        description: options.description,
        parentProjectId: parent?.id,
        tags: options.tag,
      },
    });
    return session.answer(project, () => `Project ${plain(name)} was created: ${project.id}`);
  });
}

function addUpdate(group: Command): void {
  const update = group
    .command('update <project>')
    .description('change a project; omitted settings are unchanged')
    .option('--name <name>', 'new name')
    .option('--description <text>', 'what it is for')
    .option('--tag <text>', 'tag; replaces all tags; may be repeated', gather)
    .option('--no-tags', 'remove all tags');
  onCall<UpdateProjectFlags>(update, async ({ session, args: [name = ''], options }) => {
    const { id } = await projectOf(session, name);
    const body = {
      name: options.name,
      description: options.description,
      tags: options.tags ? options.tag : [],
    };
    return show(session, await session.client.call('updateProject', { params: { id }, body }));
  });
}

function addMove(group: Command): void {
  const move = group
    .command('move <project> [parent]')
    .description('move it below another project, with everything below it')
    .option('--top', 'move it to the top level');
  onCall<{ top?: boolean }>(move, async ({ session, args: [name = '', parent], options }) => {
    if ((parent === undefined) === (options.top === undefined))
      throw new BadCall('Specify either the project to move it below, or --top.');
    const { id } = await projectOf(session, name);
    const targetProjectId = parent === undefined ? null : (await projectOf(session, parent)).id;
    await session.client.call('moveProject', { params: { id }, body: { targetProjectId } });
    return show(session, await session.client.call('getProject', { params: { id } }));
  });
}

function addArchive(group: Command): void {
  const archive = group
    .command('archive <project>')
    .description('archive it with everything below it; nothing is destroyed');
  onCall(archive, async ({ session, args: [name = ''] }) => {
    const { id } = await projectOf(session, name);
    const archived = await session.client.call('deleteProject', { params: { id } });
    return session.answer(archived, `${plain(name)} is archived; nothing was destroyed`);
  });
  onCall(
    group.command('restore <project>').description('restore it from the archive'),
    async ({ session, args: [name = ''] }) => {
      const { id } = await projectOf(session, name);
      return show(
        session,
        await session.client.call('updateProject', { params: { id }, body: { isArchived: false } }),
      );
    },
  );
}

export function addProjectCommands(program: Command): void {
  const group = program.command('project').alias('projects').description('projects: folders of environments');

  const list = group
    .command('list')
    .description('list projects')
    .option('--archived', 'only archived ones')
    .option('--no-archived', 'only those that are not archived');
  onCall<{ archived?: boolean }>(list, async ({ session, options: { archived: isArchived } }) => {
    const { client, organizationId } = session;
    const projects = await client.call('listProjects', { query: { organizationId, isArchived } });
    return session.list(projects, columnsFor(projects), 'No projects.');
  });
  onCall(
    group.command('show <project>').description('show a project: its id or exact name'),
    async ({ session, args: [name = ''] }) => show(session, await projectOf(session, name)),
  );
  addCreate(group);
  addUpdate(group);
  addMove(group);
  addArchive(group);

  onCall(
    group
      .command('schedules <project>')
      .description('show when its environments are deployed and destroyed automatically'),
    async ({ session, args: [name = ''] }) => {
      const { id } = await projectOf(session, name);
      const all = await session.client.call('listProjectSchedules', { params: { id } });
      return session.list(all, scheduleColumns, 'No schedules.');
    },
  );
}
