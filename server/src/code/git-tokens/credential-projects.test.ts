import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, organizationId, ok, refused, sql } = tests;
const { add, createBody, createEnvironment, forgetWork, createTemplate, createFrom } = tests;
const project = (name: string, parentProjectId?: string) => add('Project', name, { parentProjectId });
const own = await project('own');
const below = await project('below', own.id);
const other = await project('other');
const value = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
});

test('a token of some projects is used by their environments and those below, and by no others', async () => {
  const token = await add('GitToken', 'team', { value: 'team-value', projectIds: [own.id] });
  assert.deepEqual(token.projectIds, [own.id]);
  for (const { id: projectId } of [own, below]) {
    await createEnvironment({ projectId, tokenId: token.id });
    const job = await agent.claim();
    assert.equal(job.source.credentials?.password, 'team-value');
    await forgetWork();
  }
  const body = createBody({ projectId: other.id, tokenId: token.id });
  await refused('createEnvironmentWithoutTemplate', 400, /\/body\/tokenId/, { body });
});

test('a token that names hosts reaches only runs of its projects', async () => {
  const token = await add('GitToken', 'modules', {
    value: 'planted',
    hosts: ['git.example'],
    projectIds: [own.id],
  });
  const passwords = async (projectId: string) => {
    await createEnvironment({ projectId });
    const job = await agent.claim();
    await forgetWork();
    return [job.source.hostCredentials?.map(({ password }) => password), job.secrets.includes('planted')];
  };
  assert.deepEqual(await passwords(below.id), [['planted'], true]);
  assert.deepEqual(await passwords(other.id), [undefined, false]);
  const moved = await ok('updateGitToken', { id: token.id, body: { projectIds: [other.id] } });
  assert.deepEqual([moved.projectIds, moved.hosts], [[other.id], ['git.example']]);
  assert.deepEqual(await passwords(below.id), [undefined, false]);
  assert.deepEqual(await passwords(other.id), [['planted'], true]);
  const renewed = { name: 'renewed', value: 'second', projectIds: [] };
  await ok('updateGitToken', { id: token.id, body: renewed });
  assert.deepEqual(await passwords(below.id), [['second'], false]);
  await ok('deleteGitToken', { id: token.id });
});

test('an ssh key of some projects is used by their environments, and by no others', async () => {
  const key = await add('SshKey', 'team', { value, projectIds: [own.id] });
  const sshKeys = [{ id: key.id, name: key.name }];
  const repository = 'git@git.example:a.git';
  await createEnvironment({ projectId: below.id, sshKeys, repository });
  const job = await agent.claim();
  assert.equal(job.source.ssh?.keys.length, 1);
  await forgetWork();
  const body = createBody({ projectId: other.id, sshKeys, repository });
  await refused('createEnvironmentWithoutTemplate', 400, /\/body\/sshKeys\/0\/id/, { body });
  const moved = await ok('updateSshKey', { id: key.id, body: { projectIds: [other.id] } });
  assert.deepEqual(moved.projectIds, [other.id]);
  await ok('createEnvironmentWithoutTemplate', { body });
});

test('projects of other organizations and unknown ones are refused by their place', async () => {
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await ok('createProject', { body: { organizationId: elsewhere, name: 'foreign' } });
  const projectIds = [own.id, foreign.id];
  const body = { organizationId, name: 'wrong', value: 'v', projectIds };
  await refused('createGitToken', 400, /\/body\/projectIds\/1/, { body });
  const key = { ...body, value };
  await refused('createSshKey', 400, /\/body\/projectIds\/1/, { body: key });
});

test('a token is renamed only to a free name, and a registry token keeps a host', async () => {
  const token = await add('GitToken', 'registry', {
    value: 'v',
    type: 'REGISTRY',
    hosts: ['registry.example'],
  });
  const update = (status: number, body: object) => refused('updateGitToken', status, { id: token.id, body });
  assert.match((await update(409, { name: 'team' })).message, /"team"/);
  assert.match((await update(400, { hosts: [] })).message, /\/body\/hosts/);
});

test('what the environments of a deleted template need is kept until nothing of them is left', async () => {
  const token = await add('GitToken', 'kept', { value: 'v' });
  const key = await add('SshKey', 'kept', { value });
  const connection = await ok('createVcsConnection', {
    body: { organizationId, name: 'kept', type: 'GitLabEnterprise', url: 'https://git.example.com' },
  });
  const template = await createTemplate({
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
    Promise.all(used.map(async ([read, , id]) => (await ok(read, { id })).usedBy));
  const each = (use: object) => used.map(() => [use]);
  const { id } = await createFrom(template.id, { name: 'survivor' });
  await agent.finish(await agent.claim(), { result: 'failed', finishedAt: new Date().toISOString() });
  assert.deepEqual(await usesOfAll(), each({ type: 'template', id: template.id, name: template.name }));
  await ok('deleteTemplate', { id: template.id });
  assert.deepEqual(await usesOfAll(), each({ type: 'environment', id, name: 'survivor' }));
  for (const [, remove, named] of used)
    await refused(remove, 409, /is used by the environment "survivor": choose another one there first$/, {
      id: named,
    });
  await sql("update environment set status = 'INACTIVE' where id = $1", id);
  assert.deepEqual(await usesOfAll(), [[], [], []]);
  for (const [, remove, named] of used) await ok(remove, { id: named });
});
