/** Locks that keep an environment from being deployed, or its state from being written: shown, set and released. */
import type { Command } from 'commander';
import type { Environment } from '#contract/environments/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { findEnvironment } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';

interface StateUnlockFlags {
  readonly lockId?: string;
  readonly reason?: string;
}

/** Since when, by whom, and why; undefined if the environment is not locked. */
export function lockText({
  isLocked,
  lockStatus,
}: Pick<Environment, 'isLocked' | 'lockStatus'>): string | undefined {
  if (!isLocked) return undefined;
  const by = lockStatus?.updatedByUser?.name ?? lockStatus?.updatedBy;
  return [
    `since ${timeText(lockStatus?.updatedAt)}`,
    by && `by ${by}`,
    lockStatus?.reason && `(${lockStatus.reason})`,
  ]
    .filter(Boolean)
    .join(' ');
}

async function show({ client, output, isJson }: CommandSession, environment: Environment): Promise<void> {
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
    ['Deployments', isLocked ? `locked ${lockText(environment)}` : 'accepted'],
    [
      'Latest',
      isRunning
        ? `${latest.type} ${latest.id} ${latest.status} since ${timeText(latest.startedAt ?? latest.queuedAt)}`
        : undefined,
    ],
    ['Waiting', waitingFor?.text],
    ['State', state === null ? 'not locked by a tool outside of runs' : stateText(state)],
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
    `locked since ${timeText(state.since)}`,
    `by ${state.heldByUser.name ?? state.heldBy}`,
    state.who && `(${state.who})`,
  ];
  return [...parts, state.operation, `lock ${state.lockId}`].filter(Boolean).join(' ');
}

async function setLock(
  session: CommandSession,
  name: string,
  body: { isLocked: boolean; reason?: string | undefined },
): Promise<void> {
  const environment = await findEnvironment(session, name);
  const lock = await session.client.call('setEnvironmentLock', { params: { id: environment.id }, body });
  return session.answer(lock, () => `${plain(environment.name)} is ${lock.isLocked ? 'locked' : 'unlocked'}`);
}

/** Adds `lock`, `unlock` and `locks` of an environment. */
export function addLockCommands(group: Command): void {
  const lock = group
    .command('lock <environment>')
    .description('refuse deployments until it is unlocked')
    .option('--reason <text>', 'shown to callers that are refused');
  onCall<{ reason?: string }>(lock, ({ session, args: [name = ''], options }) =>
    setLock(session, name, { isLocked: true, reason: options.reason }),
  );
  onCall(
    group.command('unlock <environment>').description('accept deployments again'),
    ({ session, args: [name = ''] }) => setLock(session, name, { isLocked: false }),
  );
  onCall(
    group
      .command('locks <environment>')
      .description('show who has locked it, what is running, and which tool has locked its state'),
    async ({ session, args: [name = ''] }) => show(session, await findEnvironment(session, name)),
  );
}

/** Adds `unlock` of a state. */
export function addStateUnlock(group: Command): void {
  const unlock = group
    .command('unlock <environment>')
    .description('release the lock of a tool outside of runs that was killed')
    .option('--lock-id <id>', 'only this lock')
    .option('--reason <text>', 'kept in the audit trail');
  onCall<StateUnlockFlags>(unlock, async ({ session, args: [name = ''], options }) => {
    const { id } = await findEnvironment(session, name);
    const body = { lockId: options.lockId, reason: options.reason };
    const freed = await session.client.call('freeStateLock', { params: { id }, body });
    return session.answer(freed, () => plain(`The state of ${name} is unlocked; it was ${stateText(freed)}`));
  });
}
