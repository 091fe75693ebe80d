import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startDiscoveryFiles } from '../../../testing/discovery/discovery-files.ts';

const { app, organizationId, ok, sql, add, folder, discovering, oneEntry, next } =
  await startDiscoveryFiles();
after(() => folder[Symbol.dispose]());

test('an entry of a discovery file becomes an environment with the variables of its files', async () => {
  const found = await discovering(
    oneEntry(
      'shop',
      '    workspaceName: shop-eu\n    revision: main\n    requiresApproval: true\n    continuousDeployment: true\n' +
        '    driftDetectionCron: "0 4 * * *"\n    variableFiles:\n      - path: vars/common.tfvars\n      - path: vars/eu.tfvars\n',
    ),
    {
      'vars/common.tfvars': 'region = "us"\ncount = 2\n',
      'vars/eu.tfvars': 'region = "eu"\nzones = ["a", "b"]\n',
    },
  );
  const { lastScan, folders } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS', lastScan?.error);
  assert.deepEqual(
    folders.map(({ folder, status, reason }) => [folder, status, reason]),
    [['shop', 'MANAGED', undefined]],
  );
  assert.match(folders[0]?.repository ?? '', /live-1$/);
  const [environment] = await found.environments();
  assert.equal(environment?.name, 'shop');
  assert.equal(environment.workspaceName, 'shop-eu');
  assert.equal(environment.requiresApproval, true);
  assert.equal(environment.continuousDeployment, true);
  assert.equal(environment.latestDeploymentLog?.blueprintId, found.template.id);
  assert.equal(environment.latestDeploymentLog.blueprintRevision, 'main');
  assert.deepEqual(await found.variables(environment.id), { count: '2', region: 'eu', zones: '["a","b"]' });
  const { files, matched, created } = lastScan;
  assert.deepEqual({ files, matched, created }, { files: 1, matched: 1, created: 1 });
});

test('an entry that changes changes its environment, and variables of people stay', async () => {
  const vars = '    variableFiles: [{ path: a.tfvars }]\n';
  const found = await discovering(oneEntry('shop', vars), { 'a.tfvars': 'region = "us"\nold = 1\n' });
  const [environment] = await found.environments();
  const id = environment?.id ?? '';
  const mine = { scope: 'ENVIRONMENT', scopeId: id, organizationId, type: 1 } as const;
  await ok('saveVariables', {
    body: [
      { ...mine, name: 'secret', value: 'mine', isSensitive: true },
      { ...mine, name: 'region', value: 'set by a person' },
    ],
  });
  found.repository.commit({ 'a.tfvars': 'region = "eu"\nnew = true\n' });
  const text = oneEntry('shop', `${vars}    requiresApproval: true\n`).replace(
    /t\d+\n/,
    `${found.template.name}\n`,
  );
  found.write(
    text.replace(/projectName: p\d+/, `projectId: ${found.projectId}`).replace('name: shop', 'name: store'),
  );
  const preview = await ok('previewDiscovery', { ...found.about, body: {} });
  assert.deepEqual(
    preview.folders.map(({ folder, action, environmentName }) => [folder, action, environmentName]),
    [['shop', 'change', 'store']],
  );
  assert.equal(preview.commitHash, undefined);
  assert.equal((await found.scan())?.status, 'SUCCESS');
  const [changed, ...others] = await found.environments();
  assert.deepEqual(others, []);
  assert.equal(changed?.id, id);
  assert.equal(changed.name, 'store');
  assert.equal(changed.requiresApproval, true);
  const variables = await found.variables(id);
  assert.deepEqual(Object.keys(variables).toSorted(), ['new', 'region', 'secret']);
  assert.equal(variables['region'], 'eu');
  assert.equal((await found.entry('shop'))?.status, 'MANAGED');
});

test('a change is deployed where the environment follows its repository, and not repeated', async () => {
  const vars = '    continuousDeployment: true\n    variableFiles: [{ path: a.tfvars }]\n';
  const found = await discovering(oneEntry('shop', vars), { 'a.tfvars': 'region = "us"\n' });
  const count = async () => {
    const [environment] = await found.environments();
    return (await ok('listDeployments', { params: { id: environment?.id ?? '' } })).length;
  };
  const before = await count();
  found.repository.commit({ 'a.tfvars': 'region = "eu"\n' });
  await found.scan();
  assert.equal(await count(), before + 1);
  await found.scan();
  assert.equal(await count(), before + 1);
});

test('entries become environments once, however many scans and servers look', async () => {
  const number = next();
  const entries = Array.from(
    { length: 6 },
    (_, at) => `  e${at}: { name: e${at}, templateName: t${number}, projectName: p${number} }\n`,
  );
  const found = await discovering(`environments:\n${entries.join('')}`);
  await sql("update discovery_folder set status = 'PENDING', environment_id = null where folder = 'e0'");
  await Promise.all(
    Array.from({ length: 3 }, () => ok('setDiscovery', { ...found.about, body: found.body })),
  );
  await Promise.all([app.carryOutEffects(), app.carryOutEffects(), app.carryOutEffects()]);
  await found.scan();
  const names = (await found.environments()).map(({ name }) => name).toSorted();
  assert.deepEqual(names, ['e0', 'e1', 'e2', 'e3', 'e4', 'e5']);
});

