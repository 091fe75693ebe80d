import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressOf,
  identityOf,
  inputOf,
  type KubernetesObject,
  keyOf,
  parseJsonObjects,
  parseObjects,
  refuseDuplicates,
  withLabels,
} from './objects.ts';

const what = 'the manifests';

function one(text: string): KubernetesObject {
  const [object] = parseObjects(text, what);
  assert.ok(object);
  return object;
}

function addresses(text: string, namespace = 'shop'): string[] {
  return parseObjects(text, what).map((object) => addressOf(identityOf(object, namespace)));
}

test('documents of YAML and JSON become objects, lists are expanded, and empty documents are left out', () => {
  const text = [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }',
    '# nothing',
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b","namespace":"other"}}',
    'apiVersion: v1\nkind: List\nitems:\n- { apiVersion: v1, kind: Namespace, metadata: { name: c } }',
    '',
  ].join('\n---\n');
  assert.deepEqual(addresses(text), ['v1/ConfigMap/shop/a', 'apps/v1/Deployment/other/b', 'v1/Namespace/c']);
  assert.deepEqual(parseObjects('', what), []);
});

test('lists for one kind are expanded, and their objects need not name it', () => {
  const text =
    'apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]';
  assert.deepEqual(addresses(text), ['v1/Secret/shop/a', 'v1/ConfigMap/shop/b']);
});

test('of a key that is there twice the last one counts, as in the tools', () => {
  assert.equal(one('apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: 1\nspec: 2')['spec'], 2);
});

test('a document with more values than a cluster takes is refused before it fills the memory', () => {
  const small = 'apiVersion: v1\nkind: X\nmetadata: {name: b}\n---\n';
  const many = `apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: [${'1,'.repeat(2_000_000)}]`;
  assert.throws(() => parseObjects(small + many, what), /the manifests, document 2 has too many values/);
});

test('values are what kubectl reads: octal numbers and switches of YAML 1.1, and no times or dates', () => {
  const text =
    'apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {mode: 0644, is: yes, port: 22:22, day: 2024-01-02, text: "yes"}';
  const { spec } = one(text);
  assert.deepEqual(spec, { mode: 0o644, is: true, port: '22:22', day: '2024-01-02', text: 'yes' });
});

test('values that readers of YAML understand in several ways are what kubectl reads', () => {
  const text =
    'apiVersion: v1\nkind: X\nmetadata: {name: a}\nbase: &base {x: 1, z: 9}\nspec:\n' +
    '  above: {x: 2, <<: *base}\n  below: {<<: *base, x: 2}\n  twice: {<<: {x: 1}, <<: {x: 3}}\n' +
    '  list: {<<: [{x: 1}, {x: 2, w: 1}]}\n  quoted: {"<<": {x: 1}}\n  octal: 0o17\n  bytes: !!binary aGVsbG8=';
  assert.deepEqual(one(text)['spec'], {
    above: { x: 1, z: 9 },
    below: { x: 2, z: 9 },
    twice: { x: 3 },
    list: { x: 1, w: 1 },
    quoted: { '<<': { x: 1 } },
    octal: 15,
    bytes: 'hello',
  });
});

test('numbers keep their digits on the way to kubectl and from it', () => {
  const text =
    'apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {deep: [1, 9007199254740993, -9223372036854775808]}';
  const sent = inputOf([one(text)]) ?? '';
  assert.match(sent, /"deep":\[1,9007199254740993,-9223372036854775808\]/);
  const [printed] = parseJsonObjects(Buffer.from(sent));
  assert.deepEqual(printed, one(text));
  assert.notDeepEqual(printed, one(text.replace('9007199254740993', '9007199254740992')));
});

for (const { problem, text, expected } of [
  {
    problem: 'cannot be parsed',
    text: 'apiVersion: v1\nkind: X\nmetadata: {name: a}\n---\na: b\n  c: d',
    expected: /^the manifests, document 2, line [56]: /,
  },
  { problem: 'is a text', text: 'hello', expected: /^the manifests, document 1 is not an object/ },
  { problem: 'has no kind', text: 'apiVersion: v1', expected: /document 1 has no kind/ },
  {
    problem: 'has no name',
    text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}',
    expected: /ConfigMap has no metadata\.name/,
  },
  {
    problem: 'gets a new name each time',
    text: 'apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}',
    expected: /Pod has generateName, which makes another object each time: give it a name/,
  },
  {
    problem: 'is in a list, and has no kind',
    text: 'apiVersion: v1\nkind: List\nitems: [{}]',
    expected: /document 1, items\[0\] has no apiVersion/,
  },
])
  test(`an object that ${problem} is refused with its place`, () => {
    assert.throws(() => parseObjects(text, what), { message: expected });
  });

test('a text that expands to too many values is refused, and so is one that is too long', () => {
  const levels = 'abcdefgh'.split('').map((name, index, all) => {
    const parts = Array.from({ length: 9 }, () => (index === 0 ? '1' : `*${all[index - 1]}`)).join(',');
    return `${name}: &${name} [${parts}]`;
  });
  assert.throws(() => parseObjects(levels.join('\n'), what), /document 1: .*alias/i);
  assert.throws(() => parseObjects('#'.repeat(40_000_000), what), /have 40 MB, and at most 32 MB are read/);
});

test('an object is the same in whatever version of its group it is written, and is not declared twice', () => {
  const of = (version: string) =>
    ({ apiVersion: `apps/${version}`, kind: 'Deployment', metadata: { name: 'a' } }) as const;
  assert.equal(keyOf(identityOf(of('v1'), 'shop')), keyOf(identityOf(of('v1beta1'), 'shop')));
  assert.throws(
    () => refuseDuplicates([of('v1'), of('v1beta1')], 'shop'),
    /apps\/v1beta1\/Deployment\/shop\/a is declared twice/,
  );
  refuseDuplicates([of('v1')], 'shop');
});

test('labels are added, and usual ones only where there are none', () => {
  const object = one('apiVersion: v1\nkind: X\nmetadata: {name: a, labels: {by: me, id: old}}');
  const { metadata } = withLabels(object, { id: 'new' }, { by: 'us', more: 'x' });
  assert.deepEqual(metadata['labels'], { by: 'me', id: 'new', more: 'x' });
});

test('what is sent to kubectl is one list, and what it prints is read again', () => {
  const object = one('apiVersion: v1\nkind: X\nmetadata: {name: a}');
  assert.equal(inputOf([]), null);
  assert.deepEqual(parseJsonObjects(Buffer.from(inputOf([object, object]) ?? '')), [object, object]);
  assert.deepEqual(parseJsonObjects(Buffer.from('\n')), []);
  assert.deepEqual(parseJsonObjects(undefined), []);
});
