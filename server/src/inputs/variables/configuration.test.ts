import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { covers } from '#contract/documents/coverage.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, sql, add, createIdle } = await startTests();
const environment = await createIdle();
const child = await add('Project', 'child', { parentProjectId: projectId });
const inChild = await createIdle({ projectId: child.id });

const scopes = {
  GLOBAL: { scope: 'GLOBAL', organizationId },
  BLUEPRINT: { scope: 'BLUEPRINT', scopeId: inChild.blueprintId, organizationId },
  SUB_ENVIRONMENT_BLUEPRINT: {
    scope: 'SUB_ENVIRONMENT_BLUEPRINT',
    scopeId: `${inChild.blueprintId}:db`,
    organizationId,
  },
  PROJECT: { scope: 'PROJECT', scopeId: projectId, organizationId },
  child: { scope: 'PROJECT', scopeId: child.id, organizationId },
  WORKFLOW: { scope: 'WORKFLOW', scopeId: inChild.id, organizationId },
  ENVIRONMENT: { scope: 'ENVIRONMENT', scopeId: inChild.id, organizationId },
} as const;

const save = (...body: object[]) => ok('saveVariables', { body });
/** No environment of a workflow can be created yet: the template is one during the request. */
async function asWorkflow<Result>(request: () => Promise<Result>): Promise<Result> {
  const setType = (type: string) =>
    sql('update template set type = $1 where id = $2', type, inChild.blueprintId);
  await setType('workflow');
  try {
    return await request();
  } finally {
    await setType('terraform');
  }
}
const saveAsWorkflow = (...body: object[]) => asWorkflow(() => save(...body));
const list = (query: Record<string, string>) => ok('listVariables', { query: { organizationId, ...query } });
const inEnvironment = () => list({ environmentId: inChild.id });
const named = (rows: readonly Variable[], name: string) => rows.filter((row) => row.name === name);

test('each scope keeps its variables, and a query merges it with everything outside of it', async () => {
  covers('listVariables', 'query.organizationId', 'query.projectId', 'query.blueprintId');
  covers('listVariables', 'query.environmentId', 'query.workflowEnvironmentId');
  covers('listVariables', 'query.workflowBlueprintId', 'query.workflowBlueprintIdSubAlias');
  covers('Variable', 'name', 'scope', 'scopeId', 'type', 'value', 'id', 'organizationId', 'schema');
  for (const [name, scope] of Object.entries(scopes))
    await saveAsWorkflow({ ...scope, name, type: 0, value: name });
  const names = async (query: Record<string, string>) =>
    (await list(query)).map(({ name }) => name).filter((name) => name in scopes);
  assert.deepEqual(await names({}), ['GLOBAL']);
  assert.deepEqual(await names({ projectId }), ['GLOBAL', 'PROJECT']);
  assert.deepEqual(await names({ projectId: child.id }), ['GLOBAL', 'PROJECT', 'child']);
  for (const field of ['blueprintId', 'workflowBlueprintId'])
    assert.deepEqual(await names({ [field]: inChild.blueprintId }), ['BLUEPRINT', 'GLOBAL']);
  assert.deepEqual(await names({ workflowBlueprintIdSubAlias: `${inChild.blueprintId}:db` }), [
    'BLUEPRINT',
    'GLOBAL',
    'SUB_ENVIRONMENT_BLUEPRINT',
  ]);
  assert.deepEqual(await names({ workflowBlueprintIdSubAlias: `${inChild.blueprintId}:other` }), [
    'BLUEPRINT',
    'GLOBAL',
  ]);
  const all = ['BLUEPRINT', 'ENVIRONMENT', 'GLOBAL', 'PROJECT', 'WORKFLOW', 'child'];
  assert.deepEqual(await names({ environmentId: inChild.id }), all);
  assert.deepEqual(await names({ environmentId: inChild.id, workflowEnvironmentId: inChild.id }), all);
  assert.deepEqual(
    await names({ workflowEnvironmentId: inChild.id }),
    all.filter((name) => name !== 'ENVIRONMENT'),
  );
  assert.deepEqual(
    await names({ environmentId: inChild.id, projectId: child.id, blueprintId: inChild.blueprintId }),
    all,
  );
  assert.deepEqual(
    await names({ projectId: child.id, blueprintId: inChild.blueprintId }),
    ['BLUEPRINT', 'GLOBAL', 'PROJECT', 'child'],
    'as for an environment that is about to be created',
  );
  const rows = await inEnvironment();
  for (const [name, { scope, ...rest }] of Object.entries(scopes).filter(([name]) => all.includes(name))) {
    const [row] = named(rows, name);
    assert.deepEqual(
      [row?.scope, row?.scopeId, row?.value, row?.overwrites, row?.schema],
      [scope, 'scopeId' in rest ? rest.scopeId : undefined, name, null, { type: 'string' }],
    );
    assert.deepEqual([row?.type, row?.organizationId], [0, organizationId]);
    assert.equal((await ok('getVariable', { id: row?.id ?? '' })).name, name);
  }
});

