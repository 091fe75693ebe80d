/** A new link gives all that the invited person has received since, not only what the invitation says. */
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, add } = await startTests();
const editor = await app.addKey({
  [organizationId]: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION', 'VIEW_MODULES', 'VIEW_PROVIDERS'],
});

let number = 0;
async function invited() {
  const email = `person-${++number}@example.com`;
  return ok('createInvitation', { body: { email, organizationId }, as: editor });
}

const renew = (id: string) => ({ id, as: editor });

async function teamWith(userIds: readonly string[], isDefaultTeam = false): Promise<void> {
  const { id } = await add('Team', `team-${++number}`);
  const body = { teamId: id, projectId, role: 'Deployer' };
  await ok('assignTeamRole', { body });
  await ok('updateTeam', { id, body: { userIds, isDefaultTeam } });
}

test('who invited cannot renew the link of a person who has got more than they have', async () => {
  const asMember = await invited();
  await ok('resendInvitation', renew(asMember.id));
  await ok('setMemberRole', { params: { id: organizationId, userId: asMember.userId }, body: 'Admin' });
  await refused('resendInvitation', 403, /needs all rights of the role; you lack/, renew(asMember.id));
  const inProject = await invited();
  await ok('assignUserRole', { body: { userId: inProject.userId, projectId, role: 'Deployer' } });
  await refused('resendInvitation', 403, renew(inProject.id));
  const byTeam = await invited();
  await teamWith([byTeam.userId]);
  await refused('resendInvitation', 403, renew(byTeam.id));
  await ok('resendInvitation', { id: byTeam.id });
});

test('teams that every new person joins do not matter', async () => {
  await teamWith([], true);
  await ok('resendInvitation', renew((await invited()).id));
});
