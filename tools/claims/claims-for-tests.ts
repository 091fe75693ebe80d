/** Tests of which some claim falsely to check a field; server-claims.slow.test.ts expects these to be found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import type { Team } from '#contract/teams/shapes.ts';
import { fieldOf } from '../../server/testing/fields.ts';
import { startTests } from '../../server/testing/start.ts';

const { ok, organizationId } = await startTests();

test('a list is filtered', async () => {
  covers('Team', 'name', 'description');
  covers('listTeams', 'query.name', 'query.limit', 'reply');
  covers('deployEnvironment');
  await ok('createTeam', {
    body: { organizationId, name: crypto.randomUUID(), description: 'of this test' },
  });
  const name = crypto.randomUUID();
  await ok('createTeam', { body: { organizationId, name } });
  const found = await ok('listTeams', { params: { organizationId }, query: { name, limit: '10' } });
  assert.deepEqual(fieldOf(found as Team[], 'name'), [name]);
});

test('a name is used once', async () => {
  covers('Team', 'id', 'users');
  const team = await ok('createTeam', { body: { organizationId, name: 'only once' } });
  assert.deepEqual(team.users, []);
});
