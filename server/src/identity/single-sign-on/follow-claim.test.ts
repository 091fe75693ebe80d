/** Rules that cannot be read give nothing, and take nothing away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRule } from '#settings/claim-rules.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { addPerson } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';
import { actorWithoutRights } from '../../framework/access/actor.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { followClaim, wantedBy } from './follow-claim.ts';

const { app, ok, sql } = await startTests();
const { id: staffId } = await ok('createOrganization', { body: { name: 'Staff' } });
const team = await ok('createTeam', { body: { organizationId: staffId, name: 'Builders' } });
const rules: readonly ClaimRule[] = [
  { value: 'staff', organization: 'Staff', role: 'User' },
  { value: 'builders', organization: 'Staff', role: 'User', team: 'Builders' },
];

const context: ActorContext = {
  ...app.context,
  actor: actorWithoutRights('somebody'),
  requestId: 'request',
  address: '127.0.0.1',
};

async function signIn(userId: string, values: readonly string[], by = rules): Promise<void> {
  await inTransaction({ ...context, actor: { ...context.actor, userId } }, async (context) =>
    followClaim(context, userId, await wantedBy(context, by, values)),
  );
}

async function organizationsOf(userId: string): Promise<string[]> {
  const rows = await sql<{ id: string }>(
    'select organization_id as id from organization_member where user_id = $1',
    userId,
  );
  return rows.map(({ id }) => id);
}

const teamMembers = async () => (await ok('getTeam', { id: team.id })).users?.map((user) => user.user_id);
const rename = (name: string) => ok('updateOrganization', { id: staffId, body: { name } });

test('a name that several organizations have is unknown, and an id matches only as an id', async () => {
  const userId = await addPerson(app, 'ambiguous@example.com');
  const twin = await ok('createOrganization', { body: { name: 'Twin' } });
  await ok('createOrganization', { body: { name: 'Twin' } });
  await ok('createOrganization', { body: { name: app.organizationId } });
  const by = ['Twin', app.organizationId].map((organization) => ({ value: 'x', organization, role: 'User' }));
  await signIn(userId, ['x'], by);
  assert.deepEqual(await organizationsOf(userId), [app.organizationId]);
  await signIn(userId, ['x'], [{ value: 'x', organization: twin.id, role: 'User' }]);
  assert.deepEqual(await organizationsOf(userId), [twin.id]);
});

test('who is a member by a claim stays while a rule about it cannot be read', async () => {
  const userId = await addPerson(app, 'member@example.com');
  await signIn(userId, ['staff', 'builders']);
  await rename('Employees');
  await signIn(userId, ['staff', 'builders']);
  assert.deepEqual([await organizationsOf(userId), await teamMembers()], [[staffId], [userId]]);
  await signIn(userId, []);
  assert.deepEqual(await organizationsOf(userId), [], 'no rule applies: the claim says so');
  await rename('Staff');
});

test('a role stays while the rule that gave it names a role that was renamed', async () => {
  const userId = await addPerson(app, 'operator@example.com');
  const operators = await ok('createRole', {
    body: { organizationId: staffId, name: 'Operators', permissions: ['VIEW_ORGANIZATION'] },
  });
  const by: readonly ClaimRule[] = [
    { value: 'staff', organization: 'Staff', role: 'Operators' },
    { value: 'staff', organization: 'Staff', role: 'User' },
  ];
  const roleOf = async () => {
    const rows = await sql<{ role: string }>(
      'select role from organization_member where user_id = $1',
      userId,
    );
    return rows[0]?.role;
  };
  await signIn(userId, ['staff'], by);
  const role = await roleOf();
  assert.equal(role, operators.id);
  await ok('updateRole', { id: operators.id, body: { name: 'Crew' } });
  await signIn(userId, ['staff'], by);
  assert.equal(await roleOf(), role);
});

test('who is in a team by a claim stays while the team is not found', async () => {
  const userId = await addPerson(app, 'builder@example.com');
  await signIn(userId, ['staff', 'builders']);
  await ok('updateTeam', { id: team.id, body: { name: 'Makers' } });
  await signIn(userId, ['staff', 'builders']);
  assert.deepEqual(await teamMembers(), [userId]);
  await signIn(userId, ['staff']);
  assert.deepEqual(await teamMembers(), []);
  const rows = await sql<{ details: object }>(
    "select details from audit_event where entity_id = $1 and actor_id = $2 and action = 'team.updated' order by number",
    team.id,
    userId,
  );
  assert.deepEqual(fieldOf(rows, 'details'), [
    { added: [userId], removed: [], source: 'oidc' },
    { added: [], removed: [userId], source: 'oidc' },
  ]);
  await ok('updateTeam', { id: team.id, body: { name: 'Builders' } });
});
