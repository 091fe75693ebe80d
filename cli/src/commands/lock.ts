/**
 * `lock`: who keeps an environment from being deployed or its state from being written, and how that ends.
 */
import type { Command } from 'commander';
import type { Environment } from '#contract/environments/shapes.ts';
import { onCall } from '../command-line.ts';
import { timeText } from '../terminal/durations.ts';
import { findEnvironment } from '../find-environment.ts';
import type { Session } from '../session/session.ts';
import { setLock } from './environment-life.ts';

interface FreeFlags {
  readonly state?: boolean;
  readonly lockId?: string;
  readonly reason?: string;
}

/** By whom, since when, and why; undefined where it is not locked. */
export function lockText({
  isLocked,
  lockStatus,
}: Pick<Environment, 'isLocked' | 'lockStatus'>): string | undefined {
  if (!isLocked) return undefined;
  const by = lockStatus?.updatedByUser?.name ?? lockStatus?.updatedBy;
  return [
    `since ${timeText(lockStatus?.updatedAt)}`,
    by && `by ${by}`,
    lockStatus?.reason && `because: ${lockStatus.reason}`,
  ]
    .filter(Boolean)
    .join(' ');
}

async function show({ client, output, isJson }: Session, environment: Environment): Promise<void> {
  const state = await client.call('getStateLock', { params: { id: environment.id } });
  const { latestDeploymentLog: latest, isLocked, lockStatus, waitingFor } = environment;
  if (isJson)
    return output.json({
      isLocked,
      lockStatus: lockStatus ?? null,
      stateLock: state,
      waitingFor: waitingFor ?? null,
    });
  const isRunning = ['IN_PROGRESS', 'ABORTING', 'WAITING_FOR_USER', 'QUEUED'].includes(latest.status);
  await output.fields([
    ['Deployments', isLocked ? `locked ${lockText(environment)}` : 'are accepted'],
    [
      'Latest',
      isRunning
        ? `${latest.type} ${latest.id} ${latest.status} since ${timeText(latest.startedAt ?? latest.queuedAt)}`
        : undefined,
    ],
    ['Waiting', waitingFor?.text],
    ['State', state === null ? 'not held by a tool outside of runs' : stateText(state)],
  ]);
}

function stateText(state: {
  since: string;
  heldByUser: { name?: string };
  heldBy: string;
  who?: string;
  operation?: string;
  lockId: string;
}): string {
  const parts = [
    `held since ${timeText(state.since)}`,
    `by ${state.heldByUser.name ?? state.heldBy}`,
    state.who && `(${state.who})`,
  ];
  return [...parts, state.operation, `lock ${state.lockId}`].filter(Boolean).join(' ');
}

export function addLockCommands(program: Command): void {
  const group = program
    .command('lock')
    .description('who keeps an environment or its state, and how that ends');
  onCall(
    group
      .command('show <environment>')
      .description('who has locked it, what runs, and which tool holds its state'),
    async ({ session, args: [name = ''] }) => show(session, await findEnvironment(session, name)),
  );
  const set = group
    .command('set <environment>')
    .description('accept no deployments until it is freed')
    .option('--reason <text>', 'shown to those who are refused');
  onCall<{ reason?: string }>(set, ({ session, args: [name = ''], options }) =>
    setLock(session, name, { isLocked: true, reason: options.reason }),
  );
  const free = group
    .command('free <environment>')
    .description(
      'accept deployments again; with --state: take the state from a tool outside of runs that was killed',
    )
    .option('--state', 'the lock of a tool on the state')
    .option('--lock-id <id>', 'with --state: only this lock')
    .option('--reason <text>', 'with --state: kept in the audit trail');
  onCall<FreeFlags>(free, async ({ session, args: [name = ''], options }) => {
    if (!options.state) return setLock(session, name, { isLocked: false });
    const { id } = await findEnvironment(session, name);
    const body = { lockId: options.lockId, reason: options.reason };
    const freed = await session.client.call('freeStateLock', { params: { id }, body });
    return session.isJson
      ? session.output.json(freed)
      : session.output.line(`The state of ${name} is free: it was ${stateText(freed)}`);
  });
}
