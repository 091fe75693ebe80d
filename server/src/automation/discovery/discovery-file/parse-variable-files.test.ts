import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseVariableFiles } from './parse-variable-files.ts';

const { signal } = new AbortController();

function read(files: Readonly<Record<string, string>>) {
  return parseVariableFiles(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    signal,
  );
}

test('values of variable files have the form that variables have', async () => {
  const found = await read({
    'a.tfvars': `
      region = "eu-central-1" # a comment
      count  = 3
      big    = 12345678901234567890
      on     = true
      zones  = ["a", "b"]
      tags   = { team = "net", "cost centre" = 1 }
      text   = <<-END
        two
        lines
      END
      plain  = "$\${literal}"
      nothing = null
    `,
  });
  assert.deepEqual(found.errors, []);
  assert.deepEqual(
    Object.fromEntries(found.variables.map(({ name, value, format }) => [name, [value, format]])),
    {
      region: ['eu-central-1', undefined],
      count: ['3', undefined],
      big: ['12345678901234567890', undefined],
      on: ['true', undefined],
      zones: ['["a","b"]', 'JSON'],
      tags: ['{"cost centre":1,"team":"net"}', 'JSON'],
      text: ['two\nlines\n', undefined],
      plain: ['${literal}', undefined],
    },
  );
});

test('later files take precedence, also with null', async () => {
  const { variables } = await read({
    'a.tfvars': 'a = 1\nb = 1\nc = 1\n',
    'b.tfvars.json': '{ "b": "${two}", "c": null }',
  });
  assert.deepEqual(variables, [
    { name: 'a', value: '1' },
    { name: 'b', value: '${two}' },
  ]);
});

for (const [name, path, text, message] of [
  ['not HCL', 'x/a.tfvars', 'a = \n', /^x\/a\.tfvars:1,/],
  ['an expression', 'a.tfvars', 'a = var.b\n', /^a\.tfvars: a: an HCL value must be a constant/],
  ['a function', 'a.tfvars', 'secret = file("/etc/passwd")\n', /^a\.tfvars: secret: an HCL value must be/],
  ['a value that is there twice', 'a.tfvars', 'a = 1\na = 2\n', /^a\.tfvars:2,/],
  ['not JSON', 'a.tfvars.json', '{', /^a\.tfvars\.json: /],
  ['a list', 'a.tfvars.json', '[]', /^a\.tfvars\.json: it must be an object with the names of variables$/],
  [
    'more than a million characters',
    'a.tfvars',
    `a = "${'x'.repeat(1_000_001)}"`,
    /more than 1000000 characters/,
  ],
  ['50,000 brackets', 'a.tfvars', `a = ${'['.repeat(50_000)}`, /nested more than 100 levels deep/],
] as const)
  test(`a file that cannot be read is an error that names it, and others are read: ${name}`, async () => {
    const { variables, errors } = await read({ [path]: text, 'good.tfvars': 'good = 1\n' });
    assert.deepEqual(variables, [{ name: 'good', value: '1' }]);
    assert.deepEqual(
      errors.map((each) => each.path),
      [path],
    );
    assert.match(errors[0]?.message ?? '', message);
  });

test('reading ends with its signal', async () => {
  const ended = AbortSignal.abort(new Error('ended'));
  await assert.rejects(parseVariableFiles([{ path: 'a.tfvars', text: 'a = 1' }], ended), /ended/);
});

test('too many variables are refused', async () => {
  const text = Array.from({ length: 2001 }, (_, index) => `v${index} = ${index}\n`).join('');
  const { variables, errors } = await read({ 'a.tfvars': text });
  assert.deepEqual(variables, []);
  assert.match(errors[0]?.message ?? '', /more than 2000 variables/);
});
