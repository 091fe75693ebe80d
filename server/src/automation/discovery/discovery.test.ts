import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, sql, add } = await startTests();
const params = { projectId };
const good = { repository: '/srv/repositories/live', globPattern: '**/main.tf' };
const newProject = async (name: string, more: object = {}) => (await add('Project', name, more)).id;

test('a configuration is stored, and returned as it was sent', async () => {
  covers('setDiscovery', 'body.repository', 'body.revision', 'body.type', 'body.globPattern', 'reply');
  covers('setDiscovery', 'body.environmentPlacement', 'body.rootPath', 'body.workspaceNaming');
  covers('setDiscovery', 'body.isTerragruntRunAll', 'body.terragruntTfBinary', 'body.retry');
  covers('setDiscovery', 'body.onRemoval', 'body.removalLimitPercent');
  covers('Discovery', 'projectId', 'organizationId', 'name', 'repository', 'type', 'globPattern', 'rootPath');
  covers('Discovery', 'environmentPlacement', 'workspaceNaming', 'isTerragruntRunAll', 'retry', 'onRemoval');
  await refused('getDiscovery', 404, { params });
  const sent = {
    repository: 'https://github.com/acme/live.git',
    revision: 'release',
    type: 'terragrunt',
    globPattern: '+(!(modules)/**/terragrunt.hcl|prod/*/terragrunt.hcl)',
    environmentPlacement: 'existingSubProject',
    rootPath: '/src/live/',
    workspaceNaming: 'environmentName',
    autoDeployByCustomGlob: '${envarium_template_dir_path}/**',
    createNewEnvironmentsFromPullRequests: true,
    isTerragruntRunAll: true,
    terragruntTfBinary: 'opentofu',
    terragruntVersion: '0.77.22',
    opentofuVersion: '1.10.6',
    githubInstallationId: 1234,
    isGitHubEnterprise: true,
    retry: { onDeploy: { times: 2, errorRegex: 'timeout' }, onDestroy: null },
    onRemoval: 'archive',
    removalLimitPercent: 50,
  };
  const made = await ok('setDiscovery', { params, body: sent });
  const { retry, ...rest } = sent;
  for (const [field, value] of Object.entries(rest))
    assert.deepEqual(made[field as keyof typeof made], value, field);
  assert.deepEqual(made.retry, { onDeploy: retry.onDeploy });
  assert.equal(made.projectId, projectId);
  assert.equal(made.organizationId, organizationId);
  assert.match(made.name, /^discovery-of-/);
  assert.deepEqual(await ok('getDiscovery', { params }), made);
});

test('omitted fields have their defaults, also where they had another value, and the id stays', async () => {
  covers('setDiscovery', 'body.id', 'body.projectId', 'body.organizationId');
  covers('Discovery', 'id', 'removalLimitPercent');
  const before = await ok('getDiscovery', { params });
  const made = await ok('setDiscovery', {
    params,
    body: { ...good, id: before.id, projectId, organizationId },
  });
  assert.equal(made.id, before.id);
  const { type, environmentPlacement, workspaceNaming, isTerragruntRunAll, retry, onRemoval } = made;
  assert.deepEqual(
    { type, environmentPlacement, workspaceNaming, isTerragruntRunAll, retry, onRemoval },
    {
      type: 'opentofu',
      environmentPlacement: 'topProject',
      workspaceNaming: 'default',
      isTerragruntRunAll: false,
      retry: {},
      onRemoval: 'flag',
    },
  );
  for (const gone of [
    'revision',
    'rootPath',
    'autoDeployByCustomGlob',
    'opentofuVersion',
    'terragruntVersion',
  ])
    assert.ok(!(gone in made), gone);
  assert.equal(made.removalLimitPercent, 20);
});

test('a provisioning tool sends discovery files with little else, and reads them back', async () => {
  covers('setDiscovery', 'body.discoveryFileConfiguration');
  covers('Discovery', 'discoveryFileConfiguration');
  const body = {
    isTerragruntRunAll: false,
    retry: { onDeploy: null, onDestroy: null },
    discoveryFileConfiguration: { repositoryRegex: 'acme/.*' },
  };
  const made = await ok('setDiscovery', { params, body });
  assert.deepEqual(made.discoveryFileConfiguration, { repositoryRegex: 'acme/.*' });
  assert.equal(made.type, null);
  assert.equal(made.repository, '');
  assert.ok(!('globPattern' in made));
  assert.deepEqual(await ok('getDiscovery', { params }), made);
  const withGlob = { ...body, ...good };
  await refused('setDiscovery', 400, /^\/body\/repository excludes discoveryFileConfiguration/, {
    params,
    body: withGlob,
  });
});