test('variables of a workflow are refused on an environment that is not one, and can be deleted there', async () => {
  const element = { ...scopes.WORKFLOW, name: 'OF_WORKFLOW', type: 0, value: 'v' };
  const { message } = await refused('saveVariables', 400, { body: [element] });
  assert.match(message, /^\/body\/0\/scope is WORKFLOW, which applies to environments of a workflow only/);
  const [saved] = await saveAsWorkflow(element);
  const changed = await refused('saveVariables', 400, { body: [{ id: saved?.id, value: 'w' }] });
  assert.match(changed.message, /^\/body\/0\/id is WORKFLOW/);
  await ok('deleteVariable', { id: saved?.id ?? '' });
});

test('ids in upper case are the same ids', async () => {
  const upper = (text: string) => text.toUpperCase();
  const own = { name: 'CASE', type: 0, organizationId: upper(organizationId) };
  const spelled = [
    { ...own, scope: 'GLOBAL', scopeId: organizationId },
    ...(['BLUEPRINT', 'PROJECT', 'WORKFLOW', 'ENVIRONMENT'] as const).map((scope) => ({
      ...own,
      scope,
      scopeId: upper(scopes[scope].scopeId),
    })),
    { ...own, scope: 'SUB_ENVIRONMENT_BLUEPRINT', scopeId: `${upper(inChild.blueprintId)}:Db` },
  ];
  const made = await saveAsWorkflow(...spelled.map((each) => ({ ...each, value: each.scope })));
  assert.deepEqual(fieldOf(made, 'scopeId'), [
    undefined,
    ...(['BLUEPRINT', 'PROJECT', 'WORKFLOW', 'ENVIRONMENT'] as const).map((scope) => scopes[scope].scopeId),
    `${inChild.blueprintId}:Db`,
  ]);
  const valueOf = async (query: Record<string, string>) => named(await list(query), 'CASE')[0]?.value;
  assert.equal(await valueOf({ organizationId: upper(organizationId) }), 'GLOBAL');
  for (const [field, id, scope] of [
    ['environmentId', inChild.id, 'ENVIRONMENT'],
    ['workflowEnvironmentId', inChild.id, 'WORKFLOW'],
    ['projectId', projectId, 'PROJECT'],
    ['blueprintId', inChild.blueprintId, 'BLUEPRINT'],
  ] as const)
    for (const spelling of [id, upper(id)]) assert.equal(await valueOf({ [field]: spelling }), scope, field);
  for (const id of [inChild.blueprintId, upper(inChild.blueprintId)])
    assert.equal(await valueOf({ workflowBlueprintIdSubAlias: `${id}:Db` }), 'SUB_ENVIRONMENT_BLUEPRINT');
  const both = { environmentId: upper(inChild.id), projectId: upper(child.id) };
  assert.equal(await valueOf({ ...both, blueprintId: upper(inChild.blueprintId) }), 'ENVIRONMENT');
  const [changed] = await save({ ...spelled[0], id: upper(made[0]?.id ?? ''), value: 'changed' });
  assert.deepEqual([changed?.id, changed?.value], [made[0]?.id, 'changed']);
  await save(...made.map(({ id }) => ({ id: upper(id ?? ''), toDelete: true })));
  assert.deepEqual(named(await inEnvironment(), 'CASE'), []);
});

