import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { gitFolder, type RepositoryFiles } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { ok, refused } = await startTests({ ENVARIUM_GIT_LOCAL_PATHS: folder.path });

let made = 0;
const codeOf = (files: RepositoryFiles) => folder.repository(`code-${++made}`, files).path;
/** Rows without what is the same everywhere. */
const read = async (type: string, files: RepositoryFiles, query: Readonly<Record<string, string>> = {}) =>
  (await ok('listVariablesFromRepository', { query: { repository: codeOf(files), type, ...query } })).map(
    ({ scope, schema = {}, isSensitive, isRequired, ...row }) => {
      assert.equal(scope, 'BLUEPRINT');
      const { type: text, ...more } = schema;
      assert.equal(text, 'string');
      return {
        ...row,
        ...more,
        ...(isSensitive ? { isSensitive } : {}),
        ...(isRequired ? { isRequired } : {}),
      };
    },
  );
const refusal = async (type: string, files: RepositoryFiles, query: Readonly<Record<string, string>> = {}) =>
  (
    await refused('listVariablesFromRepository', 422, {
      query: { repository: codeOf(files), type, ...query },
    })
  ).message;

test('values of a chart are listed by their paths, with what the schema says', async () => {
  covers('listVariablesFromRepository', 'query.type');
  covers('RepositoryVariable', 'regex');
  const rows = await read('helm', {
    'values.yaml': `
# a comment
replicas: 2
image: &image
  repository: "nginx"
  tag: ""
worker:
  <<: *image
  tag: v2
hosts: [a, b]
empty: {}
annotations:
  example.com/name: x
  "odd=key": y
missing: ~
`,
    'values.schema.json': JSON.stringify({
      required: ['missing', 'replicas'],
      properties: {
        replicas: { type: 'integer', description: 'How many', enum: [1, 2, 3] },
        image: { properties: { tag: { pattern: '^v\\d' }, digest: { type: 'string' } } },
        password: { type: 'string', writeOnly: true, default: 'x' },
        list: { type: 'array' },
      },
    }),
  });
  const name = (key: string) => `ENVARIUM_HELM_SET_${key}`;
  assert.deepEqual(rows, [
    {
      name: name('replicas'),
      type: 0,
      value: '2',
      description: 'How many',
      enum: ['1', '2', '3'],
      valueType: 'integer',
    },
    { name: name('image.repository'), type: 0, value: 'nginx' },
    { name: name('image.tag'), type: 0, value: '', regex: '^v\\d' },
    { name: name('image.digest'), type: 0, valueType: 'string' },
    { name: name('worker.repository'), type: 0, value: 'nginx' },
    { name: name('worker.tag'), type: 0, value: 'v2' },
    { name: name('hosts'), type: 0, value: '["a","b"]', format: 'JSON' },
    { name: name('empty'), type: 0, value: '{}', format: 'JSON' },
    { name: name('annotations.example\\.com/name'), type: 0, value: 'x' },
    { name: name('missing'), type: 0, isRequired: true },
    { name: name('password'), type: 0, value: 'x', isSensitive: true, valueType: 'string' },
    { name: name('list'), type: 0, format: 'JSON', valueType: 'array' },
  ]);
});

