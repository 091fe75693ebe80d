import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type GitRepository, gitFolder, type RepositoryFiles } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';
import { pollRepositories, scanAfterPush } from './poll.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, organizationId, ok, refused, sql, add } = await startTests({
  ENVARIUM_GIT_LOCAL_PATHS: folder.path,
});

let made = 0;
const code = 'resource "terraform_data" "x" {}\n';

/** A project of its own that finds environments in a repository of its own. */
async function discovering(files: RepositoryFiles, more: object = {}) {
  made += 1;
  const repository = folder.repository(`live-${made}`, files);
  const { id: projectId } = await add('Project', `p${made}`);
  const about = { params: { projectId } };
  const body = { repository: repository.path, globPattern: '**/main.tf', ...more };
  await ok('setDiscovery', { ...about, body });
  await app.carryOutEffects();
  const state = () => ok('getDiscoveryState', about);
  return {
    ...{ repository, projectId, about, body, state },
    set: async (change: object) => {
      await ok('setDiscovery', { ...about, body: { ...body, ...change } });
      await app.carryOutEffects();
    },
    scan: async () => {
      await ok('startDiscoveryScan', about);
      await app.carryOutEffects();
      return (await state()).lastScan;
    },
    /** State of each folder, and why. */
    states: async () => Object.fromEntries((await state()).folders.map((each) => [each.folder, each.status])),
    reasonOf: async (name: string) =>
      (await state()).folders.find((each) => each.folder === name)?.reason ?? '',
    names: async () =>
      (await ok('listEnvironments', { query: { organizationId, projectId } })).map(({ name }) => name).sort(),
  };
}

const remove = (repository: GitRepository, path: string) => {
  repository.git('rm', '-rq', '--', path);
  repository.git('commit', '-q', '-m', 'remove');
};

test('each folder with a matching file becomes an environment of its own, and others say why not', async () => {
  const found = await discovering(
    {
      'prod/network/main.tf': code,
      'prod/app/main.tf': code,
      'modules/vpc/main.tf': code,
      'docs/README.md': 'text',
    },
    { globPattern: 'prod/*/main.tf', rootPath: 'prod', revision: 'main' },
  );
  assert.deepEqual(await found.names(), ['app', 'network']);
  assert.deepEqual(await found.states(), {
    'modules/vpc': 'PASSED_OVER',
    'prod/app': 'MANAGED',
    'prod/network': 'MANAGED',
  });
  assert.match(await found.reasonOf('modules/vpc'), /modules\/vpc\/main\.tf/);
  const { lastScan } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS');
  assert.equal(lastScan.commitHash, found.repository.git('rev-parse', 'HEAD'));
  const { files, matched, created } = lastScan;
  assert.deepEqual({ files, matched, created }, { files: 4, matched: 2, created: 2 });
  const [environment] = await ok('listEnvironments', {
    query: { organizationId, projectId: found.projectId, name: 'app' },
  });
  assert.equal(environment?.continuousDeployment, true);
  assert.equal(environment.pullRequestPlanDeployments, true);
  assert.equal(environment.autoDeployOnPathChangesOnly, true);
  assert.equal(environment.latestDeploymentLog?.blueprintRevision, 'main');
  const template = await ok('getTemplate', {
    params: { id: environment.latestDeploymentLog.blueprintId ?? '' },
  });
  assert.equal(template.path, 'prod/app');
  assert.equal(template.isSingleUse, true);
});

test('folders become environments once, however many scans and servers look', async () => {
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`e${index}/main.tf`, code]));
  made += 1;
  const repository = folder.repository(`raced-${made}`, files);
  const { id: projectId } = await add('Project', `raced ${made}`);
  const about = { params: { projectId } };
  const body = { repository: repository.path, globPattern: '*/main.tf' };
  await Promise.all(Array.from({ length: 3 }, () => ok('setDiscovery', { ...about, body })));
  await ok('startDiscoveryScan', about);
  await Promise.all([app.carryOutEffects(), app.carryOutEffects(), app.carryOutEffects()]);
  await ok('startDiscoveryScan', about);
  await app.carryOutEffects();
  const environments = await ok('listEnvironments', { query: { organizationId, projectId } });
  assert.equal(environments.length, 12);
  assert.equal(new Set(environments.map(({ name }) => name)).size, 12);
});