test('one row per name and type is returned, with what it hides', async () => {
  covers('Variable', 'overwrites', 'isSensitive', 'isRequired', 'regex');
  const base = { name: 'LEVEL', type: 0 };
  await save(
    { ...scopes.GLOBAL, ...base, value: 'global', regex: '^[a-z]+$' },
    { ...scopes.PROJECT, ...base, value: 'project', isSensitive: true, isRequired: true },
    { ...scopes.ENVIRONMENT, ...base, value: 'environment' },
    { ...scopes.GLOBAL, name: 'LEVEL', type: 1, value: 'of the other type' },
  );
  const [own, other, ...more] = named(await inEnvironment(), 'LEVEL');
  assert.deepEqual(more, []);
  assert.equal(other?.value, 'of the other type');
  assert.equal(own?.value, '********', 'an override of a sensitive variable is sensitive');
  assert.deepEqual(own?.overwrites, {
    scope: 'PROJECT',
    scopeId: projectId,
    value: '********',
    schema: { type: 'string' },
    isReadonly: false,
    isRequired: true,
    isSensitive: true,
    regex: '^[a-z]+$',
  });
  const [inProject] = named(await list({ projectId: child.id }), 'LEVEL');
  assert.deepEqual(
    [inProject?.scope, inProject?.overwrites?.scope, inProject?.overwrites?.value],
    ['PROJECT', 'GLOBAL', 'global'],
  );
  assert.deepEqual(
    [inProject?.isSensitive, inProject?.isRequired, inProject?.regex],
    [true, true, '^[a-z]+$'],
  );
  assert.equal('scopeId' in (inProject?.overwrites ?? {}), false);
});

test('a read-only variable cannot be overridden, and hides what was there before', async () => {
  covers('Variable', 'isReadonly');
  const [outer] = await save({ ...scopes.PROJECT, name: 'LOCKED', type: 0, value: 'project' });
  await save({ ...scopes.ENVIRONMENT, name: 'LOCKED', type: 0, value: 'environment' });
  await save({ ...scopes.PROJECT, id: outer?.id, isReadonly: true });
  const [row] = named(await inEnvironment(), 'LOCKED');
  assert.deepEqual(
    [row?.scope, row?.value, row?.isReadonly, row?.overwrites],
    ['PROJECT', 'project', true, null],
  );
  for (const scope of [scopes.ENVIRONMENT, scopes.child]) {
    const body = [{ ...scope, name: 'LOCKED', type: 0, value: 'again' }];
    const { message } = await refused('saveVariables', 409, { body });
    assert.equal(
      message,
      `/body/0: variable "LOCKED" is read-only in scope PROJECT (${projectId}) and cannot be set in scope ${scope.scope}`,
    );
  }
  const change = { configurationChanges: { id: outer?.id, value: 'override' } };
  const { message } = await refused('deployEnvironment', 409, { id: inChild.id, body: change });
  assert.match(message, /^\/body\/configurationChanges: variable "LOCKED" is read-only/);
  await save({ ...scopes.ENVIRONMENT, name: 'LOCKED', type: 0, toDelete: true });
});

test('variables are created, updated by id or by name, and deleted, in the order of the request', async () => {
  covers('Variable', 'createdAt', 'updatedAt', 'userId', 'description', 'isOutput', 'toDelete', 'projectId');
  const created = await save(
    { ...scopes.child, name: 'B', type: 1, value: 'b', description: 'about b', isOutput: true },
    { ...scopes.GLOBAL, name: 'A', type: 0, value: 'a' },
    { ...scopes.child, name: 'A', type: 0, value: 'inner' },
  );
  assert.deepEqual(fieldsOf(created, 'name', 'scope'), [
    ['B', 'PROJECT'],
    ['A', 'GLOBAL'],
    ['A', 'PROJECT'],
  ]);
  const [b, a, inner] = created;
  assert.deepEqual(
    [b?.description, b?.isOutput, b?.userId, b?.projectId],
    ['about b', true, app.admin.id, child.id],
  );
  assert.equal('scopeId' in (a ?? {}), false, 'GLOBAL has none');
  assert.ok(!('toDelete' in (a ?? {})));
  const [updated, byName, onlyId] = await save(
    { ...scopes.child, id: b?.id, name: 'B', type: 1, value: 'changed' },
    { ...scopes.GLOBAL, name: 'A', type: 0, value: 'by name' },
    { id: inner?.id, value: 'by id alone' },
  );
  assert.deepEqual([updated?.id, updated?.value, updated?.description], [b?.id, 'changed', 'about b']);
  assert.deepEqual([byName?.id, byName?.value], [a?.id, 'by name']);
  assert.deepEqual([onlyId?.id, onlyId?.value, onlyId?.scope], [inner?.id, 'by id alone', 'PROJECT']);
  assert.ok(Date.parse(b?.createdAt ?? '') <= Date.parse(updated?.updatedAt ?? ''));
  const params = { id: b?.id ?? '' };
  assert.deepEqual(await ok('getVariable', { params }), updated);
  assert.deepEqual(await ok('deleteVariable', { params }), params);
  await refused('getVariable', 404, { params });
  await refused('deleteVariable', 404, { params });
  const [gone] = await save({ id: a?.id, toDelete: true });
  assert.deepEqual([gone?.id, gone?.toDelete], [a?.id, true]);
  await refused('getVariable', 404, { id: a?.id ?? '' });
});

