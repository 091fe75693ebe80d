import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { fieldsOf } from '../../../../testing/fields.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import { compareStates, type Differences } from './compare-states.ts';
import { digestsOf, excerptOf } from './state-excerpt.ts';

const compared = (before: Uint8Array, after: Uint8Array, secrets: readonly string[]): Differences => {
  const differences = compareStates(before, excerptOf(after, digestsOf(before)), secrets, Infinity);
  assert.ok(differences);
  return differences;
};
const resource = (name: string, instances: object[], more: object = {}) => ({
  mode: 'managed',
  type: 'terraform_data',
  name,
  provider: 'provider["terraform.io/builtin/terraform"]',
  instances,
  ...more,
});
const state = (resources: object[], outputs: object = {}) =>
  Buffer.from(JSON.stringify({ version: 4, resources, outputs }));

test('instances are added, removed and changed by their address', () => {
  const before = state([
    resource('one', [{ attributes: { id: '1', input: 'x' } }]),
    resource('many', [
      { index_key: 0, attributes: { id: 'm0' } },
      { index_key: 'a"b', attributes: { id: 'mk' } },
    ]),
    resource('read', [{ attributes: { id: 'd' } }], { mode: 'data', module: 'module.net[0]' }),
    resource('same', [{ attributes: { id: 's', tags: { b: 1, a: [1, 2] } } }]),
  ]);
  const after = state([
    resource('one', [
      { attributes: { id: '1', input: 'y' } },
      { deposed: 'abcd1234', attributes: { id: 'old' } },
    ]),
    resource('many', [{ index_key: 0, attributes: { id: 'm0' } }]),
    resource('same', [{ attributes: { tags: { a: [1, 2], b: 1 }, id: 's' } }]),
    resource('new', [{ attributes: { id: 'n' } }]),
  ]);
  const { resources, unchangedResourceCount } = compared(before, after, []);
  assert.deepEqual(fieldsOf(resources, 'address', 'change'), [
    ['module.net[0].data.terraform_data.read', 'removed'],
    ['terraform_data.many["a\\"b"]', 'removed'],
    ['terraform_data.new', 'added'],
    ['terraform_data.one', 'changed'],
    ['terraform_data.one (deposed abcd1234)', 'added'],
  ]);
  assert.deepEqual(resources[3]?.attributes, [
    { name: 'input', isSensitive: false, before: 'x', after: 'y' },
  ]);
  assert.deepEqual(resources[2]?.attributes, [{ name: 'id', isSensitive: false, after: 'n' }]);
  assert.equal(unchangedResourceCount, 2);
});

test('values that are sensitive in either version are hidden in both', () => {
  const paths = [
    [{ type: 'get_attr', value: 'secret' }],
    [
      { type: 'get_attr', value: 'nested' },
      { type: 'index', value: { value: 1, type: 'number' } },
      { type: 'get_attr', value: 'key' },
    ],
    [
      { type: 'get_attr', value: 'set' },
      { type: 'index', value: { value: { x: 1 }, type: 'object' } },
    ],
  ];
  const values = (suffix: string) => ({
    secret: `planted-${suffix}`,
    nested: [{ key: 'open' }, { key: `planted-${suffix}`, other: suffix }],
    set: [`planted-${suffix}`],
    plain: suffix,
  });
  const before = state([resource('it', [{ attributes: values('1'), sensitive_attributes: paths }])]);
  const after = state([resource('it', [{ attributes: values('2'), sensitive_attributes: [] }])]);
  const [difference] = compared(before, after, []).resources;
  assert.ok(!JSON.stringify(difference).includes('planted'));
  assert.deepEqual(difference?.attributes, [
    {
      name: 'nested',
      isSensitive: true,
      before: [{ key: 'open' }, { key: sensitiveMask, other: '1' }],
      after: [{ key: 'open' }, { key: sensitiveMask, other: '2' }],
    },
    { name: 'plain', isSensitive: false, before: '1', after: '2' },
    { name: 'secret', isSensitive: true, before: sensitiveMask, after: sensitiveMask },
    { name: 'set', isSensitive: true, before: sensitiveMask, after: sensitiveMask },
  ]);
});

test('a path that tools do not write has no effect', () => {
  const before = state([
    resource('it', [{ attributes: { a: 1 }, sensitive_attributes: [[null], ['x'], 7] }]),
  ]);
  const { resources } = compared(before, state([resource('it', [{ attributes: { a: 2 } }])]), []);
  assert.deepEqual(resources[0]?.attributes, [{ name: 'a', isSensitive: false, before: 1, after: 2 }]);
});

test('values of sensitive variables are replaced inside all strings, plain and JSON-encoded', () => {
  const secret = 'pass"word\n1';
  const before = state([resource('it', [{ attributes: { a: '', n: 0 } }])]);
  const after = state(
    [
      resource('it', [
        { attributes: { a: `x${secret}y ${JSON.stringify({ secret })}`, n: 987654, map: { [secret]: 1 } } },
      ]),
    ],
    {
      url: { value: `https://u:${secret}@h`, type: 'string' },
    },
  );
  const result = compared(before, after, [secret, '987654']);
  const text = JSON.stringify(result);
  for (const planted of [secret, 'word', '987654']) assert.ok(!text.includes(planted), planted);
  assert.equal(result.outputs[0]?.after, `https://u:${sensitiveMask}@h`);
});

