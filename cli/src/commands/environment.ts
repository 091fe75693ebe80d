import type { Command } from 'commander';
import type { operations } from '#contract/environments/operations.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import { gather, onCall, wholeNumber } from '../call/command-line.ts';
import { allPages } from '../call/pages.ts';
import { findEnvironment, findOrganization, findProject } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { costText } from '../show/show-approval.ts';
import { plannedText } from '../show/show-deployment.ts';
import { timeText } from '../terminal/durations.ts';
import type { Output } from '../terminal/output.ts';
import type { TableColumn } from '../terminal/table.ts';
import { addCountCommands } from './counts/counts.ts';
import { addCreateCommand } from './create-environment.ts';
import { addLockCommands, lockText } from './environment-locks.ts';
import { addSettingsCommands } from './environment-settings.ts';
import { addDownstreamCommand } from './triggers/downstream.ts';

interface ListEnvironmentsFlags {
  readonly project?: string;
  readonly name?: string;
  readonly search?: string;
  readonly mine?: boolean;
  readonly tag?: string[];
  readonly deployer?: string[];
  readonly destroyed?: boolean;
  readonly status?: string;
  readonly drift?: string;
  readonly type?: string;
  /** Checked by the service. */
  readonly sort?: QueryOf<(typeof operations)['listEnvironments']>['sort'];
  readonly archived?: boolean;
  readonly limit?: number;
}

interface UpdateEnvironmentFlags {
  readonly name?: string;
  readonly requireApproval?: boolean;
  readonly description?: string;
  readonly tag?: string[];
  readonly tags: boolean;
  readonly continuousDeployment?: boolean;
  readonly pullRequestPlans?: boolean;
  readonly remoteBackend?: boolean;
}

const listColumns: TableColumn<Environment>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'STATUS', value: ({ status }) => status, isWhole: true },
  { head: 'DRIFT', value: ({ driftStatus }) => driftStatus, isWhole: true, isExtra: true },
  { head: 'LOCKED', value: ({ isLocked }) => (isLocked ? 'yes' : ''), isWhole: true, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

/** A single tag may have a comma. */
function tagQuery(tags: readonly string[] = []): { tag?: string; tags?: string } {
  const [tag, ...others] = tags;
  if (tag === undefined) return {};
  return others.length === 0 ? { tag } : { tags: tags.join(',') };
}

async function listQuery(session: CommandSession, flags: ListEnvironmentsFlags) {
  const projectId =
    flags.project === undefined
      ? undefined
      : (await findProject(session.client, (await findOrganization(session)).id, flags.project)).id;
  return {
    organizationId: session.organizationId,
    projectId,
    name: flags.name,
    searchText: flags.search,
    onlyMy: flags.mine,
    ...tagQuery(flags.tag),
    deployerUserIds: flags.deployer?.join(','),
    isDestroyed: flags.destroyed,
    status: flags.status,
    driftStatus: flags.drift,
    templateType: flags.type,
    sort: flags.sort,
    isActive: flags.archived !== true,
  };
}

/** All pages, newest first, up to a number of environments. */
async function listAll(session: CommandSession, flags: ListEnvironmentsFlags): Promise<Environment[]> {
  const query = await listQuery(session, flags);
  // Fields that tables do not show are not requested.
  const excludeFields = session.isJson
    ? undefined
    : 'latestDeploymentLog.plan,latestDeploymentLog.variables,latestDeploymentLog.resources,resources';
  return allPages(
    (page) => session.client.call('listEnvironments', { query: { ...query, excludeFields, ...page } }),
    flags.limit,
  );
}

async function show(output: Output, environment: Environment): Promise<void> {
  const latest = environment.latestDeploymentLog;
  await output.fields([
    ['Name', environment.name],
    ['Id', environment.id],
    ['Status', environment.status],
    ['Waiting', environment.waitingFor?.text],
    ['Locked', lockText(environment)],
    ['Archived', environment.isArchived ? 'yes' : undefined],
    ['Expires', timeText(environment.lifespanEndAt)],
    ['Next deployment', timeText(environment.nextScheduledDates.deploy)],
    ['Next destroy', timeText(environment.nextScheduledDates.destroy)],
    ['Drift', environment.driftStatus],
    ['Description', environment.description],
    ['Tags', environment.tags?.join(', ')],
    ['Project', environment.projectId],
    ['Workspace', environment.workspaceName],
    ['Repository', latest.blueprintRepository],
    ['Revision', latest.blueprintRevision || 'the default branch'],
    ['Folder', latest.blueprintPath],
    ['Tool', latest.blueprintType],
    ['Needs approval', environment.requiresApproval ? 'yes' : 'no'],
    ['Created', `${timeText(environment.createdAt)} by ${environment.user.name ?? environment.userId}`],
    ['Latest deployment', `${latest.type} ${environment.latestDeploymentLogId} ${latest.status}`],
    ['Plan', plannedText(latest)],
    ['Costs', costText(latest)],
    ['Error', latest.error?.message],
    ['Resources', latest.resourceCount],
  ]);
}

function addUpdateCommand(group: Command): void {
  const update = group
    .command('update <environment>')
    .description('change its settings; omitted settings are unchanged')
    .option('--name <name>', 'new name')
    .option('--require-approval', 'plans wait for approval')
    .option('--no-require-approval', 'plans are applied without approval')
    .option('--description <text>', 'what it is for')
    .option('--tag <text>', 'tag; replaces all tags; may be repeated', gather)
    .option('--no-tags', 'remove all tags')
    .option('--continuous-deployment', 'deploy when its revision changes (not yet in effect)')
    .option('--no-continuous-deployment', 'deploy only on request')
    .option('--pull-request-plans', 'plan pull requests (not yet in effect)')
    .option('--no-pull-request-plans', 'do not plan pull requests')
    .option('--remote-backend', 'keep its state in the service, whatever backend the code names')
    .option('--no-remote-backend', 'keep its state in the backend that the code names');
  onCall<UpdateEnvironmentFlags>(update, async ({ session, args: [name = ''], options }) => {
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironment', {
      params: { id },
      body: {
        name: options.name,
        requiresApproval: options.requireApproval,
        description: options.description,
        tags: options.tags ? options.tag : [],
        continuousDeployment: options.continuousDeployment,
        pullRequestPlanDeployments: options.pullRequestPlans,
        isRemoteBackend: options.remoteBackend,
      },
    });
    return session.isJson ? session.output.json(environment) : show(session.output, environment);
  });
}