test('a type and a schema are always there, as clients expect them', async () => {
  covers('VariableSchema', 'type', 'format', 'enum');
  const schemas = [
    [{ format: 'HCL' }, { format: 'HCL' }, '[1]'],
    [{ type: 'string', format: 'JSON' }, { format: 'JSON' }, '{"a": 1}'],
    [{ type: 'string', enum: null }, { type: 'string' }, 'v'],
    [{ type: 'string', enum: ['x', 'y'] }, { type: 'string', enum: ['x', 'y'] }, 'x'],
    [{ format: null }, { type: 'string' }, 'v'],
    [null, { type: 'string' }, 'v'],
    [undefined, { type: 'string' }, 'v'],
  ] as const;
  for (const [index, [schema, expected, value]] of schemas.entries()) {
    const name = `schema_${index}`;
    const [saved] = await save({ ...scopes.GLOBAL, name, type: 1, value, schema });
    assert.deepEqual(saved?.schema, expected);
    assert.deepEqual(named(await list({}), name)[0]?.schema, expected);
  }
  const [untyped] = await save({ ...scopes.GLOBAL, name: 'untyped', value: 'v' });
  assert.equal(untyped?.type, 0);
});

test('a sensitive value is never returned, a mask keeps it, and its absence is visible', async () => {
  const base = { ...scopes.PROJECT, name: 'TOKEN', type: 0 };
  const [row] = await save({ ...base, value: 'planted-secret', isSensitive: true });
  assert.equal(row?.value, '********');
  const [kept] = await save({ ...row, value: '********', overwrites: undefined, description: 'kept' });
  assert.deepEqual([kept?.value, kept?.description], ['********', 'kept']);
  const [empty] = await save({ ...base, name: 'EMPTY', isSensitive: true });
  assert.equal('value' in (empty ?? {}), false);
  const { message } = await refused('saveVariables', 400, { body: [{ id: row?.id, isSensitive: false }] });
  assert.match(message, /^\/body\/0\/value of "TOKEN"/);
  for (const format of ['JSON', 'HCL']) {
    const broken = { ...base, value: '"planted-secret" "x', isSensitive: true, schema: { format } };
    const refusal = await refused('saveVariables', 422, { body: [broken] });
    assert.match(refusal.message, /"TOKEN" \(scope PROJECT\) is not valid (JSON|HCL)$/);
  }
  assert.doesNotMatch(JSON.stringify(await inEnvironment()), /planted-secret/);
});

