import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { duringTransaction } from '../../../testing/locks.ts';
import { startTests } from '../../../testing/start.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';

const { app, organizationId, ok, refused, add, createBody, createEnvironment } = await startTests();
let made = 0;
const body = (changes: object = {}) => ({
  organizationId,
  name: `forge ${++made}`,
  type: 'GitLabEnterprise',
  url: 'https://git.example:8443/',
  ...changes,
});
const create = (changes: object = {}) => ok('createVcsConnection', { body: body(changes) });
const token = (name: string, changes: object = {}) =>
  add('GitToken', name, { value: `ada:${name}-value`, ...changes });

test('a connection is returned as it was sent, changed and deleted', async () => {
  const connection = await create({ name: 'first', vcsAgentKey: 'OTHER_DEFAULT' });
  assert.deepEqual(
    { ...connection, createdAt: '', updatedAt: '' },
    {
      id: connection.id,
      organizationId,
      name: 'first',
      type: 'GitLabEnterprise',
      url: 'https://git.example:8443/',
      vcsAgentKey: 'OTHER_DEFAULT',
      accessScope: 'organization',
      connectionType: 'self-hosted',
      createdAt: '',
      updatedAt: '',
    },
  );
  const params = { id: connection.id };
  assert.deepEqual(await ok('getVcsConnection', { params }), { ...connection, usedBy: [] });
  assert.deepEqual(await ok('listVcsConnections', { query: { organizationId } }), [connection]);
  const { vcsAgentKey } = await ok('updateVcsConnection', { params, body: { name: 'renamed' } });
  assert.equal(vcsAgentKey, 'OTHER_DEFAULT');
  const changed = await ok('updateVcsConnection', {
    params,
    body: { name: 'renamed', vcsAgentKey: 'ENVARIUM_DEFAULT' },
  });
  assert.deepEqual([changed.name, changed.vcsAgentKey], ['renamed', 'ENVARIUM_DEFAULT']);
  assert.deepEqual(await ok('deleteVcsConnection', { params }), { id: connection.id });
  await refused('getVcsConnection', 404, { params });
});

test('bad requests are refused with the field', async () => {
  await create({ name: 'taken' });
  const foreign = await ok('createOrganization', { body: { name: 'Other' } });
  const theirs = await ok('createGitToken', {
    body: { organizationId: foreign.id, name: 'theirs', value: 'v' },
  });
  const elsewhere = await token('elsewhere', { hosts: ['other.example'] });
  for (const [changes, pattern, status] of [
    [{ type: 'GitHub' }, /\/body\/type/, 400],
    [{ url: 'git@git.example:x' }, /\/body\/url is refused: it must be an https address/, 400],
    [{ url: 'http://git.example' }, /\/body\/url is refused: it uses plain http/, 400],
    [{ url: 'https://a:b@git.example' }, /\/body\/url is refused: it contains a user/, 400],
    [{ vcsAgentKey: 'nobody' }, /\/body\/vcsAgentKey does not match any agent/, 400],
    [{ tokenId: randomUUID() }, /\/body\/tokenId does not match/, 400],
    [{ tokenId: theirs.id }, /\/body\/tokenId does not match/, 400],
    [{ tokenId: elsewhere.id }, /\/body\/tokenId cannot be used.*other\.example/, 400],
    [{ name: 'taken' }, /"taken" already exists/, 409],
  ] as const) {
    await refused('createVcsConnection', status, pattern, { body: body(changes) });
  }
  const theirOwn = await ok('createVcsConnection', { body: body({ organizationId: foreign.id }) });
  await refused('createEnvironmentWithoutTemplate', 400, /\/body\/vcsConnectionId/, {
    body: createBody({ vcsConnectionId: theirOwn.id }),
  });
});

test('the token of a connection is sent to repositories on its host, and to no others', async () => {
  const agent = await testAgent(app);
  const own = await token('own');
  const connection = await create({ tokenId: (await token('connection')).id });
  const claimed = async (changes: object) => {
    const { latestDeploymentLog: shown } = await createEnvironment({
      vcsConnectionId: connection.id,
      ...changes,
    });
    const { source, systemVariables } = await agent.claim();
    const exported = systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'];
    assert.equal(exported, source.credentials?.password);
    assert.equal(
      shown.customServiceEnvironmentVariables?.vcsAccessToken,
      exported === undefined ? undefined : sensitiveMask,
    );
    return source.credentials;
  };
  const credentials = { username: 'ada', password: 'connection-value' };
  assert.deepEqual(await claimed({ repository: 'https://git.example:8443/a/b' }), credentials);
  assert.equal(await claimed({ repository: 'https://git.example/a/b' }), undefined);
  assert.equal(await claimed({ repository: 'https://other.example/a/b' }), undefined);
  assert.deepEqual(await claimed({ repository: 'https://git.example:8443/a', tokenId: own.id }), {
    username: 'ada',
    password: 'own-value',
  });
});

test('a token that a connection has is not deleted, nor a connection that is used', async () => {
  const held = await token('held');
  const connection = await create({ name: 'holder', tokenId: held.id });
  assert.deepEqual((await ok('getGitToken', { id: held.id })).usedBy, [
    { type: 'vcsConnection', id: connection.id, name: 'holder' },
  ]);
  const refusal = await refused('deleteGitToken', 409, { id: held.id });
  assert.match(refusal.message, /Git token "held" is used by the VCS connection "holder"/);
  const environment = await createEnvironment({ vcsConnectionId: connection.id });
  const params = { id: connection.id };
  await refused('deleteVcsConnection', 409, new RegExp(`is used by the environment "${environment.name}"`), {
    params,
  });
  await ok('updateVcsConnection', { params, body: { tokenId: null } });
  await ok('deleteGitToken', { id: held.id });
});

test('the id of an installation is that of a template for a repository of the same owner', async () => {
  const query = { organizationId, repository: 'https://github.com/Team/other.git' };
  const params = { vcsType: 'github' };
  await refused('getVcsToken', 404, /names a GitHub installation/, { params, query });
  await createEnvironment({ repository: 'git@github.com:team/code.git', githubInstallationId: 4711 });
  assert.deepEqual(await ok('getVcsToken', { params, query }), { token: 4711 });
  for (const repository of ['https://github.com/teams/x', 'https://git.example/team/x', 'x'])
    await refused('getVcsToken', 404, { params, query: { organizationId, repository } });
  await refused('getVcsToken', 404, { params: { vcsType: 'gitlab' }, query });
});

test('a change of a connection keeps what another request changes of it at the same time', async () => {
  const held = await token('taken away');
  const { id } = await create({ tokenId: held.id });
  const renamed = await duringTransaction(
    app.database,
    'update vcs_connection set token_id = null where id = $1',
    [id],
    () => ok('updateVcsConnection', { id, body: { name: 'raced' } }),
  );
  assert.deepEqual([renamed.name, renamed.tokenId], ['raced', undefined]);
});
