/** `session`: where the caller is signed in. */
import type { Command } from 'commander';
import type { Session as SignInSession } from '#contract/sign-in/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { matching, only } from '../../find/find-environment.ts';
import { timeText } from '../../terminal/durations.ts';
import type { TableColumn } from '../../terminal/table.ts';

const columns: TableColumn<SignInSession>[] = [
  { head: 'KIND', value: ({ kind, isCurrent }) => (isCurrent ? `${kind} (this one)` : kind) },
  { head: 'SIGNED IN', value: ({ createdAt }) => timeText(createdAt) },
  { head: 'LAST USED', value: ({ lastUsedAt }) => timeText(lastUsedAt) },
  { head: 'EXPIRES', value: ({ expiresAt }) => timeText(expiresAt), isExtra: true },
  { head: 'ADDRESS', value: ({ address }) => address, isExtra: true },
  { head: 'PROGRAM', value: ({ userAgent }) => userAgent, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

export function addSessionCommands(program: Command): void {
  const group = program
    .command('session')
    .alias('sessions')
    .description('your sessions in browsers and on command lines');
  onCall(group.command('list').description('list your sessions, newest first'), async ({ session }) =>
    session.list(await session.client.call('listSessions'), columns, 'No sessions.'),
  );
  onCall(
    group.command('end <session>').description('end one of your sessions immediately: its id'),
    async ({ session, args: [idOrName = ''] }) => {
      const { client } = session;
      const all = await client.call('listSessions');
      const sessions = all.map(({ id, userAgent }) => ({ id, name: userAgent }));
      const { id } = only(matching(sessions, idOrName), 'session', idOrName, ({ name }) => name);
      const ended = await client.call('deleteSession', { params: { id } });
      return session.answer(ended, 'The session has ended');
    },
  );
}