test('what cannot be stored is refused by field, variable and scope, and nothing of the request is', async () => {
  const good = { ...scopes.GLOBAL, name: 'EARLY', type: 0, value: 'too early' };
  const bad: [object, RegExp, status?: number][] = [
    [{ name: 'X', type: 0, value: 'v' }, /^\/body\/1\/scope is required/],
    [{ id: randomUUID(), value: 'v' }, /^\/body\/1\/id does not match any variable/],
    [{ scope: 'GLOBAL', name: 'X', type: 0 }, /^\/body\/1\/organizationId is required in scope GLOBAL/],
    [{ ...scopes.GLOBAL, scopeId: projectId, name: 'X' }, /^\/body\/1\/scopeId is not applicable/],
    [{ scope: 'PROJECT', organizationId, name: 'X' }, /^\/body\/1\/scopeId is required in scope PROJECT/],
    [{ scope: 'DEPLOYMENT', scopeId: randomUUID(), name: 'X' }, /^\/body\/1\/scope cannot be DEPLOYMENT/],
    [{ ...scopes.PROJECT, organizationId: randomUUID(), name: 'X' }, /^\/body\/1\/organizationId is not the/],
    [
      { ...scopes.PROJECT, id: randomUUID(), name: 'X' },
      /^\/body\/1\/id does not match a variable of this project/,
    ],
    [{ ...scopes.PROJECT, type: 0, value: 'v' }, /^\/body\/1\/name is required/],
    [{ ...scopes.PROJECT, name: 'gone', toDelete: true }, /^\/body\/1\/name does not match a variable/],
    [{ ...good, value: 'twice' }, /^\/body\/1\/name "EARLY" of type 0 is also in \/body\/0/],
    [
      { ...scopes.PROJECT, name: '.a', type: 1 },
      /^\/body\/1\/name .*; or "\.a" is not a Terraform identifier/,
    ],
    [
      { ...scopes.PROJECT, name: 'X', value: 'a', regex: '^b' },
      /value of "X" \(scope PROJECT\) must match \^b/,
    ],
    [
      { ...scopes.PROJECT, name: 'X', value: 'a', schema: { enum: ['b'] } },
      /"X" \(scope PROJECT\) must be one of b/,
    ],
    [
      { ...scopes.PROJECT, name: 'X', value: '{', schema: { format: 'HCL' } },
      /"X" \(scope PROJECT\).*HCL/,
      422,
    ],
    [
      { ...scopes.PROJECT, name: 'X', value: '{', schema: { format: 'JSON' } },
      /"X" \(scope PROJECT\).*JSON/,
      422,
    ],
    [{ ...scopes.PROJECT, name: 'X', description: 'x'.repeat(256) }, /description of "X" \(scope PROJECT\)/],
    [
      { ...scopes.PROJECT, name: 'X', isReadonly: true, isRequired: true },
      /"X" \(scope PROJECT\) must not be empty/,
    ],
    [{ ...scopes.PROJECT, name: 'X', type: 0, value: 'a\0b' }, /has a NUL character|cannot contain/],
    [{ ...scopes.PROJECT, name: 'X\0', type: 0, value: 'v' }, /NUL character/],
    [{ ...scopes.PROJECT, name: 'X', description: 'a\0b' }, /has a NUL character|cannot contain/],
    [{ ...scopes.PROJECT, name: 'X', regex: 'a\0b' }, /has a NUL character|cannot contain/],
    [{ ...scopes.PROJECT, name: 'X', schema: { enum: ['a\0b'] } }, /has a NUL character|cannot contain/],
    [{ ...scopes.PROJECT, name: 'X', isReadOnly: true }, /isReadOnly is not a field/],
    [
      { ...scopes.PROJECT, name: 'X', value: `${'a'.repeat(50)}!`, regex: '^(a+)+$' },
      /^\/body\/1\/value of "X" \(scope PROJECT\) cannot be compared with .*takes too long/,
    ],
  ];
  for (const scope of ['SET', 'BLUEPRINT', 'SUB_ENVIRONMENT_BLUEPRINT', 'PROJECT', 'WORKFLOW', 'ENVIRONMENT'])
    for (const scopeId of [randomUUID(), 'no-id', `${randomUUID()}:alias`, projectId.toUpperCase() + 'x'])
      bad.push([{ scope, scopeId, organizationId, name: 'X' }, /^\/body\/1\/scopeId does not match any/]);
  for (const [element, pattern, status = 400] of bad) {
    await refused('saveVariables', status, pattern, { body: [good, element] });
  }
  assert.deepEqual(named(await list({}), 'EARLY'), []);
});

