import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { organizationId, projectId, ok, refused, createBody, createIdle } = await startTests();
const environment = await createIdle();
const inProject = { scope: 'PROJECT', scopeId: projectId, organizationId };
const inEnvironment = { scope: 'ENVIRONMENT', scopeId: environment.id, organizationId };
const hcl = (value: string, more: object = {}) => ({
  ...{ name: 'shape', type: 1, value, schema: { format: 'HCL' } },
  ...more,
});

const unusable = [
  'abc',
  '# a comment\nvar.a',
  'var.a',
  'file("x")',
  '1 + 2',
  '{ a = var.b }',
  '{ (abc) = 1 }',
  '"a ${b}"',
];

test('HCL that a run could not use is refused where it is written, unless a run of another tool could', async () => {
  for (const value of unusable) {
    const body = [{ ...inEnvironment, ...hcl(value) }];
    const { message } = await refused('saveVariables', 422, { body });
    assert.match(
      message,
      /^\/body\/0\/value of "shape" \(scope ENVIRONMENT\) is not valid HCL: an HCL /,
      value,
    );
    const created = await refused('createEnvironmentWithoutTemplate', 422, {
      body: createBody({ configurationChanges: [hcl(value)] }),
    });
    assert.match(created.message, /^\/body\/configurationChanges\/0\/value .* is not valid HCL/, value);
  }
  await ok('saveVariables', { body: [{ ...inProject, ...hcl('1 + 2') }] });
  await ok('saveVariables', { body: [{ ...inProject, ...hcl('', { toDelete: true }) }] });
  const secret = { ...inEnvironment, ...hcl('file("hunter2")', { isSensitive: true }) };
  const { message } = await refused('saveVariables', 422, { body: [secret] });
  assert.match(message, /must be a constant/);
  assert.doesNotMatch(message, /hunter2/);
});

test('constants are stored, as are references to secrets and environment variables', async () => {
  const values = ['-1.5', '"$${a}"', '[true, null,]', '{ a = { "b c" = 9007199254740991 } }', '${ssm:a}'];
  values.push('9223372036854775807', '# a comment\n\n[0.1000000000000000055511151231257827]');
  for (const value of values)
    assert.equal((await ok('saveVariables', { body: [{ ...inProject, ...hcl(value) }] }))[0]?.value, value);
  // The program reads an environment variable by its own rules.
  await ok('saveVariables', { body: [{ ...inProject, ...hcl('1 + 2', { type: 0 }) }] });
  await ok('saveVariables', { body: [{ ...inProject, ...hcl('', { type: 0, toDelete: true }) }] });
  await ok('saveVariables', { body: [{ ...inProject, ...hcl('', { toDelete: true }) }] });
});

test('terragrunt evaluates HCL, so that its templates may have expressions', async () => {
  const units = await createIdle({ type: 'terragrunt', configurationChanges: [hcl('1 + 2')] });
  const body = [
    { scope: 'ENVIRONMENT', scopeId: units.id, organizationId, ...hcl('length([1, 2])') },
    { scope: 'BLUEPRINT', scopeId: units.blueprintId, organizationId, ...hcl('3 * 4') },
  ];
  await ok('saveVariables', { body });
  await refused('saveVariables', 422, { body: [{ ...body[0], ...hcl('1 +') }] });
});

test('an empty value that is to be HCL or JSON is refused when it is deployed', async () => {
  for (const format of ['HCL', 'JSON']) {
    const [saved] = await ok('saveVariables', {
      body: [{ ...inProject, ...hcl('', { schema: { format } }) }],
    });
    const { message } = await refused('deployEnvironment', 400, { id: environment.id, body: {} });
    assert.match(
      message,
      new RegExp(`^Variable "shape" of scope PROJECT is empty, which is not valid ${format}`),
    );
    await ok('deleteVariable', { id: saved?.id ?? '' });
  }
  for (const more of [{ type: 0 }, { value: undefined }]) {
    const [saved] = await ok('saveVariables', { body: [{ ...inProject, ...hcl('', more) }] });
    await ok('deployEnvironment', { id: environment.id, body: {} });
    await ok('deleteVariable', { id: saved?.id ?? '' });
  }
});
