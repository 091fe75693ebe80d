import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { createBody, createEnvironment, forgetWork } from '../../../testing/environment.ts';
import { createFrom, createTemplate } from '../../../testing/template.ts';

const app = await testApp();
const agent = await testAgent(app);
const { organizationId } = app;
const project = (name: string, parentProjectId?: string) =>
  ok(app, 'createProject', { body: { organizationId, name, parentProjectId } });
const own = await project('own');
const below = await project('below', own.id);
const other = await project('other');
const value = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
});

test('a token of some projects is used by their environments and those below, and by no others', async () => {
  const token = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'team', value: 'team-value', projectIds: [own.id] },
  });
  assert.deepEqual(token.projectIds, [own.id]);
  for (const { id: projectId } of [own, below]) {
    await createEnvironment(app, { projectId, tokenId: token.id });
    const job = await agent.claim();
    assert.equal(job.source.credentials?.password, 'team-value');
    await forgetWork(app);
  }
  const body = createBody(app, { projectId: other.id, tokenId: token.id });
  const refusal = await refused(app, 'createEnvironmentWithoutTemplate', 400, { body });
  assert.match(refusal.message, /\/body\/tokenId/);
});

test('a token that names hosts reaches only runs of its projects', async () => {
  const token = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'modules', value: 'planted', hosts: ['git.example'], projectIds: [own.id] },
  });
  const passwords = async (projectId: string) => {
    await createEnvironment(app, { projectId });
    const job = await agent.claim();
    await forgetWork(app);
    return [job.source.hostCredentials?.map(({ password }) => password), job.secrets.includes('planted')];
  };
  assert.deepEqual(await passwords(below.id), [['planted'], true]);
  assert.deepEqual(await passwords(other.id), [undefined, false]);
  const moved = await ok(app, 'updateGitToken', {
    params: { id: token.id },
    body: { projectIds: [other.id] },
  });
  assert.deepEqual([moved.projectIds, moved.hosts], [[other.id], ['git.example']]);
  assert.deepEqual(await passwords(below.id), [undefined, false]);
  assert.deepEqual(await passwords(other.id), [['planted'], true]);
  const renewed = { name: 'renewed', value: 'second', projectIds: [] };
  await ok(app, 'updateGitToken', { params: { id: token.id }, body: renewed });
  assert.deepEqual(await passwords(below.id), [['second'], false]);
  await ok(app, 'deleteGitToken', { params: { id: token.id } });
});

test('an ssh key of some projects is used by their environments, and by no others', async () => {
  const key = await ok(app, 'createSshKey', {
    body: { organizationId, name: 'team', value, projectIds: [own.id] },
  });
  const sshKeys = [{ id: key.id, name: key.name }];
  const repository = 'git@git.example:a.git';
  await createEnvironment(app, { projectId: below.id, sshKeys, repository });
  const job = await agent.claim();
  assert.equal(job.source.ssh?.keys.length, 1);
  await forgetWork(app);
  const body = createBody(app, { projectId: other.id, sshKeys, repository });
  const refusal = await refused(app, 'createEnvironmentWithoutTemplate', 400, { body });
  assert.match(refusal.message, /\/body\/sshKeys\/0\/id/);
  const moved = await ok(app, 'updateSshKey', { params: { id: key.id }, body: { projectIds: [other.id] } });
  assert.deepEqual(moved.projectIds, [other.id]);
  await ok(app, 'createEnvironmentWithoutTemplate', { body });
});

test('projects of other organizations and unknown ones are refused by their place', async () => {
  const { id: elsewhere } = await ok(app, 'createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await ok(app, 'createProject', { body: { organizationId: elsewhere, name: 'foreign' } });
  const projectIds = [own.id, foreign.id];
  const body = { organizationId, name: 'wrong', value: 'v', projectIds };
  assert.match((await refused(app, 'createGitToken', 400, { body })).message, /\/body\/projectIds\/1/);
  const key = { ...body, value };
  assert.match((await refused(app, 'createSshKey', 400, { body: key })).message, /\/body\/projectIds\/1/);
});

test('a token is renamed only to a free name, and a registry token keeps a host', async () => {
  const token = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'registry', value: 'v', type: 'REGISTRY', hosts: ['registry.example'] },
  });
  const update = (status: number, body: object) =>
    refused(app, 'updateGitToken', status, { params: { id: token.id }, body });
  assert.match((await update(409, { name: 'team' })).message, /"team"/);
  assert.match((await update(400, { hosts: [] })).message, /\/body\/hosts/);
});

test('what the environments of a deleted template need is kept until nothing of them is left', async () => {
  const token = await ok(app, 'createGitToken', { body: { organizationId, name: 'kept', value: 'v' } });
  const key = await ok(app, 'createSshKey', { body: { organizationId, name: 'kept', value } });
  const connection = await ok(app, 'createVcsConnection', {
    body: { organizationId, name: 'kept', type: 'GitLabEnterprise', url: 'https://git.example.com' },
  });
  const template = await createTemplate(app, {
    tokenId: token.id,
    sshKeys: [{ id: key.id, name: key.name }],
    vcsConnectionId: connection.id,
  });
  const used = [
    ['getGitToken', 'deleteGitToken', token.id],
    ['getSshKey', 'deleteSshKey', key.id],
    ['getVcsConnection', 'deleteVcsConnection', connection.id],
  ] as const;
  const usesOfAll = (): Promise<unknown[]> =>
    Promise.all(used.map(async ([read, , id]) => (await ok(app, read, { params: { id } })).usedBy));
  const each = (use: object) => used.map(() => [use]);
  const { id } = await createFrom(app, template.id, { name: 'survivor' });
  await agent.finish(await agent.claim(), { result: 'failed', finishedAt: new Date().toISOString() });
  assert.deepEqual(await usesOfAll(), each({ type: 'template', id: template.id, name: template.name }));
  await ok(app, 'deleteTemplate', { params: { id: template.id } });
  assert.deepEqual(await usesOfAll(), each({ type: 'environment', id, name: 'survivor' }));
  for (const [, remove, named] of used)
    assert.match(
      (await refused(app, remove, 409, { params: { id: named } })).message,
      /is used by the environment "survivor": choose another one there first$/,
    );
  await app.database.pool.query("update environment set status = 'INACTIVE' where id = $1", [id]);
  assert.deepEqual(await usesOfAll(), [[], [], []]);
  for (const [, remove, named] of used) await ok(app, remove, { params: { id: named } });
});
