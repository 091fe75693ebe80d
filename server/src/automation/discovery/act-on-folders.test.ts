import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type GitRepository, gitFolder, type RepositoryFiles } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';
import { pollRepositories } from './poll.ts';
import { scanProject } from './start-scan.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, organizationId, ok, refused, sql, add } = await startTests({
  ENVARIUM_GIT_LOCAL_PATHS: folder.path,
});

let made = 0;
/** A file of its own for each folder, so that none looks like another one. */
const files = (...folders: string[]): RepositoryFiles =>
  Object.fromEntries(folders.map((name) => [`${name}/main.tf`, `# ${name}\n`]));

/** A project of its own that finds environments in a repository of its own. */
async function discovering(folders: RepositoryFiles, more: object = {}) {
  made += 1;
  const repository = folder.repository(`live-${made}`, folders);
  const { id: projectId } = await add('Project', `p${made}`);
  const about = { params: { projectId } };
  const body = { repository: repository.path, globPattern: '**/main.tf', ...more };
  await ok('setDiscovery', { ...about, body });
  await app.carryOutEffects();
  await sql("update deployment set status = 'SUCCESS' where project_id = $1", projectId);
  const state = () => ok('getDiscoveryState', about);
  const folderAt = async (path: string) => (await state()).folders.find((each) => each.folder === path);
  return {
    ...{ repository, projectId, about, body, state, folderAt },
    scan: async () => {
      await ok('startDiscoveryScan', about);
      await app.carryOutEffects();
      return (await state()).lastScan;
    },
    states: async () => Object.fromEntries((await state()).folders.map((each) => [each.folder, each.status])),
    environments: async () =>
      (await ok('listEnvironments', { query: { organizationId, projectId } }))
        .map(({ name, workspaceName }) => ({ name, workspaceName }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function commitWithout(repository: GitRepository, ...paths: string[]): void {
  repository.git('rm', '-rq', '--', ...paths);
  repository.git('commit', '-q', '-m', 'remove');
}

async function poll(): Promise<void> {
  app.advance(3700);
  await pollRepositories(app.context, new AbortController().signal);
  await app.carryOutEffects();
}

test('a question stays in sight while the branch does not move, and while other scans fail', async () => {
  const found = await discovering(files('a', 'b'), { onRemoval: 'archive', revision: 'main' });
  commitWithout(found.repository, 'b');
  const asking = await found.scan();
  assert.equal(asking?.status, 'WAITING_FOR_USER');
  await poll();
  assert.equal((await found.state()).lastScan?.id, asking.id);
  found.repository.git('branch', '-m', 'main', 'elsewhere');
  await poll();
  assert.equal((await found.state()).lastScan?.id, asking.id);
  const [, failed] = await ok('listDiscoveryScans', found.about);
  assert.equal(failed?.status, 'FAILURE');
  const params = { ...found.about.params, scanId: asking.id };
  await refused('confirmDiscoveryRemoval', 409, /repository has changed since the scan/, { params });
  found.repository.git('branch', '-m', 'elsewhere', 'main');
  await ok('confirmDiscoveryRemoval', { params });
  await app.carryOutEffects();
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'REMOVED' });
});

test('a scan that still works removes nothing of what a newer one asks about', async () => {
  const found = await discovering(files('a', 'b', 'c', 'd', 'e', 'f'), { onRemoval: 'archive' });
  found.repository.commit(files('g'));
  const older = await found.scan();
  // As if it had been interrupted before its last folder.
  await sql(
    "update discovery_scan set status = 'RUNNING', finished_at = null where id = $1",
    older?.id ?? '',
  );
  commitWithout(found.repository, 'b', 'c', 'd');
  const asking = await found.scan();
  assert.equal(asking?.status, 'WAITING_FOR_USER');
  await scanProject.carryOut(app.context, { scanId: older?.id ?? '' }, new AbortController().signal);
  const { b, c, d } = await found.states();
  assert.deepEqual({ b, c, d }, { b: 'REMOVING', c: 'REMOVING', d: 'REMOVING' });
  const scans = await ok('listDiscoveryScans', found.about);
  assert.equal(scans.find(({ id }) => id === older?.id)?.status, 'CANCELLED');
});

test('saving withdraws the question of a scan of the former configuration', async () => {
  const found = await discovering(files('a', 'b'), { onRemoval: 'archive' });
  commitWithout(found.repository, 'b');
  const asking = await found.scan();
  await ok('setDiscovery', { ...found.about, body: { ...found.body, onRemoval: 'flag' } });
  const scans = await ok('listDiscoveryScans', found.about);
  assert.equal(scans.find(({ id }) => id === asking?.id)?.status, 'CANCELLED');
  await app.carryOutEffects();
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'MISSING' });
});

