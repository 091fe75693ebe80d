import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, refused, add } = await startTests();
const base = {
  organizationId,
  moduleName: 'network',
  moduleProvider: 'aws',
  repository: 'https://git.example.com/network.git',
};
/** Fields that the published client sends with each creation. */
const sent = {
  ...base,
  type: 'module' as const,
  isGitLab: true,
  isBitbucketServer: false,
  isGitHubEnterprise: false,
  isGitLabEnterprise: false,
  isAzureDevOps: false,
  moduleTestEnabled: true,
  runTestsOnPullRequest: true,
  description: 'Networks',
  logoUrl: 'https://example.com/logo.png',
  tokenId: 'made-up',
  tokenName: 'token',
  sshkeys: [{ id: 'key-1', name: 'deploy' }],
  path: 'modules/network',
  tagPrefix: 'network-',
  opentofuVersion: '1.9.0',
  githubInstallationId: 12,
};

test('a module is stored with all fields that clients send, and read back as it was sent', async () => {
  const module = await ok('createModule', { body: { ...sent, moduleName: 'all-fields' } });
  const { id, author, authorId, createdAt, updatedAt, isDeleted, ...stored } = module;
  assert.deepEqual(stored, { ...sent, moduleName: 'all-fields' });
  assert.deepEqual([author.user_id, authorId, isDeleted, createdAt], ['admin', 'admin', false, updatedAt]);
  assert.deepEqual(await ok('getModule', { id }), module);
  assert.deepEqual(await ok('listModules', { query: { organizationId } }), [module]);
});

test('a change keeps what it omits, and an empty text, null and an absent version clear', async () => {
  const { id } = await ok('createModule', { body: { ...sent, moduleName: 'changed' } });
  const module = await ok('updateModule', {
    id,
    body: {
      moduleName: 'renamed',
      tokenId: '',
      tokenName: '',
      path: '',
      sshkeys: null,
      githubInstallationId: null,
      vcsConnectionId: 'connection',
      isGitLab: false,
      moduleTestEnabled: false,
      runTestsOnPullRequest: false,
    },
  });
  assert.deepEqual(
    [
      module.moduleName,
      module.moduleProvider,
      module.repository,
      module.description,
      module.logoUrl,
      module.tagPrefix,
    ],
    ['renamed', sent.moduleProvider, sent.repository, sent.description, sent.logoUrl, sent.tagPrefix],
  );
  for (const field of [
    'tokenId',
    'tokenName',
    'path',
    'sshkeys',
    'githubInstallationId',
    'opentofuVersion',
  ] as const)
    assert.equal(field in module, false, field);
  assert.deepEqual(
    [module.vcsConnectionId, module.isGitLab, module.moduleTestEnabled],
    ['connection', false, false],
  );
});

test('an empty text clears every optional text of a module', async () => {
  const texts = [
    'description',
    'logoUrl',
    'path',
    'tagPrefix',
    'opentofuVersion',
    'tokenId',
    'tokenName',
  ] as const;
  const more = ['vcsConnectionId', 'bitbucketClientKey'] as const;
  const { id } = await ok('createModule', {
    body: { ...sent, moduleName: 'emptied', vcsConnectionId: 'a', bitbucketClientKey: 'b' },
  });
  const body = Object.fromEntries([...texts, ...more].map((field) => [field, '']));
  const module = await ok('updateModule', { id, body });
  for (const field of [...texts, ...more]) assert.equal(module[field], undefined, field);
});

test('name and provider are unique among the modules that are there', async () => {
  const body = { ...base, moduleName: 'unique' };
  const first = await ok('createModule', { body });
  const error = await refused('createModule', 409, { body });
  assert.match(JSON.stringify(error), /A module \\"unique\\" for the provider \\"aws\\" already exists/);
  const other = await ok('createModule', { body: { ...body, moduleProvider: 'gcp' } });
  await refused('updateModule', 409, { id: other.id, body: { moduleProvider: 'aws' } });
  await ok('deleteModule', { id: first.id });
  const again = await ok('createModule', { body });
  assert.notEqual(again.id, first.id);
});

