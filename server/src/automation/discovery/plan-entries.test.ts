import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { startDiscoveryFiles } from '../../../testing/discovery/discovery-files.ts';
import { pollRepositories, scanAfterPush } from './poll.ts';

const { app, organizationId, ok, refused, sql, add, folder, discovering, oneEntry, next } =
  await startDiscoveryFiles();
after(() => folder[Symbol.dispose]());

test('a removed key follows the strategy of the project, and asks above the limit', async () => {
  for (const onRemoval of ['flag', 'archive', 'destroy'] as const) {
    const number = next();
    const entry = (key: string) =>
      `  ${key}: { name: ${key}, templateName: t${number}, projectName: p${number} }\n`;
    const found = await discovering(`environments:\n${entry('a')}${entry('b')}`, {}, { onRemoval });
    const { environmentId = '' } = (await found.entry('b')) ?? {};
    await sql("update deployment set status = 'SUCCESS' where environment_id = $1", environmentId);
    found.write(`environments:\n${entry('a')}`);
    const scan = await found.scan();
    if (onRemoval === 'flag') {
      assert.equal((await found.entry('b'))?.status, 'MISSING');
      assert.match((await found.entry('b'))?.reason ?? '', /The entry is not in the discovery file any more/);
      continue;
    }
    assert.equal(scan?.status, 'WAITING_FOR_USER');
    assert.match(scan.error ?? '', /The entry of 1 environment is gone/);
    await ok('confirmDiscoveryRemoval', { params: { ...found.about.params, scanId: scan.id } });
    await app.carryOutEffects();
    assert.equal((await found.entry('b'))?.status, 'REMOVED', (await found.entry('b'))?.reason);
    const environment = await ok('getEnvironment', { params: { id: environmentId } });
    if (onRemoval === 'archive') assert.equal(environment.isArchived, true);
    else assert.equal(environment.latestDeploymentLog?.type, 'destroy');
  }
});

test('a broken file, an entry with an error, another expression and a lost repository remove nothing', async () => {
  const found = await discovering(oneEntry('shop'), {}, { onRemoval: 'destroy', removalLimitPercent: 100 });
  const status = async () => (await found.entry('shop'))?.status;
  found.write('environments: [\n');
  assert.equal((await found.scan())?.status, 'SUCCESS');
  assert.equal(await status(), 'MANAGED');
  assert.equal((await found.entry(''))?.status, 'SKIPPED');
  assert.match((await found.entry(''))?.reason ?? '', /^envarium-discovery\.yml, line 1|line 2/);
  found.write('environments:\n  shop: { name: shop }\n');
  await found.scan();
  assert.equal(await status(), 'MANAGED');
  assert.match((await found.entry('shop'))?.reason ?? '', /is required.*its environment is kept/);
  assert.equal(await found.entry(''), undefined);
  const other = { ...found.body, discoveryFileConfiguration: { repositoryRegex: 'acme/nothing' } };
  await ok('setDiscovery', { ...found.about, body: other });
  await app.carryOutEffects();
  assert.equal(await status(), 'MANAGED');
  assert.match((await found.entry(''))?.reason ?? '', /repositoryRegex does not match/);
  await ok('setDiscovery', { ...found.about, body: found.body });
  await app.carryOutEffects();
  rmSync(found.repository.path, { recursive: true });
  assert.equal((await found.scan())?.status, 'SUCCESS');
  assert.equal(await status(), 'MANAGED');
  assert.match((await found.entry(''))?.reason ?? '', /^The repository cannot be read: /);
});

test('a file that is deleted is like one without entries, and a repository without one is passed over', async () => {
  const found = await discovering(oneEntry('shop'));
  found.repository.git('rm', '-q', 'envarium-discovery.yml');
  found.repository.git('commit', '-q', '-m', 'remove');
  await found.scan();
  assert.equal((await found.entry('shop'))?.status, 'MISSING');
  assert.equal((await found.entry(''))?.status, 'PASSED_OVER');
  assert.match((await found.entry(''))?.reason ?? '', /has no envarium-discovery\.yml at its root/);
});