test('an environment that is deleted before it is removed does not hold up the scan', async () => {
  const found = await discovering(files('a', 'b', 'c'), { onRemoval: 'archive' });
  commitWithout(found.repository, 'b', 'c');
  const asking = await found.scan();
  await sql(
    "update discovery_folder set environment_id = null where project_id = $1 and folder = 'b'",
    found.projectId,
  );
  await ok('confirmDiscoveryRemoval', { params: { ...found.about.params, scanId: asking?.id ?? '' } });
  await app.carryOutEffects();
  const { lastScan } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS');
  assert.equal(lastScan.removed, 1);
  assert.deepEqual(await found.states(), { a: 'MANAGED', b: 'DELETED', c: 'REMOVED' });
});

test('a new folder gets neither the workspace nor the name of an environment that exists', async () => {
  const found = await discovering(files('a/b', 'x'), { workspaceNaming: 'environmentName' });
  found.repository.commit(files('a-b', 'X'));
  await found.scan();
  assert.deepEqual(await found.states(), {
    X: 'SKIPPED',
    'a-b': 'SKIPPED',
    'a/b': 'MANAGED',
    x: 'MANAGED',
  });
  assert.match(
    (await found.folderAt('a-b'))?.reason ?? '',
    /environment of a\/b gets the same workspace a-b/,
  );
  assert.match((await found.folderAt('X'))?.reason ?? '', /environment of x gets the same name/);
  commitWithout(found.repository, 'a/b');
  await found.scan();
  const states = await found.states();
  assert.deepEqual([states['a/b'], states['a-b']], ['MISSING', 'SKIPPED'], 'its environment is kept');
});

test('an environment that follows a folder keeps its workspace to itself', async () => {
  const found = await discovering(files('old'), { workspaceNaming: 'environmentName' });
  found.repository.git('mv', 'old', 'new');
  found.repository.git('commit', '-q', '-m', 'rename');
  await found.scan();
  await ok('resolveDiscoveryRename', { ...found.about, body: { folder: 'new', isSame: true } });
  found.repository.commit({ 'old/main.tf': '# another one\n' });
  await found.scan();
  assert.deepEqual(await found.states(), { new: 'MANAGED', old: 'SKIPPED' });
  assert.deepEqual(await found.environments(), [{ name: 'new', workspaceName: 'old' }]);
});

test('an environment does not follow a folder to a name that its project has already', async () => {
  const found = await discovering(files('old'));
  found.repository.git('mv', 'old', 'new');
  found.repository.git('commit', '-q', '-m', 'rename');
  await found.scan();
  await ok('createEnvironmentWithoutTemplate', {
    body: {
      ...{ name: 'new', projectId: found.projectId, organizationId, type: 'opentofu' },
      ...{ preventAutoDeploy: true, repository: found.repository.path },
    },
  });
  const body = { folder: 'new', isSame: true };
  await refused('resolveDiscoveryRename', 409, /another one named "new"/, { ...found.about, body });
  assert.deepEqual(
    (await found.environments()).map(({ name }) => name),
    ['new', 'old'],
  );
});

test('a path that is too long to be stored is passed over, and the others become environments', async () => {
  const long = Array.from({ length: 12 }, (_, index) => `${index}`.repeat(100)).join('/');
  const found = await discovering(files('a', long));
  const { folders, lastScan } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS');
  const [other] = folders.filter(({ folder }) => folder !== 'a');
  assert.equal(other?.status, 'PASSED_OVER');
  assert.match(other.reason ?? '', /more than 1024 bytes/);
  assert.equal((await found.folderAt('a'))?.status, 'MANAGED');
});

test('the reason why a folder is refused names no field of a request', async () => {
  const found = await discovering(files('-x'));
  const refusedFolder = await found.folderAt('-x');
  assert.equal(refusedFolder?.status, 'SKIPPED');
  assert.match(refusedFolder.reason ?? '', /^path has a part that begins with "-"/);
});

test('it acts for whoever saved last, and replies say so', async () => {
  const found = await discovering(files('a'));
  const author = await app.addKey({
    [organizationId]: ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS', 'CREATE_VCS_ENVIRONMENT'],
  });
  await ok('setDiscovery', { ...found.about, body: found.body, as: author });
  assert.equal((await ok('getDiscovery', found.about)).authorId, author.id);
});
