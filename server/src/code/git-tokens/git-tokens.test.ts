import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { duringTransaction } from '../../../testing/locks.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, refused, sql, add, createBody, createEnvironment } = await startTests();
const create = (name: string, value: string) => add('GitToken', name, { value, type: 'GIT' });

test('a token is listed but never shown, and reaches the runs that refer to it', async () => {
  const token = await create('forge', 'ada:planted-value');
  assert.deepEqual(token, {
    id: token.id,
    name: 'forge',
    organizationId,
    type: 'GIT',
    hosts: [],
    projectIds: [],
    value: '********',
  });
  assert.deepEqual(await ok('getGitToken', { id: token.id }), { ...token, usedBy: [] });
  assert.deepEqual(await ok('listGitTokens', { query: { organizationId, type: 'GIT' } }), [token]);
  const agent = await testAgent(app);
  await createEnvironment({ tokenId: token.id });
  const job = await agent.claim();
  assert.deepEqual(job.source.credentials, { username: 'ada', password: 'planted-value' });
  assert.ok(job.secrets.includes('planted-value'));
});

test('a name is unique in an organization', async () => {
  await create('twice', 'v');
  await refused('createGitToken', 409, /"twice"/, { body: { organizationId, name: 'twice', value: 'w' } });
});

test('deleted tokens and those of other organizations cannot be used', async () => {
  const token = await create('gone', 'v');
  assert.deepEqual(await ok('deleteGitToken', { id: token.id }), { id: token.id });
  await refused('deleteGitToken', 404, { id: token.id });
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await ok('createGitToken', {
    body: { organizationId: elsewhere, name: 'theirs', value: 'v' },
  });
  for (const tokenId of [token.id, foreign.id, 'no-uuid']) {
    await refused('createEnvironmentWithoutTemplate', 400, /\/body\/tokenId/, {
      body: createBody({ tokenId }),
    });
  }
});

test('tokens with hosts reach all runs of their organization, each for its hosts, and no other runs', async () => {
  const { id } = await ok('createOrganization', { body: { name: 'Hosts' } });
  await ok('createGitToken', {
    body: { organizationId: id, name: 'foreign', value: 'foreign', hosts: ['git.example'] },
  });
  await add('GitToken', 'modules', {
    value: 'ada:modules-value',
    hosts: ['git.example', 'git.example:8443'],
  });
  const registry = await add('GitToken', 'registry', {
    value: 'registry-value',
    type: 'REGISTRY',
    hosts: ['registry.example'],
  });
  assert.deepEqual([registry.type, registry.hosts], ['REGISTRY', ['registry.example']]);
  assert.deepEqual(await ok('listGitTokens', { query: { organizationId, type: 'REGISTRY' } }), [registry]);
  const agent = await testAgent(app);
  await createEnvironment();
  const job = await agent.claim();
  assert.deepEqual(job.source.hostCredentials, [
    { host: 'git.example', username: 'ada', password: 'modules-value' },
    { host: 'git.example:8443', username: 'ada', password: 'modules-value' },
  ]);
  assert.deepEqual(job.registryCredentials, [{ host: 'registry.example', token: 'registry-value' }]);
  for (const value of ['modules-value', 'registry-value']) assert.ok(job.secrets.includes(value));
  assert.equal(job.source.credentials, undefined);
  for (const { id: tokenId, hosts } of await ok('listGitTokens', { query: { organizationId } }))
    if (hosts.length > 0) await ok('deleteGitToken', { id: tokenId });
});

test('a registry token requires host names, and does not open repositories', async () => {
  const body = { organizationId, name: 'wrong', value: 'v' };
  await refused('createGitToken', 400, /hosts.*specify at least one/, {
    body: { ...body, type: 'REGISTRY' },
  });
  for (const host of ['https://git.example', 'git.example/path', 'a b', '', 'UPPER.example', '*'])
    assert.match(
      (await refused('createGitToken', 400, { body: { ...body, hosts: [host] } })).message,
      /hosts/,
      host,
    );
  const registry = await ok('createGitToken', {
    body: { ...body, name: 'no repository', type: 'REGISTRY', hosts: ['registry.example'] },
  });
  await refused('createEnvironmentWithoutTemplate', 400, /\/body\/tokenId/, {
    body: createBody({ tokenId: registry.id }),
  });
  await ok('deleteGitToken', { id: registry.id });
});

test('a token that names hosts is refused for repositories on other hosts, and never sent there', async () => {
  const token = await add('GitToken', 'one host', { value: 'only-for-one', hosts: ['git.example:8443'] });
  const wrong = createBody({ tokenId: token.id, repository: 'https://git.example:9443/network.git' });
  assert.equal(
    (await refused('createEnvironmentWithoutTemplate', 400, { body: wrong })).message,
    '/body/tokenId cannot be used: the token "one host" is sent only to git.example:8443, and the repository is on git.example:9443',
  );
  const agent = await testAgent(app);
  const { id } = await createEnvironment({
    tokenId: token.id,
    repository: 'https://git.example:8443/network.git',
    requiresApproval: false,
  });
  const job = await agent.claim();
  assert.equal(job.source.credentials?.password, 'only-for-one');
  await agent.finish(job, { result: 'failed', finishedAt: new Date().toISOString() });
  const params = { id };
  const body = { blueprintRepository: 'https://evil.example/network.git' };
  const { message } = await refused('deployEnvironment', 400, { params, body });
  assert.match(message, /^\/body\/blueprintRepository cannot be used: the token "one host" is sent only to/);
  // As stored before such addresses were refused.
  await sql('update template set repository = $1', body.blueprintRepository);
  await ok('deployEnvironment', { params, body: {} });
  const moved = await agent.claim();
  assert.equal(moved.source.repository, body.blueprintRepository);
  assert.equal(moved.source.credentials, undefined);
  assert.equal(moved.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'], undefined);
  const used = { id: token.id };
  assert.deepEqual((await ok('getGitToken', used)).usedBy, [{ type: 'environment', id, name: 'network' }]);
  const viewer = await app.addKey({ [organizationId]: 'User' });
  assert.deepEqual((await ok('getGitToken', { ...used, as: viewer })).usedBy, []);
  assert.match(
    (await refused('deleteGitToken', 409, used)).message,
    /^Git token "one host" is used by the environment "network": choose another one there first$/,
  );
  const keeper = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'EDIT_ORGANIZATION_SETTINGS'] });
  await refused('deleteGitToken', 409, /used by 1 other:/, { ...used, as: keeper });
  await sql("update environment set status = 'INACTIVE' where id = $1", id);
  await ok('deleteGitToken', used);
});

test('a change of a token keeps what another request changes of it at the same time', async () => {
  const token = await create('raced', 'first');
  const renamed = await duringTransaction(
    app.database,
    "update git_token set hosts = array['git.example'], project_ids = array[$2]::uuid[] where id = $1",
    [token.id, app.projectId],
    () => ok('updateGitToken', { id: token.id, body: { name: 'renamed' } }),
  );
  assert.deepEqual(
    [renamed.name, renamed.hosts, renamed.projectIds],
    ['renamed', ['git.example'], [app.projectId]],
  );
  assert.deepEqual(await ok('updateGitToken', { id: token.id, body: {} }), renamed);
});