test('parameters of a stack are read from YAML with short functions and from JSON', async () => {
  covers('listVariablesFromRepository', 'query.fileName');
  const yaml = `
AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Stage:
    Type: String
    AllowedValues: [dev, prod]
    AllowedPattern: "[a-z]+"
  Size: {Type: Number, Default: 3, Description: d}
  Subnets: {Type: CommaDelimitedList, Default: "a,b"}
  Secret: {Type: String, NoEcho: true}
Resources:
  Bucket:
    Properties: {Name: !Sub "\${Stage}-x", Other: !GetAtt A.B, List: !Join ["", [!Ref Stage]]}
`;
  const rows = [
    {
      name: 'ENVARIUM_CF_PARAM_Stage',
      type: 0,
      regex: '^(?:[a-z]+)$',
      enum: ['dev', 'prod'],
      isRequired: true,
      valueType: 'String',
    },
    { name: 'ENVARIUM_CF_PARAM_Size', type: 0, value: '3', description: 'd', valueType: 'Number' },
    { name: 'ENVARIUM_CF_PARAM_Subnets', type: 0, value: 'a,b', valueType: 'CommaDelimitedList' },
    {
      name: 'ENVARIUM_CF_PARAM_Secret',
      type: 0,
      isSensitive: true,
      isRequired: true,
      valueType: 'String',
    },
  ];
  assert.deepEqual(await read('cloudformation', { 'template.yml': yaml }), rows);
  assert.deepEqual(
    await read('cloudformation', { 'a/stack.yaml': yaml }, { path: 'a', fileName: 'stack.yaml' }),
    rows,
  );
  const json = { Parameters: { A: { Type: 'String', Default: '' } } };
  assert.deepEqual(await read('cloudformation', { 'template.json': JSON.stringify(json) }), [
    { name: 'ENVARIUM_CF_PARAM_A', type: 0, value: '', valueType: 'String' },
  ]);
  assert.deepEqual(await read('cloudformation', { 'other.yml': yaml }), []);
  assert.match(await refusal('cloudformation', { a: '' }, { fileName: 'x.yaml' }), /x\.yaml is not a file/);
});

test('the configuration of a project is read with its types and secrets', async () => {
  const rows = await read('pulumi', {
    'Pulumi.yaml': `
name: shop
config:
  aws:region: eu-central-1
  count: {type: integer, default: 3, description: d}
  names: {type: array, items: {type: string}, default: [a]}
  key: {type: string, secret: true}
  fixed: {value: true}
`,
  });
  assert.deepEqual(rows, [
    { name: 'aws:region', type: 1, value: 'eu-central-1' },
    { name: 'count', type: 1, value: '3', description: 'd', valueType: 'integer' },
    { name: 'names', type: 1, value: '["a"]', format: 'JSON', valueType: 'array' },
    { name: 'key', type: 1, isSensitive: true, isRequired: true, valueType: 'string' },
    { name: 'fixed', type: 1, value: 'true', valueType: 'boolean' },
  ]);
});

test('defaults of a role are read, and variables of all hosts replace them', async () => {
  const rows = await read('ansible', {
    'defaults/main.yml': '---\nport: 80\nusers: [{name: a}]\nurl: "http://{{ host }}"\n',
    'group_vars/all/b.yml': 'port: 81\n',
    'group_vars/all/vault.yml':
      'secret: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\nflag: yes\nnothing:\n',
  });
  const name = (key: string) => `ANSIBLE_VAR_${key}`;
  assert.deepEqual(rows, [
    { name: name('port'), type: 0, value: '81', valueType: 'number' },
    { name: name('users'), type: 0, value: '[{"name":"a"}]', format: 'JSON' },
    { name: name('url'), type: 0, value: 'http://{{ host }}' },
    { name: name('secret'), type: 0, isSensitive: true },
    { name: name('flag'), type: 0, value: 'yes' },
    { name: name('nothing'), type: 0 },
  ]);
});

test('YAML that is not valid, or expands to too much, is refused with the file', async () => {
  const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let index = 1; index < 12; index++)
    bomb.push(
      `a${index}: &a${index} [${Array(10)
        .fill(`*a${index - 1}`)
        .join(',')}]`,
    );
  for (const text of ['a: [', 'a: 1\na: 2', 'a: *none', '--- 1\n--- 2', bomb.join('\n'), '['.repeat(20_000)])
    assert.match(
      await refusal('helm', { 'values.yaml': text }),
      /values\.yaml: it is not valid YAML: .+/,
      text,
    );
  assert.match(
    await refusal('helm', { 'values.yaml': 'a: 1', 'values.schema.json': '{' }),
    /values\.schema\.json: it is not valid JSON/,
  );
  for (const text of ['', '[]', 'text', '1'])
    assert.deepEqual(await read('helm', { 'values.yaml': text }), [], text);
});