test('a branch that has not moved is not read again, unless a person says so', async () => {
  const found = await discovering({ 'a/main.tf': code });
  app.advance(3700);
  await pollRepositories(app.context, new AbortController().signal);
  await app.carryOutEffects();
  const { lastScan } = await found.state();
  assert.equal(lastScan?.cause, 'poll');
  assert.equal(lastScan.isUnchanged, true);
  assert.equal(lastScan.status, 'SUCCESS');
  found.repository.commit({ 'b/main.tf': code });
  await pollRepositories(app.context, new AbortController().signal);
  await app.carryOutEffects();
  assert.deepEqual(await found.names(), ['a'], 'it is not due');
  app.advance(3700);
  await pollRepositories(app.context, new AbortController().signal);
  await app.carryOutEffects();
  assert.deepEqual(await found.names(), ['a', 'b']);
  const forced = await found.scan();
  assert.equal(forced?.isUnchanged, false);
  assert.equal(forced.created, 0);
});

test('a push to its branch starts a scan, and others do not', async () => {
  const found = await discovering({ 'a/main.tf': code });
  const push = {
    organizationId,
    repositories: [found.repository.path],
    branch: 'main',
    isDefaultBranch: true,
  };
  found.repository.commit({ 'b/main.tf': code });
  await scanAfterPush(app.context, { ...push, branch: 'other', isDefaultBranch: false });
  await scanAfterPush(app.context, { ...push, repositories: ['/srv/repositories/other'] });
  await app.carryOutEffects();
  assert.deepEqual(await found.names(), ['a']);
  await scanAfterPush(app.context, push);
  await app.carryOutEffects();
  assert.deepEqual(await found.names(), ['a', 'b']);
});

test('a folder that is gone is flagged, and comes back as it was', async () => {
  const found = await discovering({ 'a/main.tf': code, 'b/main.tf': `${code}# b` });
  remove(found.repository, 'b');
  await found.scan();
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'MISSING' });
  assert.match(await found.reasonOf('b'), /not in the repository any more; its environment is kept/);
  assert.deepEqual(await found.names(), ['a', 'b']);
  found.repository.commit({ 'b/main.tf': `${code}# b` });
  await found.scan();
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'MANAGED' });
});

test('environments of folders that are gone are archived or destroyed where the project says so', async () => {
  for (const onRemoval of ['archive', 'destroy'] as const) {
    const files = { 'a/main.tf': `${code}#a`, 'b/main.tf': `${code}#b`, 'c/main.tf': `${code}#c` };
    const found = await discovering(files, { onRemoval, removalLimitPercent: 50 });
    const before = await found.state();
    const environmentId = before.folders.find(({ folder }) => folder === 'b')?.environmentId ?? '';
    if (onRemoval === 'destroy')
      await sql(
        "update environment set status = 'ACTIVE', resting_status = 'ACTIVE' where id = $1",
        environmentId,
      );
    await sql("update deployment set status = 'SUCCESS' where environment_id = $1", environmentId);
    remove(found.repository, 'b');
    const scan = await found.scan();
    assert.equal(scan?.removed, 1, onRemoval);
    assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'REMOVED', c: 'MANAGED' });
    const environment = await ok('getEnvironment', { params: { id: environmentId } });
    if (onRemoval === 'archive') assert.equal(environment.isArchived, true);
    else assert.equal(environment.latestDeploymentLog?.type, 'destroy');
  }
});