test('values of any content are returned as they were sent, also of 1 MB', async () => {
  const values = [
    `"'\`\\`,
    'a\r\nb\n\tc',
    '${var.x} %{ if true } $${y}',
    'ü€😀\u2028',
    'x'.repeat(1024 * 1024),
    ' ',
    '',
    '********',
  ];
  const body = values.map((value, index) => ({ ...scopes.child, name: `odd_${index}`, type: 1, value }));
  const saved = await save(...body);
  const listed = (await list({ projectId: child.id })).filter(({ name }) => name.startsWith('odd_'));
  for (const rows of [saved, listed]) assert.deepEqual(fieldOf(rows, 'value'), values);
  for (const { id = '' } of saved) await ok('deleteVariable', { id });
});

test('an override keeps the rules of the variable that it hides', async () => {
  const outer = { ...scopes.PROJECT, name: 'SIZE', type: 0, value: 's' };
  await save({ ...outer, schema: { type: 'string', enum: ['s', 'm'] }, description: 'how large' });
  const write = (more: object) => ({ body: [{ ...scopes.ENVIRONMENT, name: 'SIZE', type: 0, ...more }] });
  const { message } = await refused('saveVariables', 400, write({ value: 'xl' }));
  assert.match(message, /"SIZE" \(scope ENVIRONMENT\) must be one of s, m/);
  const wider = await refused(
    'saveVariables',
    400,
    write({ value: 'xl', schema: { type: 'string', enum: ['s', 'xl'] } }),
  );
  assert.match(wider.message, /must be one of s, m: scope PROJECT requires it/);
  const [saved] = await ok('saveVariables', write({ value: 'm' }));
  assert.deepEqual([saved?.schema, saved?.description], [{ type: 'string', enum: ['s', 'm'] }, 'how large']);
  await save({ ...outer, schema: { type: 'string', enum: ['s'] } });
  const refusal = await refused('deployEnvironment', 400, { id: inChild.id, body: {} });
  assert.match(refusal.message, /Variable "SIZE" of scope ENVIRONMENT must be one of/);
  await save({ ...scopes.ENVIRONMENT, name: 'SIZE', type: 0, toDelete: true });
});

test('regex and enum apply to the text of a reference to a secret store', async () => {
  const own = { ...scopes.ENVIRONMENT, name: 'REFERENCE', type: 0 };
  const outer = { ...scopes.PROJECT, name: 'REFERENCE', type: 0 };
  const refusalOf = async (change: object) =>
    (await refused('saveVariables', 400, { body: [{ ...own, ...change }] })).message;
  const reference = '${vault:secret/apps/web.token}';
  await save({ ...outer, regex: '^\\$\\{vault:secret/apps/' });
  await save({ ...own, value: reference, regex: '' });
  assert.match(
    await refusalOf({ value: '${vault:secret/other.token}' }),
    /must match .*: scope PROJECT requires it/,
  );
  assert.match(await refusalOf({ value: 'in clear' }), /must match/);
  assert.match(await refusalOf({ value: reference, schema: { enum: ['a', 'b'] } }), /must be one of a, b/);
  await save({ ...outer, regex: '^[a-z]+$' });
  const refusal = await refused('deployEnvironment', 400, { id: inChild.id, body: {} });
  assert.match(refusal.message, /Variable "REFERENCE" of scope ENVIRONMENT must match/);
  for (const each of [own, outer]) await save({ ...each, toDelete: true });
});

test('a value that an outer scope requires must be there when an environment is deployed', async () => {
  await save({ ...scopes.GLOBAL, name: 'OWNER', type: 0, isRequired: true });
  await save({ ...scopes.ENVIRONMENT, name: 'OWNER', type: 0, value: '', isRequired: false });
  const { message } = await refused('deployEnvironment', 400, { id: inChild.id, body: {} });
  assert.match(message, /^Variable "OWNER" of scope ENVIRONMENT needs a value/);
  await save({ ...scopes.GLOBAL, name: 'OWNER', type: 0, toDelete: true });
  await save({ ...scopes.ENVIRONMENT, name: 'OWNER', type: 0, toDelete: true });
});

