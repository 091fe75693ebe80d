/** The same operation on several environments. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { BulkItem, BulkOperation } from '#contract/bulk-operations/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { textFromFile } from '../../call/read-input.ts';
import { findEnvironment } from '../../find/find-environment.ts';
import { BadCall, type ExitCode, exitCodes } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { canAsk, confirm } from '../../terminal/ask.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';

/** Between looks at what the service still has to do. */
const pauseMilliseconds = 2000;

const columns: TableColumn<BulkItem>[] = [
  { head: 'ENVIRONMENT', value: ({ environmentName, environmentId }) => environmentName ?? environmentId },
  { head: 'RESULT', value: ({ status }) => status, isWhole: true },
  { head: 'DEPLOYMENT', value: ({ deploymentId }) => deploymentId, isWhole: true, isExtra: true },
  { head: 'REASON', value: ({ error }) => error },
];

interface Targets {
  readonly environmentIds: string[];
  readonly organizationId: string;
}

async function targetsOf(session: CommandSession, names: readonly string[]): Promise<Targets> {
  const environmentIds: string[] = [];
  let organizationId: string | undefined;
  for (const name of names) {
    const found = await findEnvironment(session, name);
    organizationId ??= found.organizationId;
    if (found.organizationId !== organizationId)
      throw new BadCall(
        `"${plain(name)}" is in another organization than "${plain(names[0] ?? '')}": use one call for each.`,
      );
    environmentIds.push(found.id);
  }
  return { environmentIds, organizationId: organizationId ?? '' };
}

async function show({ output, isJson }: CommandSession, operation: BulkOperation): Promise<ExitCode> {
  if (isJson) await output.json(operation);
  else await output.table(operation.data, columns, 'You cannot see any of its environments.');
  return operation.data.some(({ status }) => status === 'failed') ? exitCodes.failed : exitCodes.good;
}

/** Waits until the service has carried out all items, and shows their results. */
async function showWhole(session: CommandSession, started: BulkOperation): Promise<ExitCode> {
  let operation = started;
  while (operation.finishedAt === undefined) {
    await delay(pauseMilliseconds);
    operation = await session.client.call('getBulkOperation', { params: { id: started.id } });
  }
  return show(session, operation);
}

interface BulkFlags {
  readonly comment?: string;
  readonly reason?: string;
  readonly script?: string;
  readonly refresh?: boolean;
  readonly requireApproval?: boolean;
  readonly yes?: boolean;
}

/** One operation of the group. */
interface BulkCommand {
  readonly name: string;
  readonly description: string;
  readonly options?: (command: Command) => Command;
  run(session: CommandSession, targets: Targets, flags: BulkFlags): Promise<BulkOperation>;
}

const withComment = (command: Command) => command.option('--comment <text>', 'shown with each deployment');

/** @throws BadCall if the answer is no */
async function confirmAll({ environmentIds }: Targets, { yes }: BulkFlags): Promise<void> {
  if (yes || !canAsk()) return;
  if (!(await confirm(`Destroy everything that ${environmentIds.length} environments have created?`)))
    throw new BadCall('Nothing was destroyed.');
}

const runs: readonly BulkCommand[] = [
  {
    name: 'deploy',
    description: 'deploy environments',
    options: (command) =>
      withComment(command)
        .option('--require-approval', 'wait for approval, in these and later deployments')
        .option('--no-require-approval', 'apply the plans without approval, in these and later deployments'),
    run({ client }, targets, { comment, requireApproval }) {
      const data = { comment, userRequiresApproval: requireApproval };
      return client.call('bulkDeploy', { body: { ...targets, data } });
    },
  },
  {
    name: 'destroy',
    description: 'destroy everything that environments have created',
    options: (command) =>
      withComment(command)
        .option('--no-refresh', 'trust the states, without refreshing them first')
        .option('-y, --yes', 'do not ask for confirmation; without a terminal, there is no prompt'),
    async run({ client }, targets, flags) {
      await confirmAll(targets, flags);
      const data = { comment: flags.comment, skipStateRefresh: flags.refresh === false ? true : undefined };
      return client.call('bulkDestroy', { body: { ...targets, data } });
    },
  },
  {
    name: 'task',
    description: 'run a script in environments',
    options: (command) =>
      withComment(command).requiredOption(
        '--script <file>',
        'file of commands, or standard input with -; the first that fails ends a task',
      ),
    run({ client }, targets, { script = '', comment }) {
      const data = { taskPayload: textFromFile('--script', script), comment };
      return client.call('bulkRunTask', { body: { ...targets, data } });
    },
  },
];

const decisions: readonly BulkCommand[] = [
  {
    name: 'approve',
    description: 'approve the plans that wait for approval',
    run: ({ client }, body) => client.call('bulkApprove', { body }),
  },
  {
    name: 'cancel',
    description: 'cancel the plans that wait for approval',
    run: ({ client }, body) => client.call('bulkCancel', { body }),
  },
  {
    name: 'cancel-queued',
    description: 'cancel all queued deployments',
    run: ({ client }, body) => client.call('bulkCancelQueued', { body }),
  },
];

const marks: readonly BulkCommand[] = [
  {
    name: 'lock',
    description: 'refuse deployments until they are unlocked',
    options: (command) => command.option('--reason <text>', 'shown to callers that are refused'),
    run: ({ client }, targets, { reason }) =>
      client.call('bulkLock', { body: { ...targets, data: { reason } } }),
  },
  {
    name: 'unlock',
    description: 'accept deployments again',
    run: ({ client }, body) => client.call('bulkUnlock', { body }),
  },
  {
    name: 'archive',
    description: 'mark environments inactive, without destroying anything',
    run: ({ client }, body) => client.call('bulkArchive', { body }),
  },
];

/** Adds `bulk`. */
export function addBulkCommands(program: Command): void {
  const group = program
    .command('bulk')
    .description('the same operation on several environments: ids or exact names');
  for (const { name, description, options = (command: Command) => command, run } of [
    ...runs,
    ...decisions,
    ...marks,
  ]) {
    const command = options(group.command(`${name} <environment...>`).description(description));
    onCall<BulkFlags>(command, async ({ session, words, options }) =>
      showWhole(session, await run(session, await targetsOf(session, words), options)),
    );
  }
  const shown = group
    .command('show <operation>')
    .description('show the results of a bulk operation, by its id');
  onCall(shown, async ({ session, args: [id = ''] }) => {
    const operation = await session.client.call('getBulkOperation', { params: { id } });
    if (!session.isJson && operation.finishedAt === undefined)
      await session.output.line(`In progress since ${timeText(operation.createdAt)}`);
    return show(session, operation);
  });
}