test('more removals than the limit wait for a person, and new folders do not', async () => {
  const files = { 'a/main.tf': `${code}#a`, 'b/main.tf': `${code}#b`, 'c/main.tf': `${code}#c` };
  const found = await discovering(files, { onRemoval: 'archive' });
  remove(found.repository, 'b');
  found.repository.commit({ 'd/main.tf': `${code}#d` });
  const preview = await ok('previewDiscovery', { ...found.about, body: {} });
  assert.equal(preview.asksFirst, true);
  assert.deepEqual(
    preview.folders.map(({ folder, action }) => [folder, action]),
    [
      ['a', 'keep'],
      ['b', 'archive'],
      ['c', 'keep'],
      ['d', 'create'],
    ],
  );
  const scan = await found.scan();
  assert.equal(scan?.status, 'WAITING_FOR_USER');
  assert.match(scan.error ?? '', /1 environments? .*removalLimitPercent/s);
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'REMOVING', c: 'MANAGED', d: 'MANAGED' });
  const params = { ...found.about.params, scanId: scan.id };
  await ok('confirmDiscoveryRemoval', { params });
  await sql("update deployment set status = 'SUCCESS' where project_id = $1", found.projectId);
  await app.carryOutEffects();
  const { lastScan } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS');
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'REMOVED', c: 'MANAGED', d: 'MANAGED' });
  await refused('confirmDiscoveryRemoval', 409, /does not wait/, { params });
});

test('an edited glob, a failed scan and a vanished branch remove nothing', async () => {
  const found = await discovering(
    { 'a/main.tf': `${code}#a`, 'b/main.tf': `${code}#b` },
    { onRemoval: 'destroy', removalLimitPercent: 100 },
  );
  await found.set({ globPattern: 'a/main.tf' });
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'MANAGED' });
  assert.match(await found.reasonOf('b'), /does not include the folder any more; its environment is kept/);
  await found.set({ globPattern: '**/main.tf', revision: 'gone' });
  const { lastScan } = await found.state();
  assert.equal(lastScan?.status, 'FAILURE');
  assert.match(lastScan.error ?? '', /revision/);
  await found.set({ globPattern: '**/main.tf' });
  rmSync(found.repository.path, { recursive: true });
  const failed = await found.scan();
  assert.equal(failed?.status, 'FAILURE');
  assert.match(failed.error ?? '', /repository/);
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'MANAGED' });
  const scans = await ok('listDiscoveryScans', found.about);
  assert.deepEqual(scans.map(({ status }) => status).slice(0, 2), ['FAILURE', 'SUCCESS']);
});

test('an empty repository fails, and one without a match finds nothing', async () => {
  made += 1;
  const path = join(folder.path, `empty-${made}`);
  const repository = folder.repository(`empty-${made}`, {});
  repository.git('update-ref', '-d', 'HEAD');
  const { id: projectId } = await add('Project', `empty ${made}`);
  const about = { params: { projectId } };
  await ok('setDiscovery', { ...about, body: { repository: path, globPattern: '**/main.tf' } });
  await app.carryOutEffects();
  const { lastScan } = await ok('getDiscoveryState', about);
  assert.equal(lastScan?.status, 'FAILURE');
  const none = await discovering({ 'README.md': 'x' });
  const state = await none.state();
  assert.equal(state.lastScan?.status, 'SUCCESS');
  assert.deepEqual(state.folders, []);
});

test('a renamed folder keeps its environment and state where a person says so', async () => {
  const found = await discovering({ 'old/main.tf': `${code}#1`, 'other/main.tf': `${code}#2` });
  const before = (await found.state()).folders.find(({ folder }) => folder === 'old');
  found.repository.git('mv', 'old', 'new');
  found.repository.git('commit', '-q', '-m', 'rename');
  await found.scan();
  assert.deepEqual(await found.states(), { new: 'RENAMED', old: 'MISSING', other: 'MANAGED' });
  assert.match(await found.reasonOf('new'), /"old", which is gone/);
  assert.deepEqual(await found.names(), ['old', 'other']);
  await refused('resolveDiscoveryRename', 400, /RENAMED/, {
    ...found.about,
    body: { folder: 'other', isSame: true },
  });
  await ok('resolveDiscoveryRename', { ...found.about, body: { folder: 'new', isSame: true } });
  await app.carryOutEffects();
  assert.deepEqual(await found.states(), { new: 'MANAGED', other: 'MANAGED' });
  const after = (await found.state()).folders.find(({ folder }) => folder === 'new');
  assert.equal(after?.environmentId, before?.environmentId);
  assert.deepEqual(await found.names(), ['new', 'other']);
  const environment = await ok('getEnvironment', { params: { id: after?.environmentId ?? '' } });
  const template = await ok('getTemplate', {
    params: { id: environment.latestDeploymentLog?.blueprintId ?? '' },
  });
  assert.equal(template.path, 'new');
});