test('what cannot work is refused by the name of its field', async () => {
  for (const [change, message] of [
    [{ repository: undefined }, /^\/body\/repository is required without a discoveryFileConfiguration/],
    [{ globPattern: undefined }, /^\/body\/globPattern is required/],
    [{ globPattern: '+(a|b' }, /^\/body\/globPattern is not a valid glob/],
    [{ globPattern: 'a b/main.tf' }, /^\/body\/globPattern must not contain blanks/],
    [{ globPattern: '../**/main.tf' }, /^\/body\/globPattern must not contain "\.\."/],
    [{ globPattern: `+(${'a|'.repeat(6000)}b)` }, /^\/body\/globPattern must NOT have more than 10000/],
    [{ rootPath: '../elsewhere' }, /^\/body\/rootPath is refused/],
    [{ repository: 'file:///etc' }, /^\/body\/repository is refused/],
    [{ revision: '--upload-pack=x' }, /^\/body\/revision is refused/],
    [{ type: 'helm' }, /^\/body\/type must be one of opentofu, terraform, terragrunt, workflow/],
    [{ environmentPlacement: 'anywhere' }, /^\/body\/environmentPlacement/],
    [{ workspaceNaming: 'random' }, /^\/body\/workspaceNaming/],
    [{ isTerragruntRunAll: true }, /^\/body\/isTerragruntRunAll applies to terragrunt only/],
    [{ removalLimitPercent: 101 }, /^\/body\/removalLimitPercent must be <= 100/],
    [{ onRemoval: 'forget' }, /^\/body\/onRemoval/],
    [{ tokenId: randomUUID() }, /^\/body\/tokenId/],
    [{ id: randomUUID() }, /^\/body\/id must be the id of this configuration/],
    [{ projectId: randomUUID() }, /^\/body\/projectId must be the project of the path/],
    [{ organizationId: randomUUID() }, /^\/body\/organizationId/],
    [{ glob: '**' }, /glob/],
  ] as const) {
    const body = { ...good, ...change };
    await refused('setDiscovery', 400, message, { params, body });
    await refused('previewDiscovery', 400, message, { params, body });
  }
  await refused('setDiscovery', 404, { params: { projectId: randomUUID() }, body: good });
});

test('credentials of the address are sealed, kept when it is sent again, and never shown', async () => {
  const id = await newProject('sealed');
  const about = { params: { projectId: id } };
  const body = { ...good, repository: 'https://me:s3cr3t-token@github.com/acme/live.git' };
  const made = await ok('setDiscovery', { ...about, body });
  assert.equal(made.repository, 'https://github.com/acme/live.git');
  await ok('setDiscovery', { ...about, body: { ...body, repository: made.repository } });
  const [row] = await sql(
    'select sealed_token is not null as is_sealed from template where id = $1',
    made.id,
  );
  assert.deepEqual(row, { is_sealed: true });
  const audits = await sql("select before, after from audit_event where action = 'discovery.set'");
  assert.doesNotMatch(JSON.stringify(audits), /s3cr3t/);
});

test('deleting it keeps nothing of the configuration, and another one can follow', async () => {
  const id = await newProject('deleted');
  const about = { params: { projectId: id } };
  const made = await ok('setDiscovery', { ...about, body: good });
  assert.deepEqual(await ok('deleteDiscovery', about), { id: made.id });
  for (const name of ['getDiscovery', 'deleteDiscovery', 'getDiscoveryState', 'listDiscoveryScans'] as const)
    await refused(name, 404, about);
  const again = await ok('setDiscovery', { ...about, body: good });
  assert.notEqual(again.id, made.id);
  const actions = await sql(
    "select action from audit_event where project_id = $1 and action like 'discovery.%' order by at, id",
    id,
  );
  assert.deepEqual(
    actions.map(({ action }) => String(action)),
    ['discovery.set', 'discovery.deleted', 'discovery.set'],
  );
});

test('it is read with VIEW_PROJECT and needs EDIT_PROJECT_SETTINGS and CREATE_VCS_ENVIRONMENT', async () => {
  await ok('setDiscovery', { params, body: good });
  const viewer = await app.addKey({ [organizationId]: ['VIEW_PROJECT'] });
  await ok('getDiscovery', { params, as: viewer });
  await ok('getDiscoveryState', { params, as: viewer });
  for (const name of ['setDiscovery', 'deleteDiscovery', 'startDiscoveryScan', 'previewDiscovery'] as const)
    await refused(name, 403, /EDIT_PROJECT_SETTINGS/, { params, body: good, as: viewer });
  const editor = await app.addKey({ [organizationId]: ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS'] });
  for (const name of ['setDiscovery', 'previewDiscovery'] as const)
    await refused(name, 403, /CREATE_VCS_ENVIRONMENT/, { params, body: good, as: editor });
});

test('a project that is archived cannot be configured', async () => {
  const id = await newProject('archived');
  await ok('deleteProject', { params: { id } });
  const about = { params: { projectId: id } };
  await refused('setDiscovery', 409, /archived/, { ...about, body: good });
});

test('workflows are stored, with a warning that they do not run', async () => {
  const made = await ok('setDiscovery', { params, body: { ...good, type: 'workflow' } });
  assert.equal(made.type, 'workflow');
});

test('a token that a configuration reads with is in use', async () => {
  const id = await newProject('with token');
  const token = await ok('createGitToken', {
    body: { organizationId, name: 'forge', type: 'GIT', value: 'secret-value', projectIds: [id] },
  } as never);
  const body = { ...good, repository: 'https://github.com/acme/live', tokenId: (token as { id: string }).id };
  await ok('setDiscovery', { params: { projectId: id }, body });
  await refused('deleteGitToken', 409, /discovery-of-with token/, {
    params: { id: (token as { id: string }).id },
  });
});
