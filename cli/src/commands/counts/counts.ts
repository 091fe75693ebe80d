/** Numbers of environments. */
import type { Command } from 'commander';
import type { StatusCounts } from '#contract/environments/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization, findProject } from '../../find/find-environment.ts';
import type { TableColumn } from '../../terminal/table.ts';

interface CountFlags {
  readonly project?: string;
  readonly status?: string;
  readonly archived?: boolean;
}

interface ProjectCounts extends StatusCounts {
  readonly project: string;
}

/** As `ACTIVE 3, FAILED 1`: the largest number first. */
function numbersText(counts: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(counts)
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
    .toSorted(([, one], [, other]) => other - one)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ');
}

const columns: TableColumn<ProjectCounts>[] = [
  { head: 'PROJECT', value: ({ project }) => project },
  { head: 'TOTAL', value: ({ total }) => total, isWhole: true },
  {
    head: 'STATUS',
    value: ({ project: _project, total: _total, driftStatus: _drift, ...statuses }) => numbersText(statuses),
  },
  { head: 'DRIFT', value: ({ driftStatus }) => numbersText(driftStatus), isExtra: true },
];

/** Adds `count` and `statuses` of environments. */
export function addCountCommands(group: Command): void {
  const count = group
    .command('count')
    .description('count the environments of a project')
    .option('--project <project>', 'its id or exact name; not needed if there is only one')
    .option('--status <list>', 'only those with one of these statuses, such as FAILED,TIMEOUT')
    .option('--archived', 'only archived ones, which are not counted otherwise');
  onCall<CountFlags>(count, async ({ session, options }) => {
    const { client } = session;
    const organization = await findOrganization(session);
    const { id } = await findProject(client, organization.id, options.project);
    const query = { projectId: id, status: options.status, isActive: options.archived !== true };
    const number = await client.call('countEnvironments', { query });
    return session.answer(number, () => String(number));
  });
  const statuses = group
    .command('statuses')
    .description('count environments by project and status, without archived ones');
  onCall(statuses, async ({ session }) => {
    const { client, output, isJson } = session;
    const { id: organizationId } = await findOrganization(session);
    const counts = await client.call('countEnvironmentStatuses', { query: { organizationId } });
    if (isJson) return output.json(counts);
    const projects = await client.call('listProjects', { query: { organizationId } });
    const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
    const rows = Object.entries(counts).map(([id, each]) => ({ ...each, project: nameOf(id) }));
    return output.table(rows, columns, 'No environments.');
  });
}

/** Adds `limits` of an organization. */
export function addLimitsCommand(group: Command): void {
  const limits = group.command('limits').description('show how many active environments it has');
  onCall(limits, async ({ session }) => {
    const { id } = await findOrganization(session);
    const found = await session.client.call('getOrganizationLimits', { params: { id } });
    if (session.isJson) return session.output.json(found);
    const { amount, limit } = found.environments;
    return session.output.fields([
      ['Active environments', amount],
      ['Limit', limit ?? 'none; projects have limits in their policies'],
    ]);
  });
}