test('outputs are compared by value and by sensitivity, and a sensitive value is never shown', () => {
  const before = state([], {
    gone: { value: 1 },
    now: { value: 'open' },
    same: { value: [1], sensitive: true },
    s: { value: 'p1', sensitive: true },
  });
  const after = state([], {
    come: { value: 2 },
    now: { value: 'open', sensitive: true },
    same: { value: [1], sensitive: true },
    s: { value: 'p2' },
  });
  assert.deepEqual(compared(before, after, []).outputs, [
    { name: 'come', change: 'added', isSensitive: false, after: 2 },
    { name: 'gone', change: 'removed', isSensitive: false, before: 1 },
    { name: 'now', change: 'changed', isSensitive: true, before: sensitiveMask, after: sensitiveMask },
    { name: 's', change: 'changed', isSensitive: true, before: sensitiveMask, after: sensitiveMask },
  ]);
});

test('numbers that are equal in JavaScript are distinguished, and have all of their digits', () => {
  const of = (digits: string) =>
    Buffer.from(
      `{"resources":[{"mode":"managed","type":"t","name":"n","instances":[{"attributes":{"n":${digits}}}]}]}`,
    );
  const { resources } = compared(of('12345678901234567890'), of('12345678901234567891'), []);
  assert.equal(
    JSON.stringify(resources[0]?.attributes),
    '[{"name":"n","isSensitive":false,"before":12345678901234567890,"after":12345678901234567891}]',
  );
});

test('objects of a cluster are compared by their address, and what Secrets hold is hidden', () => {
  const record = (...objects: object[]) =>
    Buffer.from(
      JSON.stringify({
        format: 'envarium-kubernetes',
        version: 1,
        objects: objects.map((object) => ({ namespace: 'shop', object })),
      }),
    );
  const web = (replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas },
  });
  const secret = (password: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login' },
    stringData: { password },
  });
  const same = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', namespace: '' } };
  const result = compared(
    record(web(1), secret('hunter2'), same),
    record(web(2), secret('hunter3'), same),
    [],
  );
  assert.equal(result.unchangedResourceCount, 1);
  assert.deepEqual(fieldsOf(result.resources, 'address', 'change'), [
    ['apps/v1/Deployment/shop/web', 'changed'],
    ['v1/Secret/shop/login', 'changed'],
  ]);
  assert.deepEqual(result.resources[0]?.attributes, [
    { name: 'spec', isSensitive: false, before: { replicas: 1 }, after: { replicas: 2 } },
  ]);
  assert.equal(result.resources[1]?.attributes[0]?.isSensitive, true);
  assert.doesNotMatch(JSON.stringify(result), /hunter/);
});

test('resources of a stack of Pulumi are compared by their URNs, without their secrets', () => {
  const urn = (name: string) => `urn:pulumi:dev::shop::file:index:File::${name}`;
  const secret = (ciphertext: string) => ({
    '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
    ciphertext,
  });
  const stack = (resources: object[], outputs: object) => {
    const type = 'pulumi:pulumi:Stack';
    const root = { urn: `urn:pulumi:dev::shop::${type}::shop-dev`, type, outputs };
    return Buffer.from(
      JSON.stringify({
        version: 3,
        serial: 1,
        lineage: 'one',
        deployment: { resources: [root, { urn: 'p', type: 'pulumi:providers:file' }, ...resources] },
      }),
    );
  };
  const file = (name: string, outputs: object) => ({
    urn: urn(name),
    type: 'file:index:File',
    id: `/${name}`,
    outputs,
  });
  const before = stack(
    [file('page', { content: 'a' }), file('key', { content: secret('one') }), file('same', {})],
    { page: '/page', token: secret('one') },
  );
  const after = stack(
    [file('page', { content: 'b' }), file('key', { content: secret('two') }), file('same', {})],
    { page: '/other', token: secret('two') },
  );
  const { resources, outputs, unchangedResourceCount } = compared(before, after, []);
  assert.equal(unchangedResourceCount, 1);
  assert.deepEqual(fieldsOf(resources, 'address', 'type', 'name', 'provider', 'attributes'), [
    [
      urn('key'),
      'file:index:File',
      'key',
      'file',
      [{ name: 'content', isSensitive: true, before: sensitiveMask, after: sensitiveMask }],
    ],
    [
      urn('page'),
      'file:index:File',
      'page',
      'file',
      [{ name: 'content', isSensitive: false, before: 'a', after: 'b' }],
    ],
  ]);
  assert.deepEqual(fieldsOf(outputs, 'name', 'isSensitive', 'before', 'after'), [
    ['page', false, '/page', '/other'],
    ['token', true, sensitiveMask, sensitiveMask],
  ]);
});

test('the states of several units are compared by unit', () => {
  const document = (input: string, more: object[] = []) => {
    const vpc = state([resource('one', [{ attributes: { id: '1', input } }], { module: 'module.net' })], {
      cidr: { value: input, type: 'string' },
    });
    const units = new Map([['live/vpc', vpc], ...(more.length > 0 ? [['app', state(more)] as const] : [])]);
    return Buffer.from(writeUnitStates({ serial: 1, lineage: 'l', elsewhere: [], units }));
  };
  const more = [resource('new', [{ attributes: { id: 'n' } }])];
  const { resources, outputs } = compared(document('x'), document('y', more), []);
  assert.deepEqual(fieldsOf(resources, 'address', 'change', 'moduleName'), [
    ['app/terraform_data.new', 'added', 'app'],
    ['live/vpc/module.net.terraform_data.one', 'changed', 'live/vpc/module.net'],
  ]);
  assert.deepEqual(fieldsOf(outputs, 'name', 'before', 'after'), [['live/vpc.cidr', 'x', 'y']]);
});
