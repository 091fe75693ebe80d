import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok, refused } from '../testing/client.ts';
import { createBody, createEnvironment } from '../testing/environment.ts';

const app = await testApp();
const { organizationId } = app;
const create = (name: string, value: string) => ok(app, 'createGitToken', { body: { organizationId, name, value, type: 'GIT' } });

test('a token is listed, never shown, and serves the runs that name it', async () => {
  const token = await create('forge', 'ada:planted-value');
  assert.deepEqual(token, { id: token.id, name: 'forge', organizationId, type: 'GIT', value: '********' });
  assert.deepEqual(await ok(app, 'getGitToken', { params: { id: token.id } }), token);
  assert.deepEqual(await ok(app, 'listGitTokens', { query: { organizationId, type: 'GIT' } }), [token]);
  const agent = await testAgent(app);
  await createEnvironment(app, { tokenId: token.id });
  const job = await agent.claim();
  assert.deepEqual(job.source.credentials, { username: 'ada', password: 'planted-value' });
  assert.ok(job.secrets.includes('planted-value'));
});

test('a name is taken once in an organization', async () => {
  await create('twice', 'v');
  assert.match((await refused(app, 'createGitToken', 409, { body: { organizationId, name: 'twice', value: 'w' } })).message, /"twice"/);
});

test('a token that is gone is gone, and none of another organization can be named', async () => {
  const token = await create('gone', 'v');
  assert.deepEqual(await ok(app, 'deleteGitToken', { params: { id: token.id } }), { id: token.id });
  await refused(app, 'deleteGitToken', 404, { params: { id: token.id } });
  const { id: elsewhere } = await ok(app, 'createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await ok(app, 'createGitToken', { body: { organizationId: elsewhere, name: 'theirs', value: 'v' } });
  for (const tokenId of [token.id, foreign.id, 'no-uuid']) {
    assert.match(
      (await refused(app, 'createEnvironmentWithoutTemplate', 400, { body: createBody(app, { tokenId }) })).message,
      /\/body\/tokenId/,
    );
  }
});
