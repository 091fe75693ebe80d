/** Rights of a person at a place, and the roles that give each of them, as part of `role`. */
import type { Command } from 'commander';
import type { HeldRole } from '#contract/roles/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { placeOf, type RolePlaceFlags, withPlace } from './assignments.ts';
import { findMember } from './find-access.ts';

interface ExplainFlags extends RolePlaceFlags {
  readonly user?: string;
}

interface RightSource {
  readonly right: string;
  readonly by: HeldRole;
}

const columns: TableColumn<RightSource>[] = [
  { head: 'RIGHT', value: ({ right }) => right, isWhole: true },
  { head: 'ROLE', value: ({ by }) => by.roleName },
  { head: 'IN', value: ({ by }) => `${by.scope} ${by.scopeName}` },
  { head: 'BY TEAM', value: ({ by }) => by.teamName },
];

/** @param group the commands of roles */
export function addExplainCommand(group: Command): void {
  const explain = withPlace(
    group
      .command('explain')
      .description('show what you, or a user, may do there and which roles give each right')
      .option('--user <user>', 'person or API key: id, e-mail address or exact name (default: you)'),
  );
  onCall<ExplainFlags>(explain, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const { organizationId, field, name } = await placeOf(session, options);
    const user = options.user === undefined ? null : await findMember(client, organizationId, options.user);
    const query = { ...field, ...(user === null ? {} : { userId: user.id }) };
    const explained = await client.call('explainPermissions', { query });
    if (isJson) return output.json(explained);
    const who = user === null ? 'You have' : `${plain(user.name)} has`;
    const rows = explained.rights.flatMap(({ right, from }) => from.map((by) => ({ right, by })));
    return output.table(rows, columns, `${who} no rights in ${plain(name)}.`);
  });
}
