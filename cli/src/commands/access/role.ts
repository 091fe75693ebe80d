/** `role`: the built-in roles and custom ones. */
import type { Command } from 'commander';
import type { Role } from '#contract/roles/shapes.ts';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import { rights } from '#contract/schema/rights.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import { optionOf } from '../../terminal/suggest.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { addAssignmentCommands } from './assignments.ts';
import { addExplainCommand } from './explain.ts';
import { findRole } from './find-access.ts';

interface RoleFlags {
  readonly name?: string;
  readonly right?: string[];
  readonly default?: boolean;
}

interface ListedRole {
  readonly name: string;
  readonly kind: string;
  readonly permissions: readonly string[];
  readonly isDefaultRole?: boolean;
  readonly id?: string;
}

const builtIn: readonly ListedRole[] = Object.entries(builtInRoles).flatMap(([scope, roles]) =>
  Object.entries(roles).map(([name, permissions]) => ({ name, kind: `built-in, ${scope}`, permissions })),
);

const columns: TableColumn<ListedRole>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'KIND', value: ({ kind }) => kind },
  { head: 'RIGHTS', value: ({ permissions }) => permissions.length },
  { head: 'DEFAULT', value: ({ isDefaultRole }) => (isDefaultRole ? 'yes' : ''), isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const rightOption = (description: string) =>
  optionOf('--right <right>', `${description}; may be repeated`, rights).argParser<string[]>(gather);

async function show({ output, isJson }: CommandSession, role: Role): Promise<void> {
  if (isJson) return output.json(role);
  return output.fields([
    ['Name', role.name],
    ['Id', role.id],
    ['Default role', role.isDefaultRole ? 'yes: new members have it' : undefined],
    ['Rights', role.permissions.join('\n') || 'none'],
  ]);
}

async function customRole(session: CommandSession, idOrName: string): Promise<Role> {
  return findRole(session.client, (await findOrganization(session)).id, idOrName);
}

/** The rights of a built-in role, wherever it can be assigned. */
async function showBuiltIn({ output, isJson }: CommandSession, roles: readonly ListedRole[]): Promise<void> {
  if (isJson) return output.json(roles);
  for (const { name, kind, permissions } of roles)
    await output.fields([
      ['Name', name],
      ['Kind', kind],
      ['Rights', permissions.join('\n')],
    ]);
}

function addReading(group: Command): void {
  onCall(
    group
      .command('list')
      .description('list the built-in roles and custom ones; with --json, only custom ones'),
    async ({ session }) => {
      const { id: organizationId } = await findOrganization(session);
      const custom = await session.client.call('listRoles', { query: { organizationId } });
      if (session.isJson) return session.output.json(custom);
      const all = [...custom.map((role) => ({ ...role, kind: 'custom' })), ...builtIn];
      return session.output.table(all, columns, 'No roles.');
    },
  );
  onCall(
    group
      .command('show <role>')
      .description(
        'show a role with its rights: the name of a built-in one, the id or exact name of a custom one',
      ),
    async ({ session, args: [idOrName = ''] }) => {
      const found = builtIn.filter(({ name }) => name === idOrName);
      if (found.length > 0) return showBuiltIn(session, found);
      const { id } = await customRole(session, idOrName);
      return show(session, await session.client.call('getRole', { params: { id } }));
    },
  );
}

function addChanges(group: Command): void {
  const create = group
    .command('create <name>')
    .description('create a custom role')
    .addOption(rightOption('right that it grants'))
    .option('--default', 'new members have it unless specified otherwise');
  onCall<RoleFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    if (!options.right)
      throw new BadCall('A role needs at least one right: specify --right, such as --right RUN_PLAN.');
    const { id: organizationId } = await findOrganization(session);
    const { right: permissions, default: isDefaultRole } = options;
    const role = await client.call('createRole', {
      body: { organizationId, name, permissions, isDefaultRole },
    });
    return session.answer(role, () => `Role ${plain(name)} was created: ${role.id}`);
  });
  const update = group
    .command('update <role>')
    .description(
      'change a custom role, with immediate effect for everyone who has it; omitted options are unchanged',
    )
    .option('--name <name>', 'new name')
    .addOption(rightOption('right that it grants; replaces all rights'))
    .option('--default', 'new members have it unless specified otherwise')
    .option('--no-default', 'new members no longer have it');
  onCall<RoleFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id } = await customRole(session, idOrName);
    const body = { name: options.name, permissions: options.right, isDefaultRole: options.default };
    return show(session, await session.client.call('updateRole', { params: { id }, body }));
  });
  onCall(
    group.command('delete <role>').description('delete a custom role that is not assigned'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await customRole(session, idOrName);
      const deleted = await session.client.call('deleteRole', { params: { id } });
      return session.answer(deleted, `Role ${plain(name)} was deleted`);
    },
  );
}

export function addRoleCommands(program: Command): void {
  const group = program.command('role').alias('roles').description('roles, and who has them where');
  addReading(group);
  addChanges(group);
  addAssignmentCommands(group);
  addExplainCommand(group);
}
