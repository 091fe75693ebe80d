import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { startGitHost } from '../../../../agent/testing/git-host.ts';
import { missingSshServer, startSshServer } from '../../../../agent/testing/ssh-server.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { gitFolder } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const code = folder.repository('private', { 'main.tf': 'variable "found" {}' });
const host = await startGitHost({
  root: folder.path,
  credentials: 'ada:open-sesame',
  answer: (request, response) => {
    if (!request.url?.startsWith('/echo')) return false;
    const text = `ERR your header was ${request.headers.authorization}\n`;
    const lines = ['# service=git-upload-pack\n', null, text];
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
    response.end(
      lines
        .map((line) => (line === null ? '0000' : `${(line.length + 4).toString(16).padStart(4, '0')}${line}`))
        .join(''),
    );
    return true;
  },
});
after(() => host[Symbol.asyncDispose]());
const repository = `${host.url}/private`;
const { app, organizationId, call, keyFor } = await startTests({ ENVARIUM_GIT_HTTP_HOSTS: host.host });
const project = async (name: string, parentProjectId?: string) =>
  (await ok(app, 'createProject', { body: { organizationId, name, parentProjectId } })).id;
const [own, other] = await Promise.all([project('own'), project('other')]);
const below = await project('below', own);
const keyIn = (projectId: string, role = 'Admin') => keyFor(role, { projectId });
const limited = await ok(app, 'createGitToken', {
  body: { organizationId, name: 'limited', value: 'ada:open-sesame', projectIds: [own] },
});
const tokenId = limited.id;

test('a token of some projects reads for those who may use it there, and for no one else', async () => {
  covers('listVariablesFromRepository', 'query.tokenId', 'query.projectId');
  for (const [as, query] of [
    [undefined, {}],
    [undefined, { projectId: own }],
    [await keyIn(own), {}],
    [await keyIn(below), {}],
    [await keyIn(below), { projectId: below }],
    [await app.addKey({ [organizationId]: ['CREATE_AND_EDIT_TEMPLATES'] }), {}],
  ] as const) {
    const found = await ok(app, 'listVariablesFromRepository', {
      query: { repository, tokenId, ...query },
      ...(as ? { as } : {}),
    });
    assert.deepEqual(fieldOf(found, 'name'), ['found']);
  }
  const requests = host.requests.length;
  for (const [as, query, status, pattern] of [
    [await keyIn(other), {}, 400, /\/query\/tokenId does not match/],
    [await keyIn(own), { projectId: other }, 403, /CREATE_VCS_ENVIRONMENT or CREATE_AND_EDIT_TEMPLATES/],
    [undefined, { projectId: other }, 400, /\/query\/tokenId does not match/],
    [await keyIn(own, 'Deployer'), {}, 403, /CREATE_VCS_ENVIRONMENT/],
    [await app.addKey({ [organizationId]: 'User' }), {}, 403, /CREATE_VCS_ENVIRONMENT/],
    [await app.addKey(), {}, 403, /CREATE_VCS_ENVIRONMENT|tokenId/],
  ] as const) {
    const response = await call('listVariablesFromRepository', {
      query: { repository, tokenId, ...query },
      ...(as ? { as } : {}),
    });
    assert.match(response.body, pattern);
    assert.ok([status, 400].includes(response.statusCode), response.body);
  }
  assert.equal(host.requests.length, requests, 'nothing was sent');
});

test('the members of another organization cannot use a token of this one', async () => {
  const outsider = await app.addKey();
  const { id } = await ok(app, 'createOrganization', { body: { name: 'Other' }, as: outsider });
  for (const query of [{}, { organizationId: id }, { organizationId }] as Record<string, string>[])
    await refused(app, 'listRepositoryRevisions', 400, {
      query: { repository, tokenId, ...query },
      as: outsider,
    });
});

test('without a token the repository is refused, and with the wrong one', async () => {
  const read = async (query: object) =>
    (
      await refused(app, 'listVariablesFromRepository', 400, {
        query: { repository, organizationId, ...query },
      })
    ).message;
  assert.match(await read({}), /\/query\/repository is refused: .*requires credentials/);
  const wrong = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'wrong', value: 'ada:wrong' },
  });
  assert.match(
    await read({ tokenId: wrong.id }),
    /\/query\/tokenId is refused: .*refused its user or password/,
  );
  const elsewhere = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'elsewhere', value: 'ada:open-sesame', hosts: ['git.example'] },
  });
  assert.match(await read({ tokenId: elsewhere.id }), /\/query\/tokenId cannot be used: .*git\.example/);
});