test('a deployment has its variables in the form that all other replies have', async () => {
  await save(
    { ...scopes.GLOBAL, name: 'SNAPSHOT', type: 0, value: 'a', schema: { enum: ['a', 'b'] } },
    {
      ...scopes.ENVIRONMENT,
      name: 'SNAPSHOT',
      type: 1,
      value: '[1]',
      schema: { type: 'string', format: 'HCL' },
    },
    { ...scopes.ENVIRONMENT, name: 'SNAPSHOT_PLAIN', type: 0, value: 'c' },
  );
  const { id } = await ok('deployEnvironment', { id: inChild.id, body: {} });
  const expected = [
    ['GLOBAL', undefined, { type: 'string', enum: ['a', 'b'] }],
    ['ENVIRONMENT', inChild.id, { format: 'HCL' }],
    ['ENVIRONMENT', inChild.id, { type: 'string' }],
  ];
  const { variables = [] } = await ok('getDeployment', { id });
  const byDeployment = () => list({ deploymentLogId: id });
  for (const rows of [await inEnvironment(), variables, await byDeployment()])
    assert.deepEqual(
      rows
        .filter(({ name }) => name.startsWith('SNAPSHOT'))
        .map(({ scope, scopeId, schema }) => [scope, scopeId, schema]),
      expected,
    );
  const older = JSON.stringify([
    { name: 'OLD', scope: 'GLOBAL', scopeId: organizationId, type: 0, value: 'a' },
  ]);
  await sql('update deployment set variables = $1 where id = $2', older, id);
  const [old] = await byDeployment();
  assert.deepEqual([old?.name, old?.scopeId, old?.schema], ['OLD', undefined, { type: 'string' }]);
  for (const [scope, name, type] of [
    ['GLOBAL', 'SNAPSHOT', 0],
    ['ENVIRONMENT', 'SNAPSHOT', 1],
    ['ENVIRONMENT', 'SNAPSHOT_PLAIN', 0],
  ] as const)
    await save({ ...scopes[scope], name, type, toDelete: true });
});

test('names in a query that are unknown or contradict each other are refused by name', async () => {
  const fields = [
    'environmentId',
    'workflowEnvironmentId',
    'projectId',
    'blueprintId',
    'workflowBlueprintId',
    'workflowBlueprintIdSubAlias',
    'setId',
    'deploymentLogId',
  ];
  for (const field of fields)
    for (const id of [randomUUID(), 'no-id', ':', `${randomUUID()}:x`]) {
      const query = { organizationId, [field]: id };
      await refused('listVariables', 400, new RegExp(`^/query/${field} does not match any`), { query });
    }
  await refused('listVariables', 400, /^\/query\/projectId is not the project/, {
    query: { organizationId, environmentId: environment.id, projectId: child.id },
  });
  const other = await ok('createOrganization', { body: { name: 'Other' } });
  const foreign = await refused('listVariables', 400, { query: { organizationId: other.id, projectId } });
  assert.match(foreign.message, /^\/query\/organizationId is not the organization of projectId/);
  await refused('listVariables', 400, {
    query: { organizationId, deploymentLogId: environment.latestDeploymentLogId ?? '', projectId },
  });
});

test('each scope needs its own right, and what another organization has does not exist', async () => {
  const rights = {
    GLOBAL: ['EDIT_ORGANIZATION_SETTINGS', 'VIEW_ORGANIZATION', {}],
    BLUEPRINT: ['EDIT_VCS_ENVIRONMENT', 'VIEW_PROJECT', { blueprintId: inChild.blueprintId }],
    PROJECT: ['EDIT_PROJECT_SETTINGS', 'VIEW_PROJECT', { projectId }],
    ENVIRONMENT: ['EDIT_ENVIRONMENT_SETTINGS', 'VIEW_ENVIRONMENT', { environmentId: inChild.id }],
    WORKFLOW: ['EDIT_ENVIRONMENT_SETTINGS', 'VIEW_ENVIRONMENT', { workflowEnvironmentId: inChild.id }],
  } as const;
  const viewer = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] });
  const outsider = await app.addKey();
  for (const [scope, [toChange, toView, query]] of Object.entries(rights)) {
    const body = [{ ...scopes[scope as keyof typeof rights], name: 'RIGHTS', type: 0, value: 'v' }];
    const [saved] = await saveAsWorkflow(...body);
    const params = { id: saved?.id ?? '' };
    const editor = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', toView, toChange] });
    await refused('saveVariables', 403, new RegExp(`needs the right ${toChange}`), { body, as: viewer });
    await refused('deleteVariable', 403, { params, as: viewer });
    if (toView !== 'VIEW_ORGANIZATION') {
      await refused('getVariable', 403, { params, as: viewer });
      await refused('listVariables', 403, { query: { organizationId, ...query }, as: viewer });
    }
    await refused('getVariable', 404, { params, as: outsider });
    await refused('saveVariables', 400, { body, as: outsider });
    assert.deepEqual(await ok('listVariables', { query: { organizationId, ...query }, as: outsider }), []);
    await ok('listVariables', { query: { organizationId, ...query }, as: editor });
    await asWorkflow(() => ok('saveVariables', { body, as: editor }));
    await ok('deleteVariable', { params, as: editor });
  }
});