test('errors are listed for each entry with their line, and the others are created', async () => {
  const number = next();
  const at = `templateName: t${number}, projectName: p${number}`;
  const lines = [
    `good: { name: good, ${at} }`,
    `both: { name: both, ${at}, templateId: x }`,
    `template: { name: template, templateName: nobody, projectName: p${number} }`,
    `project: { name: project, templateName: t${number}, projectName: somewhere }`,
    `file: { name: file, ${at}, variableFiles: [{ path: gone.tfvars }] }`,
    `broken: { name: broken, ${at}, variableFiles: [{ path: broken.tfvars }] }`,
    `outside: { name: outside, ${at}, variableFiles: [{ path: ../secret.tfvars }] }`,
    `twice: { name: good, ${at} }`,
    `cron: { name: cron, ${at}, driftDetectionCron: sometimes }`,
  ];
  const found = await discovering(`environments:\n${lines.map((line) => `  ${line}\n`).join('')}`, {
    'broken.tfvars': 'region = = 1\n',
  });
  const { lastScan, folders } = await found.state();
  assert.equal(lastScan?.status, 'SUCCESS');
  assert.deepEqual(
    (await found.environments()).map(({ name }) => name),
    ['good'],
  );
  for (const [key, line, message] of [
    ['both', 3, /templateId and templateName exclude each other|templateName.*templateId/],
    ['template', 4, /templateName nobody must name a template that is assigned/],
    ['project', 5, /projectName somewhere must name the project "p\d+" or one below it/],
    ['file', 6, /gone\.tfvars is not in the repository/],
    ['broken', 7, /broken\.tfvars/],
    ['outside', 8, /path contains "\.\."/],
    ['twice', 9, /good/],
    ['cron', 10, /driftDetectionCron/],
  ] as const) {
    const row = folders.find(({ folder }) => folder === key);
    assert.equal(row?.status, 'SKIPPED', key);
    assert.ok(
      row.reason?.startsWith(`envarium-discovery.yml, line ${line}: ${key}: `),
      `${key}: ${row.reason}`,
    );
    assert.match(row.reason ?? '', message);
  }
});

test('a template must be assigned to the project of the environment, and run terraform or opentofu', async () => {
  const number = next();
  const found = await discovering(
    `environments:\n  sub: { name: sub, templateName: t${number}, projectName: p${number}|inner }\n` +
      `  other: { name: other, templateName: pulumi, projectName: p${number} }\n`,
  );
  assert.match((await found.entry('sub'))?.reason ?? '', /must name the project "p\d+" or one below it/);
  const inner = await add('Project', 'inner', { parentProjectId: found.projectId });
  await ok('createTemplate', {
    body: {
      ...{ name: 'pulumi', type: 'pulumi', pulumiVersion: 'latest', organizationId },
      repository: 'https://git.example.com/acme/pulumi',
      projectIds: [found.projectId],
    },
  });
  await found.scan();
  assert.match((await found.entry('sub'))?.reason ?? '', /assigned to the project of the environment/);
  assert.match(
    (await found.entry('other'))?.reason ?? '',
    /of type terraform or opentofu: this one is of type pulumi/,
  );
  await ok('addTemplateToProject', {
    params: { id: found.template.id ?? '' },
    body: { projectId: inner.id },
  });
  await found.scan();
  assert.equal((await found.entry('sub'))?.status, 'MANAGED', (await found.entry('sub'))?.reason);
  const [made1] = await ok('listEnvironments', { query: { organizationId, projectId: inner.id } });
  assert.equal(made1?.name, 'sub');
});

test('an active environment with the same name, template and workspace is taken in', async () => {
  const found = await discovering('environments: {}\n');
  const create = (name: string, workspaceName: string) =>
    ok('createEnvironment', {
      body: {
        ...{ name, workspaceName, projectId: found.projectId, preventAutoDeploy: true },
        deployRequest: { blueprintId: found.template.id ?? '' },
      },
    });
  const { id } = await create('shop', 'shop-eu');
  await create('search', 'search-eu');
  const at = `templateId: ${found.template.id}, projectId: ${found.projectId}`;
  found.repository.commit({ 'a.tfvars': 'region = "eu"\n' });
  found.write(
    `environments:\n  a: { name: shop, ${at}, workspaceName: shop-eu, variableFiles: [{ path: a.tfvars }] }\n` +
      `  b: { name: search, ${at}, workspaceName: other }\n  c: { name: search, ${at.replace(/templateId: /, 'templateId: ')} }\n`,
  );
  const preview = await ok('previewDiscovery', { ...found.about, body: {} });
  assert.equal(preview.folders.find(({ folder }) => folder === 'a')?.action, 'takeIn');
  assert.equal(preview.folders.find(({ folder }) => folder === 'a')?.environmentId, id);
  const scan = await found.scan();
  assert.equal(scan?.created, 0);
  assert.equal((await found.entry('a'))?.environmentId, id);
  assert.deepEqual(await found.variables(id), { region: 'eu' });
  assert.match((await found.entry('b'))?.reason ?? '', /must have workspaceName search-eu/);
  assert.equal((await found.environments()).length, 2);
});