test('a folder that only looks renamed becomes an environment of its own', async () => {
  const found = await discovering({ 'old/main.tf': `${code}#1` });
  found.repository.git('mv', 'old', 'new');
  found.repository.git('commit', '-q', '-m', 'rename');
  await found.scan();
  await ok('resolveDiscoveryRename', { ...found.about, body: { folder: 'new', isSame: false } });
  await app.carryOutEffects();
  assert.deepEqual(await found.states(), { new: 'MANAGED', old: 'MISSING' });
  assert.deepEqual(await found.names(), ['new', 'old']);
});

test('two folders with the content of one that is gone are new ones', async () => {
  const found = await discovering({ 'old/main.tf': code });
  found.repository.git('mv', 'old', 'one');
  found.repository.commit({ 'two/main.tf': code });
  await found.scan();
  assert.deepEqual(await found.states(), { old: 'MISSING', one: 'MANAGED', two: 'MANAGED' });
});

test('an environment that people delete is not created again', async () => {
  const found = await discovering({ 'a/main.tf': code });
  const [{ environmentId = '' } = {}] = (await found.state()).folders;
  await sql("update deployment set status = 'SUCCESS' where environment_id = $1", environmentId);
  await sql('update discovery_folder set environment_id = null where environment_id = $1', environmentId);
  await found.scan();
  assert.deepEqual(await found.states(), { a: 'DELETED' });
  assert.match(await found.reasonOf('a'), /was deleted/);
});

test('a name that is taken, and a limit that is reached in the middle, are said; the rest is created', async () => {
  made += 1;
  const { id: projectId } = await add('Project', `limited ${made}`);
  const about = { params: { projectId } };
  const repository = folder.repository(`limited-${made}`, {
    'a/main.tf': `${code}#a`,
    'b/main.tf': `${code}#b`,
    'c/main.tf': `${code}#c`,
    'd/main.tf': `${code}#d`,
  });
  await ok('createEnvironmentWithoutTemplate', {
    body: {
      ...{ name: 'a', projectId, organizationId, type: 'opentofu', preventAutoDeploy: true },
      repository: repository.path,
    },
  });
  await ok('updatePolicy', { body: { projectId, numberOfEnvironmentsTotal: 2 } });
  const body = { repository: repository.path, globPattern: '*/main.tf' };
  await ok('setDiscovery', { ...about, body });
  await app.carryOutEffects();
  const { folders, lastScan } = await ok('getDiscoveryState', about);
  assert.equal(lastScan?.status, 'SUCCESS');
  const by = Object.fromEntries(folders.map((each) => [each.folder, each]));
  assert.equal(by['a']?.status, 'SKIPPED');
  assert.match(by['a'].reason ?? '', /already has an environment named "a"/);
  const left = folders.filter(({ folder, status }) => folder !== 'a' && status === 'SKIPPED');
  assert.ok(left.length > 0, JSON.stringify(folders));
  for (const each of left) assert.match(each.reason ?? '', /limit|at most|environments/i);
});

