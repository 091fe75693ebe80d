import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ephemeralVariables } from './ephemeral-variables.ts';
import { terraformFiles, tofuFiles } from './files.ts';

function ephemeralIn(files: Record<string, string>, rules = terraformFiles) {
  const tree = { list: async () => Object.keys(files), text: async (name: string) => files[name] ?? null };
  return ephemeralVariables(tree, rules);
}

test('a block of JSON that another one with its key hides is refused', async () => {
  const hidden = '{"variable": {"token": {"ephemeral": true}}, "variable" : {"size": {}}}';
  await assert.rejects(
    ephemeralIn({ 'main.tf.json': hidden }),
    /^Error: main\.tf\.json has "variable" twice in /,
  );
  const escaped = hidden.replace('"variable" ', String.raw`"\u0076ariable"`);
  await assert.rejects(ephemeralIn({ 'main.tf.json': escaped }), /has "variable" twice in one object/);
  const good = {
    '//': 'a "token": "token": \\',
    variable: [{ token: { ephemeral: true } }, { size: {} }, { key: { ephemeral: 'token: ":"' } }],
  };
  const text = JSON.stringify(good).replace('{', '{"//": "another comment",');
  assert.deepEqual(await ephemeralIn({ 'main.tf.json': text }), ['token', 'key']);
});

test('a configuration whose name is not UTF-8 is refused', async () => {
  const files = { 'main\uFFFD.tf': 'variable "token" { ephemeral = true }' };
  await assert.rejects(
    ephemeralIn(files, tofuFiles),
    /^Error: main\uFFFD\.tf: the name of this file is not UTF-8/,
  );
});