test('what a module names is not deleted before the module, and says who uses it', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const value = privateKey.export({ type: 'pkcs1', format: 'pem' });
  const token = await add('GitToken', 'of-module', { value: 'v' });
  const key = await add('SshKey', 'of-module', { value });
  const connection = await ok('createVcsConnection', {
    body: { organizationId, name: 'of-module', type: 'GitLabEnterprise', url: 'https://git.example.com' },
  });
  const { id } = await ok('createModule', {
    body: {
      ...base,
      moduleName: 'naming',
      tokenId: token.id.toUpperCase(),
      sshkeys: [{ id: key.id, name: key.name }],
      vcsConnectionId: connection.id,
    },
  });
  const usedBy = [{ type: 'module', id, name: 'naming/aws' }];
  const keeper = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'EDIT_ORGANIZATION_SETTINGS'] });
  const used = [
    ['getGitToken', 'deleteGitToken', token.id],
    ['getSshKey', 'deleteSshKey', key.id],
    ['getVcsConnection', 'deleteVcsConnection', connection.id],
  ] as const;
  for (const [read, remove, named] of used) {
    const params = { id: named };
    assert.deepEqual((await ok(read, { params })).usedBy, usedBy);
    assert.deepEqual((await ok(read, { params, as: keeper })).usedBy, []);
    const { message } = await refused(remove, 409, { params });
    assert.match(message, /is used by the module "naming\/aws": choose another one there first/);
  }
  await ok('deleteModule', { id });
  for (const [, remove, named] of used) await ok(remove, { id: named });
});

test('twenty creations of one name at once store one module', async () => {
  const body = { ...base, moduleName: 'at-once' };
  const ends = await Promise.all(
    Array.from({ length: 20 }, () =>
      ok('createModule', { body }).then(
        () => true,
        () => false,
      ),
    ),
  );
  assert.equal(ends.filter(Boolean).length, 1);
});

test('a deleted module is read with its mark, and neither listed nor changed', async () => {
  const { id } = await ok('createModule', { body: { ...base, moduleName: 'deleted' } });
  assert.deepEqual(await ok('deleteModule', { id }), { id });
  assert.equal((await ok('getModule', { id })).isDeleted, true);
  const listed = await ok('listModules', { query: { organizationId } });
  assert.ok(!listed.some((module) => module.id === id));
  await refused('updateModule', 404, { id, body: {} });
  await refused('deleteModule', 404, { id });
});

test('malformed modules are refused by field', async () => {
  for (const [changes, field] of [
    [{ moduleName: 'a b' }, /moduleName/],
    [{ moduleName: '-a' }, /moduleName/],
    [{ moduleName: 'a'.repeat(65) }, /moduleName/],
    [{ moduleProvider: 'AWS' }, /moduleProvider/],
    [{ moduleProvider: '' }, /moduleProvider/],
    [{ opentofuVersion: 'one' }, /opentofuVersion/],
    [{ repository: 'https://user:token@git.example.com/a.git' }, /repository.*git token/],
    [{ sshKeys: [] }, /sshKeys/],
  ] as const)
    assert.match(
      JSON.stringify(await refused('createModule', 400, { body: { ...base, ...changes } as never })),
      field,
    );
});

test('a provider is stored, described again and deleted; its type is unique', async () => {
  const provider = await ok('createProvider', {
    body: { organizationId, type: 'acme', description: 'Ours' },
  });
  assert.deepEqual([provider.type, provider.description, provider.createdBy], ['acme', 'Ours', 'admin']);
  await refused('createProvider', 409, { body: { organizationId, type: 'acme' } });
  await refused('createProvider', 400, { body: { organizationId, type: 'a/b' } });
  const { id } = provider;
  const changed = await ok('updateProvider', { id, body: { description: 'New' } });
  assert.deepEqual(changed, { ...provider, description: 'New' });
  assert.equal('description' in (await ok('updateProvider', { id, body: {} })), false);
  assert.equal((await ok('listProviders', { query: { organizationId } })).length, 1);
  await ok('deleteProvider', { id });
  await refused('getProvider', 404, { id });
  assert.deepEqual(await ok('listProviders', { query: { organizationId } }), []);
  await ok('createProvider', { body: { organizationId, type: 'acme' } });
});

test('a GPG key is stored as it is sent, and gone from the list when it is deleted', async () => {
  const body = { organizationId, name: 'signing', keyId: '0123456789ABCDEF', content: 'dasdasdasd' };
  const key = await ok('createGpgKey', { body });
  const { id, createdBy, createdByUser, ...stored } = key;
  assert.deepEqual([stored, createdBy, createdByUser.user_id], [body, 'admin', 'admin']);
  assert.deepEqual(await ok('listGpgKeys', { query: { organizationId } }), [key]);
  await refused('createGpgKey', 400, { body: { ...body, keyId: '0123456789abcdef' } });
  await ok('deleteGpgKey', { id });
  await refused('deleteGpgKey', 404, { id });
  assert.deepEqual(await ok('listGpgKeys', { query: { organizationId } }), []);
});