test('environments are placed in sub-projects that exist', async () => {
  made += 1;
  const { id: projectId } = await add('Project', `tree ${made}`);
  const { id: prod } = await add('Project', 'prod', { parentProjectId: projectId });
  const repository = folder.repository(`tree-${made}`, {
    'prod/us/mysql/main.tf': `${code}#1`,
    'test/mysql/main.tf': `${code}#2`,
    'shared/main.tf': `${code}#3`,
  });
  const body = {
    repository: repository.path,
    globPattern: '**/main.tf',
    environmentPlacement: 'existingSubProject',
  };
  await ok('setDiscovery', { params: { projectId }, body });
  await app.carryOutEffects();
  const { folders } = await ok('getDiscoveryState', { params: { projectId } });
  const by = Object.fromEntries(folders.map((each) => [each.folder, each]));
  assert.equal(by['prod/us/mysql']?.environmentName, 'us/mysql');
  assert.equal(by['prod/us/mysql'].environmentProjectId, prod);
  assert.equal(by['shared']?.environmentProjectId, projectId);
  assert.equal(by['test/mysql']?.status, 'SKIPPED');
  assert.match(by['test/mysql'].reason ?? '', /sub-project/);
});

test('environments are created with the rights that the author still has', async () => {
  made += 1;
  const { id: projectId } = await add('Project', `rights ${made}`);
  const author = await app.addKey({
    [organizationId]: ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS', 'CREATE_VCS_ENVIRONMENT', 'RUN_PLAN'],
  });
  const repository = folder.repository(`rights-${made}`, { 'a/main.tf': code });
  const body = { repository: repository.path, globPattern: '*/main.tf' };
  await ok('setDiscovery', { params: { projectId }, body, as: author });
  await sql('delete from organization_member where user_id = $1', author.id);
  await app.carryOutEffects();
  const { folders } = await ok('getDiscoveryState', { params: { projectId } });
  assert.equal(folders[0]?.status, 'SKIPPED');
  assert.match(folders[0].reason ?? '', /right/);
  await ok('setDiscovery', { params: { projectId }, body });
  await app.carryOutEffects();
  const { folders: again } = await ok('getDiscoveryState', { params: { projectId } });
  assert.equal(again[0]?.status, 'MANAGED');
});

test('deleting the configuration keeps environments, and the next one takes them up', async () => {
  const found = await discovering({ 'a/main.tf': code });
  const [{ environmentId } = {}] = (await found.state()).folders;
  await ok('deleteDiscovery', found.about);
  assert.deepEqual(await found.names(), ['a']);
  await ok('setDiscovery', { ...found.about, body: found.body });
  await app.carryOutEffects();
  assert.deepEqual(await found.names(), ['a']);
  assert.equal((await found.state()).folders[0]?.environmentId, environmentId);
});

test('the first scan of another branch asks before it removes anything, and so do the next ones', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const files = Object.fromEntries(names.map((name) => [`${name}/main.tf`, `${code}#${name}`]));
  const found = await discovering(files, { onRemoval: 'archive', revision: 'main' });
  found.repository.git('checkout', '-q', '-b', 'next');
  remove(found.repository, 'b');
  const preview = await ok('previewDiscovery', { ...found.about, body: { ...found.body, revision: 'next' } });
  assert.equal(preview.asksFirst, true);
  await found.set({ revision: 'next' });
  const { lastScan } = await found.state();
  assert.equal(lastScan?.status, 'WAITING_FOR_USER');
  assert.match(lastScan.error ?? '', /first scan of the configuration/);

  found.repository.commit({ 'g/main.tf': `${code}#g` });
  const params = { ...found.about.params, scanId: lastScan.id };
  await refused('confirmDiscoveryRemoval', 409, /repository has changed since the scan/, { params });
  const again = await found.scan();
  assert.equal(again?.status, 'WAITING_FOR_USER');
  assert.match(again.error ?? '', /nobody has confirmed that yet/);
  assert.equal((await found.states())['b'], 'REMOVING');

  found.repository.commit({ 'b/main.tf': `${code}#b` });
  const last = await found.scan();
  assert.equal(last?.status, 'SUCCESS');
  assert.equal((await found.states())['b'], 'MANAGED');
});