test('an expression matches whole names, must be valid, and is limited in time', async () => {
  const found = await discovering(oneEntry('shop'));
  const set = async (repositoryRegex: string) => {
    await ok('setDiscovery', { ...found.about, body: { discoveryFileConfiguration: { repositoryRegex } } });
    await app.carryOutEffects();
    return (await found.state()).lastScan;
  };
  await refused(
    'setDiscovery',
    400,
    /^\/body\/discoveryFileConfiguration\/repositoryRegex is not a valid regular/,
    {
      ...found.about,
      body: { discoveryFileConfiguration: { repositoryRegex: 'acme/(' } },
    },
  );
  assert.equal((await set('live'))?.files, 0);
  assert.equal((await set(`nothing|.*/live-${next() - 1}`))?.files, 1);
  const slow = await set(`${'(.*)*'.repeat(20)}!`);
  assert.equal(slow?.status, 'FAILURE');
  assert.match(slow.error ?? '', /repositoryRegex takes too long on /);
  assert.equal((await found.entry('shop'))?.status, 'MANAGED');
});

test('unchanged repositories are not read again, and pushes start scans', async () => {
  const found = await discovering(oneEntry('shop'));
  const poll = async () => {
    app.advance(3700);
    await pollRepositories(app.context, new AbortController().signal);
    await app.carryOutEffects();
    return (await found.state()).lastScan;
  };
  assert.equal((await poll())?.isUnchanged, true);
  found.repository.commit({ 'other.txt': 'x' });
  assert.equal((await poll())?.isUnchanged, false);
  const push = {
    organizationId,
    repositories: [found.repository.path],
    branch: 'main',
    isDefaultBranch: true,
  };
  await scanAfterPush(app.context, { ...push, isDefaultBranch: false });
  assert.equal((await found.state()).lastScan?.cause, 'poll');
  await scanAfterPush(app.context, push);
  await app.carryOutEffects();
  assert.equal((await found.state()).lastScan?.cause, 'push');
});

test('environments are created and changed with the rights that the author still has', async () => {
  const found = await discovering('environments: {}\n');
  const author = await app.addKey({
    [organizationId]: ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS', 'CREATE_VCS_ENVIRONMENT'],
  });
  const text = (more: string) =>
    `environments:\n  shop: { name: shop, templateId: ${found.template.id}, projectId: ${found.projectId}${more} }\n`;
  found.write(text(''));
  await ok('setDiscovery', { ...found.about, body: found.body, as: author });
  await app.carryOutEffects();
  assert.equal((await found.entry('shop'))?.status, 'SKIPPED');
  assert.match((await found.entry('shop'))?.reason ?? '', /RUN_PLAN/);
  await ok('setDiscovery', { ...found.about, body: found.body });
  await app.carryOutEffects();
  assert.equal((await found.entry('shop'))?.status, 'MANAGED');
  found.write(text(', vcsCommandsAlias: shop'));
  await ok('setDiscovery', { ...found.about, body: found.body, as: author });
  await app.carryOutEffects();
  assert.equal((await found.entry('shop'))?.status, 'MANAGED');
  assert.match(
    (await found.entry('shop'))?.reason ?? '',
    /could not be changed: .*EDIT_ENVIRONMENT_SETTINGS/,
  );
});

test('of two projects, the discovery of the closer one is in charge', async () => {
  const number = next();
  const found = await discovering('environments: {}\n');
  const inner = await add('Project', `inner ${number}`, { parentProjectId: found.projectId });
  await ok('addTemplateToProject', {
    params: { id: found.template.id ?? '' },
    body: { projectId: inner.id },
  });
  found.write(
    `environments:\n  shop: { name: shop, templateId: ${found.template.id}, projectId: ${inner.id} }\n`,
  );
  const ofInner = { params: { projectId: inner.id } };
  await ok('setDiscovery', { ...ofInner, body: found.body });
  await ok('startDiscoveryScan', found.about);
  await app.carryOutEffects();
  assert.match(
    (await found.entry('shop'))?.reason ?? '',
    /the discovery of the project "inner \d+", which is closer/,
  );
  const { folders } = await ok('getDiscoveryState', ofInner);
  assert.equal(folders.find(({ folder }) => folder === 'shop')?.status, 'MANAGED');
  assert.equal((await ok('listEnvironments', { query: { organizationId, projectId: inner.id } })).length, 1);
});
