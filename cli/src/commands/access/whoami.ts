/** `whoami`: who the stored credentials are. */
import type { Command } from 'commander';
import type { CurrentUser } from '#contract/sign-in/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { timeText } from '../../terminal/durations.ts';
import type { TableColumn } from '../../terminal/table.ts';

const columns: TableColumn<CurrentUser['organizations'][number]>[] = [
  { head: 'ORGANIZATION', value: ({ name }) => name },
  { head: 'ROLE', value: ({ role }) => role },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

function identityText({ session }: CurrentUser): string {
  return session ? `session, until ${timeText(session.expiresAt)}` : 'API key';
}

export function addWhoamiCommand(program: Command): void {
  const command = program
    .command('whoami')
    .description('show who the key or the session belongs to, with its roles in organizations');
  onCall(command, async ({ session: { client, output, isJson } }) => {
    const current = await client.call('getCurrentUser');
    if (isJson) return output.json(current);
    const { user, organizations } = current;
    await output.fields([
      ['Name', user.name],
      ['E-mail', user.email],
      ['Id', user.user_id],
      ['Identified by', identityText(current)],
    ]);
    await output.line();
    return output.table(organizations, columns, 'No organizations.');
  });
}
