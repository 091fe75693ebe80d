import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { getTemplateRow, openCredentials } from '../../rows/templates/template-store.ts';

const { app, organizationId, projectId, ok, refused, sql, add, keyFor, createIdle } = await startTests();
const { id: otherProject } = await add('Project', 'other');

const save = (...body: object[]) => ok('saveVariables', { body });
await save(
  {
    scope: 'PROJECT',
    scopeId: projectId,
    organizationId,
    name: 'OWNER',
    type: 0,
    value: 'team',
    isReadonly: true,
  },
  {
    scope: 'PROJECT',
    scopeId: projectId,
    organizationId,
    name: 'TOKEN',
    type: 0,
    value: 'hidden',
    isSensitive: true,
  },
);
const source = await createIdle({
  name: 'source',
  path: 'stacks',
  revision: 'v1',
  terraformVersion: '1.5.7',
  description: 'ours',
  configurationChanges: [
    { name: 'size', type: 1, value: 'large', description: 'how large' },
    { name: 'zones', type: 1, value: '["a"]', schema: { format: 'HCL' } },
  ],
});
const rowsOf = (environmentId: string) => ok('listVariables', { query: { organizationId, environmentId } });
const own = async (environmentId: string) =>
  (await rowsOf(environmentId))
    .filter(({ scope }) => scope === 'ENVIRONMENT')
    .map(({ name, type, value, schema, description }) => ({ name, type, value, schema, description }));

/** Request of a script that has read an environment: null for missing values. */
const duplicateBody = async (projectId: string) => ({
  name: 'copy',
  projectId,
  workspaceName: null,
  ttl: null,
  preventAutoDeploy: true,
  requiresApproval: source.requiresApproval,
  k8sNamespace: source.k8sNamespace ?? null,
  deployRequest: {
    blueprintId: source.blueprintId,
    blueprintRevision: source.latestDeploymentLog.blueprintRevision,
    comment: null,
    configurationChanges: await rowsOf(source.id),
  },
});

test('an environment is duplicated by reading it and writing it back', async () => {
  const copy = await ok('createEnvironment', { body: await duplicateBody(projectId) });
  assert.notEqual(copy.blueprintId, source.blueprintId);
  assert.equal(copy.isSingleUseBlueprint, true);
  assert.deepEqual(await own(copy.id), await own(source.id));
  const template = (id: string) => ok('getTemplate', { id });
  const [{ repository, path, revision, terraformVersion, type }, before] = [
    await template(copy.blueprintId),
    await template(source.blueprintId),
  ];
  assert.deepEqual(
    { repository, path, revision, terraformVersion, type },
    {
      repository: before.repository,
      path: 'stacks',
      revision: 'v1',
      terraformVersion: '1.5.7',
      type: 'terraform',
    },
  );
  await ok('updateTemplate', { id: copy.blueprintId, body: { type, repository, path: 'elsewhere' } });
  assert.equal((await template(source.blueprintId)).path, 'stacks', 'the code of the source is its own');
});

test('the audit trail says from which template code was copied', async () => {
  const copy = await ok('createEnvironment', { body: await duplicateBody(projectId) });
  const detailsOf = async (id: string) => {
    const rows = await sql<{ details: object }>(
      "select details from audit_event where action = 'environment.created' and entity_id = $1",
      id,
    );
    return rows.map(({ details }) => details);
  };
  assert.deepEqual(await detailsOf(copy.id), [{ name: 'copy', copiedFrom: source.blueprintId }]);
  assert.deepEqual(await detailsOf(source.id), [{ name: 'source' }]);
});

test('in another project, variables of the first one mean their names and values', async () => {
  const { deployRequest, ...body } = await duplicateBody(otherProject);
  const configurationChanges = deployRequest.configurationChanges.filter(({ isSensitive }) => !isSensitive);
  const copy = await ok('createEnvironment', {
    body: { ...body, deployRequest: { ...deployRequest, configurationChanges } },
  });
  const owner = (await own(copy.id)).find(({ name }) => name === 'OWNER');
  assert.equal(owner?.value, 'team');
  const hidden = await refused('createEnvironment', 400, { body: { ...body, deployRequest } });
  assert.match(hidden.message, /of "TOKEN" is the placeholder for a hidden value/);
});

test('copying code needs the right to bring code, and to see where it is', async () => {
  const body = await duplicateBody(otherProject);
  const inProject = (projectId: string, role: string[]) => ({ organizationId, projectId, role });
  const blind = await keyFor('Admin', { projectId: otherProject });
  const message = /\/body\/deployRequest\/blueprintId needs the right VIEW_PROJECT/;
  await refused('createEnvironment', 403, message, { body, as: blind });
  const planner = await app.addKey({ [organizationId]: 'User' }, [
    inProject(otherProject, ['VIEW_PROJECT', 'VIEW_ENVIRONMENT', 'RUN_PLAN']),
    inProject(projectId, ['VIEW_PROJECT']),
  ] as never);
  await refused('createEnvironment', 403, /CREATE_VCS_ENVIRONMENT/, { body, as: planner });
});

test('an id of nothing means the name, and is still refused where a variable is changed', async () => {
  const change = { id: app.context.newId(), name: 'named', type: 0, value: 'v' };
  const { id } = await createIdle({ configurationChanges: [change] });
  assert.deepEqual(fieldsOf(await own(id), 'name', 'value'), [['named', 'v']]);
  const body = { configurationChanges: [{ ...change, id: app.context.newId() }] };
  const refusal = await refused('deployEnvironment', 400, { id, body });
  assert.match(refusal.message, /\/body\/configurationChanges\/0\/id does not match a variable/);
});

test('the template of a single environment keeps its name if a change has none', async () => {
  const { name } = await ok('getTemplate', { id: source.blueprintId });
  const params = { id: source.blueprintId };
  const content = { type: 'terraform', repository: 'https://git.example.com/network.git', path: 'stacks' };
  for (const more of [{}, { name: '' }, { name: null }])
    assert.equal((await ok('updateTemplate', { params, body: { ...content, ...more } })).name, name);
  const shared = await ok('createTemplate', { body: { ...content, organizationId, name: 'shared' } });
  for (const more of [{}, { name: '' }]) {
    const input = { id: shared.id ?? '', body: { ...content, ...more } };
    await refused('updateTemplate', 400, /\/body\/name is required/, input);
  }
});

test('credentials of an address are copied for their host only', async () => {
  const secret = await createIdle({
    name: 'with credentials',
    repository: 'https://robot:token-of-the-host@git.example.com/network.git',
  });
  const copyOf = async (blueprintId: string, more: object = {}) => {
    const body = {
      name: 'copy',
      projectId,
      preventAutoDeploy: true,
      deployRequest: { blueprintId, ...more },
    };
    const { blueprintId: copied } = await ok('createEnvironment', { body });
    const row = await getTemplateRow(app.context.db, copied);
    assert.ok(row);
    return { id: copied, row, credentials: openCredentials(app.context, row) };
  };
  const same = await copyOf(secret.blueprintId);
  assert.equal(same.credentials?.password, 'token-of-the-host');
  const elsewhere = await copyOf(secret.blueprintId, { blueprintRepository: 'https://evil.example/x.git' });
  assert.notEqual(elsewhere.credentials?.host, 'evil.example');
  const again = await copyOf(elsewhere.id);
  assert.equal(again.row.repository, 'https://evil.example/x.git');
  assert.equal(again.credentials, null);
});
