/** A new link gives all that the invited person has received since, not only what the invitation says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';

const app = await testApp();
const { organizationId, projectId } = app;
const editor = await app.addKey({
  [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION', 'VIEW_MODULES', 'VIEW_PROVIDERS'],
});

let number = 0;
async function invited() {
  const email = `person-${++number}@example.com`;
  return ok(app, 'createInvitation', { body: { email, organizationId }, as: editor });
}

const renew = (id: string) => ({ params: { id }, as: editor });

async function teamWith(userIds: readonly string[], isDefaultTeam = false): Promise<void> {
  const { id } = await ok(app, 'createTeam', { body: { organizationId, name: `team-${++number}` } });
  const body = { teamId: id, projectId, role: 'Deployer' };
  await ok(app, 'assignTeamRole', { body });
  await ok(app, 'updateTeam', { params: { id }, body: { userIds, isDefaultTeam } });
}

test('who invited cannot renew the link of a person who has got more than they have', async () => {
  const asMember = await invited();
  await ok(app, 'resendInvitation', renew(asMember.id));
  await ok(app, 'setMemberRole', {
    params: { id: organizationId, userId: asMember.userId },
    body: 'Admin',
  });
  const { message } = await refused(app, 'resendInvitation', 403, renew(asMember.id));
  assert.match(message, /needs all rights of the role; you lack/);
  const inProject = await invited();
  await ok(app, 'assignUserRole', { body: { userId: inProject.userId, projectId, role: 'Deployer' } });
  await refused(app, 'resendInvitation', 403, renew(inProject.id));
  const byTeam = await invited();
  await teamWith([byTeam.userId]);
  await refused(app, 'resendInvitation', 403, renew(byTeam.id));
  await ok(app, 'resendInvitation', { params: { id: byTeam.id } });
});

test('teams that every new person joins do not matter', async () => {
  await teamWith([], true);
  await ok(app, 'resendInvitation', renew((await invited()).id));
});
