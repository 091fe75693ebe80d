import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terraformFiles, tofuFiles } from './code/files.ts';
import { requiredVersions } from './required-versions.ts';

function reading(files: Record<string, string>, rules = terraformFiles) {
  const tree = { list: async () => Object.keys(files), text: async (name: string) => files[name] ?? null };
  return requiredVersions(tree, rules);
}

function block(constraint: string): string {
  return `terraform {\n  required_version = ${constraint}\n}\n`;
}

test('every constraint of the root folder is read, in HCL and JSON', async () => {
  const found = await reading({
    'a.tf': `${block('"~> 1.2"')}${block('"!= 1.2.5"')}`,
    'b.tf.json': '{"terraform": {"required_version": ">= 1.2.3"}}',
    'c.tf.json': '{"terraform": [{"required_version": "< 2.0"}, {}]}',
    'd.tf': '# required_version is not here\nresource "terraform_data" "a" {}\n',
    'e.txt': block('"= 9.9"'),
  });
  assert.deepEqual(found, [
    { file: 'a.tf', constraint: '~> 1.2' },
    { file: 'a.tf', constraint: '!= 1.2.5' },
    { file: 'b.tf.json', constraint: '>= 1.2.3' },
    { file: 'c.tf.json', constraint: '< 2.0' },
  ]);
});

test('an override file replaces earlier requirements', async () => {
  const found = await reading({
    'main.tf': block('">= 99"'),
    'x_override.tf': block('">= 1.0"'),
    'override.tf': 'locals {}\n',
  });
  assert.deepEqual(found, [{ file: 'x_override.tf', constraint: '>= 1.0' }]);
});

test('expressions that are not constants are reported separately', async () => {
  assert.deepEqual(await reading({ 'main.tf': block('var.version') }), [
    { file: 'main.tf', constraint: null },
  ]);
  assert.deepEqual(await reading({ 'main.tf': block('"${local.least}"') }), [
    { file: 'main.tf', constraint: null },
  ]);
  assert.deepEqual(await reading({ 'main.tf.json': '{"terraform": {"required_version": 1}}' }), [
    { file: 'main.tf.json', constraint: null },
  ]);
});

test("opentofu's own files take precedence over those of the same name", async () => {
  const files = {
    'main.tf': block('"~> 1.5.0"'),
    'main.tofu': block('"~> 1.8"'),
    'more.tf': block('"!= 1.8.1"'),
    'more.tofu.json': '{}',
  };
  assert.deepEqual(await reading(files, tofuFiles), [
    { file: 'main.tofu', constraint: '~> 1.8' },
    { file: 'more.tf', constraint: '!= 1.8.1' },
  ]);
  assert.deepEqual(
    (await reading(files)).map(({ file }) => file),
    ['main.tf', 'more.tf'],
  );
});

test('code that cannot be parsed is reported with its file', async () => {
  await assert.rejects(
    reading({ 'main.tf': 'terraform { required_version = }' }),
    /The configuration does not parse: .*main\.tf/,
  );
  await assert.rejects(
    reading({ 'main.tf.json': '{"terraform": {"required_version"' }),
    /main\.tf\.json is not valid JSON/,
  );
});
