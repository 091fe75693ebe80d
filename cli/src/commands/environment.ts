import type { Command } from 'commander';
import type { Environment } from '#contract/environment.ts';
import { onCall, wholeNumber } from '../command-line.ts';
import { timeText } from '../durations.ts';
import { findEnvironment, findOrganization, findProject } from '../find-environment.ts';
import type { Output } from '../output.ts';
import type { Session } from '../session.ts';
import { planText } from '../show-deployment.ts';
import type { Column } from '../table.ts';
import { addCreateCommand } from './create-environment.ts';

const largestPage = 100;

interface ListFlags {
  readonly project?: string;
  readonly name?: string;
  readonly search?: string;
  readonly mine?: boolean;
  readonly archived?: boolean;
  readonly limit?: number;
}

interface UpdateFlags {
  readonly name?: string;
  readonly requireApproval?: boolean;
  readonly archived?: boolean;
  readonly continuousDeployment?: boolean;
  readonly pullRequestPlans?: boolean;
  readonly remoteBackend?: boolean;
}

const listColumns: Column<Environment>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'STATUS', value: ({ status }) => status, isWhole: true },
  { head: 'DRIFT', value: ({ driftStatus }) => driftStatus, isWhole: true, isExtra: true },
  { head: 'LOCKED', value: ({ isLocked }) => (isLocked ? 'yes' : ''), isWhole: true, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

async function listQuery(session: Session, flags: ListFlags) {
  const projectId =
    flags.project === undefined ? undefined : (await findProject(session.client, (await findOrganization(session)).id, flags.project)).id;
  return {
    organizationId: session.organizationId,
    projectId,
    name: flags.name,
    searchText: flags.search,
    onlyMy: flags.mine,
    isActive: flags.archived !== true,
  };
}

/** All pages, newest first, up to a number of environments. */
async function listAll(session: Session, flags: ListFlags): Promise<Environment[]> {
  const query = await listQuery(session, flags);
  // What tables do not show need not travel.
  const excludeFields = session.isJson
    ? undefined
    : 'latestDeploymentLog.plan,latestDeploymentLog.variables,latestDeploymentLog.resources,resources';
  const all: Environment[] = [];
  const most = flags.limit ?? Number.POSITIVE_INFINITY;
  for (;;) {
    const limit = Math.min(largestPage, most - all.length);
    const page = await session.client.call('listEnvironments', { query: { ...query, excludeFields, limit, offset: all.length } });
    all.push(...page);
    if (page.length < limit || all.length >= most) return all;
  }
}

function lockText({ isLocked, lockStatus }: Environment): string | undefined {
  if (!isLocked) return undefined;
  const by = lockStatus?.updatedByUser?.name ?? lockStatus?.updatedBy;
  return [`since ${timeText(lockStatus?.updatedAt)}`, by && `by ${by}`, lockStatus?.reason && `because: ${lockStatus.reason}`]
    .filter(Boolean)
    .join(' ');
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
    ['Drift', environment.driftStatus],
    ['Project', environment.projectId],
    ['Workspace', environment.workspaceName],
    ['Repository', latest.blueprintRepository],
    ['Revision', latest.blueprintRevision || 'the default branch'],
    ['Folder', latest.blueprintPath],
    ['Tool', latest.blueprintType],
    ['Needs approval', environment.requiresApproval ? 'yes' : 'no'],
    ['Created', `${timeText(environment.createdAt)} by ${environment.user.name ?? environment.userId}`],
    ['Latest deployment', `${latest.type} ${environment.latestDeploymentLogId} ${latest.status}`],
    ['Plan', planText(latest)],
    ['Error', latest.error?.message],
    ['Resources', latest.resourceCount],
  ]);
}

function addLockCommands(group: Command): void {
  const lock = group
    .command('lock <environment>')
    .description('accept no deployments until it is unlocked')
    .option('--reason <text>', 'shown to those who are refused');
  onCall<{ reason?: string }>(lock, ({ session, args: [name = ''], options }) =>
    setLock(session, name, { isLocked: true, reason: options.reason }),
  );
  onCall(group.command('unlock <environment>').description('accept deployments again'), ({ session, args: [name = ''] }) =>
    setLock(session, name, { isLocked: false }),
  );
}

async function setLock(session: Session, name: string, body: { isLocked: boolean; reason?: string | undefined }): Promise<void> {
  const environment = await findEnvironment(session, name);
  const lock = await session.client.call('setEnvironmentLock', { params: { id: environment.id }, body });
  if (session.isJson) return session.output.json(lock);
  return session.output.line(`${environment.name} is ${lock.isLocked ? 'locked' : 'unlocked'}`);
}

function addUpdateCommand(group: Command): void {
  const update = group
    .command('update <environment>')
    .description('change settings; what is not given stays')
    .option('--name <name>', 'new name')
    .option('--require-approval', 'plans wait for a person')
    .option('--no-require-approval', 'plans are applied at once')
    .option('--archived', 'put it away without destroying anything')
    .option('--no-archived', 'bring it back')
    .option('--continuous-deployment', 'deploy when its revision changes')
    .option('--no-continuous-deployment')
    .option('--pull-request-plans', 'plan pull requests')
    .option('--no-pull-request-plans')
    .option('--remote-backend', 'keep its state in the service')
    .option('--no-remote-backend');
  onCall<UpdateFlags>(update, async ({ session, args: [name = ''], options }) => {
    const { id } = await findEnvironment(session, name);
    const environment = await session.client.call('updateEnvironment', {
      params: { id },
      body: {
        name: options.name,
        requiresApproval: options.requireApproval,
        isArchived: options.archived,
        continuousDeployment: options.continuousDeployment,
        pullRequestPlanDeployments: options.pullRequestPlans,
        isRemoteBackend: options.remoteBackend,
      },
    });
    return session.isJson ? session.output.json(environment) : show(session.output, environment);
  });
}

export function addEnvironmentCommands(program: Command): void {
  const group = program.command('environment').alias('env').description('environments: live instances of configurations');

  const list = group
    .command('list')
    .description('list environments, newest first')
    .option('--project <project>', 'only those of a project: its id or exact name')
    .option('--name <name>', 'only those with exactly this name')
    .option('--search <text>', 'only those with this in name, workspace name or id')
    .option('--mine', 'only those that this key has created')
    .option('--archived', 'only archived ones, which are left out otherwise')
    .option('--limit <number>', 'not more than so many', wholeNumber('--limit', 1));
  onCall<ListFlags>(list, async ({ session, options }) => {
    const environments = await listAll(session, options);
    return session.isJson ? session.output.json(environments) : session.output.table(environments, listColumns, 'No environments.');
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
}