test('a caller who may decide about environments only cannot skip approvals by an outer variable', async () => {
  const editor = await app.addKey({ [organizationId]: ['EDIT_PROJECT_SETTINGS', 'VIEW_PROJECT'] });
  const variable = { ...scopes.PROJECT, name: 'ENVARIUM_REQUIRES_APPROVAL', type: 0 };
  const body = [{ ...variable, value: 'false' }];
  await refused('saveVariables', 403, /RUN_APPLY/, { body, as: editor });
  await ok('saveVariables', { body: [{ ...variable, value: 'true' }], as: editor });
  await save({ ...variable, toDelete: true });
});

test('two requests that create the same variables at once both succeed', async () => {
  const body = ['P', 'Q', 'R'].map((name) => ({
    ...scopes.GLOBAL,
    name: `RACE_${name}`,
    type: 0,
    value: 'v',
  }));
  const saved = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      ok('saveVariables', { body: index % 2 ? body : body.toReversed() }),
    ),
  );
  const ids = saved.map((rows) =>
    rows
      .map(({ id }) => id)
      .toSorted()
      .join(),
  );
  assert.equal(new Set(ids).size, 1);
});

test('many variables of a scope take as many statements as one', async (t) => {
  const statementsOf = async (...body: object[]) => {
    const query = t.mock.method(pg.Client.prototype, 'query');
    const saved = await save(...body);
    const { length } = query.mock.calls;
    query.mock.restore();
    return { saved, length };
  };
  const variable = (index: number) => ({ ...scopes.PROJECT, name: `MANY_${index}`, type: 0, value: 'v' });
  await save(variable(0));
  const one = await statementsOf(variable(0));
  const many = await statementsOf(...Array.from({ length: 20 }, (_, index) => variable(index)));
  assert.equal(many.length, one.length);
  const byId = (rows: readonly Variable[]) => rows.map(({ id }) => ({ id, value: 'w' }));
  const oneById = await statementsOf(...byId(one.saved));
  const manyById = await statementsOf(...byId(many.saved));
  assert.equal(manyById.length, oneById.length);
  assert.deepEqual([...new Set(manyById.saved.map(({ value }) => value))], ['w']);
  await save(...many.saved.map(({ id }) => ({ id, toDelete: true })));
});

test('a list shows at once what has changed, of what counts and of what it hides', async () => {
  const shown = async () => {
    const [row] = named(await inEnvironment(), 'CHANGING');
    return row && [row.value, row.overwrites?.value ?? null, row.description ?? null];
  };
  const [outer, inner] = [
    { ...scopes.PROJECT, name: 'CHANGING', type: 0, value: 'outer' },
    { ...scopes.ENVIRONMENT, name: 'CHANGING', type: 0, value: 'inner' },
  ];
  const [{ id: outerId = '' } = {}] = await save(outer);
  assert.deepEqual(await shown(), ['outer', null, null]);
  const [{ id: innerId = '' } = {}] = await save(inner);
  assert.deepEqual(await shown(), ['inner', 'outer', null]);
  await save({ ...outer, id: outerId, value: 'outer 2' });
  assert.deepEqual(await shown(), ['inner', 'outer 2', null]);
  await save({ ...inner, id: innerId, description: 'why' });
  assert.deepEqual(await shown(), ['inner', 'outer 2', 'why']);
  await save({ ...inner, id: innerId, value: 'planted-secret', isSensitive: true });
  assert.deepEqual((await shown())?.[0], '*'.repeat(8));
  await ok('deleteVariable', { id: outerId });
  assert.deepEqual((await shown())?.[1], null);
  await ok('deleteVariable', { id: innerId });
  assert.equal(await shown(), undefined);
});
