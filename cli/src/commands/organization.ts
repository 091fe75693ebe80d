import type { Command } from 'commander';
import { onCall } from '../command-line.ts';

export function addOrganizationCommands(program: Command): void {
  const group = program.command('organization').description('organizations that the key can see');
  onCall(group.command('list').description('list organizations'), async ({ session: { client, output, isJson } }) => {
    const organizations = await client.call('listOrganizations');
    if (isJson) return output.json(organizations);
    const columns = [
      { head: 'NAME', value: (each: (typeof organizations)[number]) => each.name },
      { head: 'ROLE', value: (each: (typeof organizations)[number]) => each.role },
      { head: 'ID', value: (each: (typeof organizations)[number]) => each.id, isWhole: true },
    ];
    return output.table(organizations, columns, 'This key can see no organization.');
  });
}