test('the token of a connection, and one that names the host, are used without being named', async () => {
  covers('listVariablesFromRepository', 'query.vcsConnectionId');
  const connection = await ok(app, 'createVcsConnection', {
    body: { organizationId, name: 'c', type: 'GitLabEnterprise', url: host.url, tokenId },
  });
  const query = { repository, vcsConnectionId: connection.id };
  assert.equal((await ok(app, 'listVariablesFromRepository', { query })).length, 1);
  await refused(app, 'listVariablesFromRepository', 400, { query, as: await keyIn(other) });
  const named = await ok(app, 'createGitToken', {
    body: { organizationId, name: 'host', value: 'ada:open-sesame', hosts: [host.host] },
  });
  const revisions = await ok(app, 'listRepositoryRevisions', { query: { repository, organizationId } });
  assert.deepEqual(revisions, { heads: ['main'], tags: [] });
  await ok(app, 'deleteGitToken', { id: named.id });
});

test('what a host answers does not show the token', async () => {
  await refused(app, 'listVariablesFromRepository', 400, /your header was Basic \*\*\*/, {
    query: { repository: `${host.url}/echo`, tokenId },
  });
});

test('a host that stays silent is left after the time limit', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  after(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const hasty = await testApp({
    ENVARIUM_GIT_HTTP_HOSTS: address,
    ENVARIUM_REPOSITORY_TIME_LIMIT_SECONDS: '1',
  });
  const { message } = await refused(hasty, 'listVariablesFromRepository', 422, {
    query: { repository: `http://${address}/x` },
  });
  assert.match(message, /takes longer than 1 s \(setting ENVARIUM_REPOSITORY_TIME_LIMIT_SECONDS\)/);
  assert.deepEqual(readdirSync(join(hasty.folder, 'repositories')), []);
  assert.doesNotMatch(
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }),
    new RegExp(`git.* http://${address}`),
  );
});

test('more than the size limit is not fetched', async () => {
  const random = randomBytes(3_000_000).toString('base64');
  const large = folder.repository('large', { 'large.txt': random, 'main.tf': '' });
  const small = await testApp({
    ENVARIUM_GIT_LOCAL_PATHS: folder.path,
    ENVARIUM_REPOSITORY_LIMIT_MB: '1',
  });
  await refused(small, 'listVariablesFromRepository', 400, /is larger than 1 MB/, {
    query: { repository: large.path },
  });
});

test('a repository is read over ssh with a stored key', { skip: missingSshServer }, async () => {
  covers('listVariablesFromRepository', 'query.sshKeyIds');
  await using server = await startSshServer();
  const ssh = await testApp({
    ENVARIUM_GIT_KNOWN_HOSTS: server.knownHosts,
    ENVARIUM_GIT_NETWORKS: '127.0.0.0/8',
  });
  const key = await ok(ssh, 'createSshKey', {
    body: { organizationId: ssh.organizationId, name: 'k', value: server.key },
  });
  const address = `${server.address}${code.path}`;
  const sshKeyIds = JSON.stringify([key.id]);
  const found = await ok(ssh, 'listVariablesFromRepository', { query: { repository: address, sshKeyIds } });
  assert.deepEqual(fieldOf(found, 'name'), ['found']);
  const { message } = await refused(ssh, 'listRepositoryRevisions', 400, { query: { repository: address } });
  assert.match(message, /requires an ssh key, and the request has none/);
});

test('a file that the host left out because of its size is refused by name', async () => {
  const large = folder.repository('large', {
    'code/main.tf': 'variable "found" {}',
    'code/shared.tf': { link: '../shared/large.tf' },
    'shared/large.tf': `variable "x" {}\n${'#'.repeat(3_000_000)}`,
    'plain/large.tf': `variable "y" {}\n${'#'.repeat(3_000_001)}`,
  });
  large.git('config', 'uploadpack.allowFilter', 'true');
  const query = { repository: `${host.url}/large`, tokenId, projectId: own };
  for (const [path, file] of [
    ['code', 'shared/large.tf'],
    ['plain', 'plain/large.tf'],
    ['plain/large.tf', 'plain/large.tf'],
  ] as const) {
    const { message } = await refused(app, 'listVariablesFromRepository', 422, { query: { ...query, path } });
    assert.match(message, new RegExp(`${file} has more than 1000000 bytes`), path);
  }
});