export function addEnvironmentCommands(program: Command): void {
  const group = program
    .command('environment')
    .alias('env')
    .description('environments: live instances of configurations');

  const list = group
    .command('list')
    .description('list environments, newest first')
    .option('--project <project>', 'only those in this project: its id or exact name')
    .option('--name <name>', 'only those with exactly this name')
    .option('--search <text>', 'only those with this text in name, workspace name, id, repository or project')
    .option('--tag <text>', 'only those with this tag; may be repeated: with one of them', gather)
    .option(
      '--deployer <user>',
      'only those that this user deployed last, by its id; may be repeated',
      gather,
    )
    .option('--destroyed', 'only those that were destroyed and not deployed since')
    .option('--status <list>', 'only those with one of these statuses, such as FAILED,TIMEOUT')
    .option('--drift <list>', 'only those with one of these drift statuses, such as DRIFTED,ERROR')
    .option('--type <list>', 'only those that one of these tools runs, such as terraform,opentofu')
    .option('--sort <key>', 'by createdAt, name, updatedAt, lifespanEndAt or status; -name: in reverse')
    .option('--mine', 'only those created by this key')
    .option('--archived', 'only archived ones, which are omitted otherwise')
    .option('--limit <number>', 'show at most this many', wholeNumber('--limit', 1));
  onCall<ListEnvironmentsFlags>(list, async ({ session, options }) => {
    const environments = await listAll(session, options);
    return session.list(environments, listColumns, 'No environments.');
  });

  addCreateCommand(group);

  onCall(
    group.command('show <environment>').description('show an environment: its id or exact name'),
    async ({ session, args: [name = ''] }) => {
      const environment = await findEnvironment(session, name);
      return session.isJson ? session.output.json(environment) : show(session.output, environment);
    },
  );

  addUpdateCommand(group);
  addLockCommands(group);
  addSettingsCommands(group);
  addDownstreamCommand(group);
  addCountCommands(group);
}
