import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationFields, configurationProblems } from './configuration-schema.ts';

const schema = {
  required: ['limit', 'names'],
  properties: {
    limit: { type: 'integer', title: 'Limit', minimum: 1, maximum: 9, default: 3 },
    rate: { type: 'number' },
    names: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
    ports: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 65_535 } },
    mode: { enum: ['deny', 'pending'], default: 'pending' },
    sizes: { type: 'array', items: { enum: ['small', 'large'] } },
    strict: { type: 'boolean', default: true },
    note: { type: 'string', description: 'Shown to people' },
  },
};

test('each known form of a setting has its field, with its label, limits and default', () => {
  const fields = configurationFields(schema);
  assert.deepEqual(
    fields.map(({ kind }) => kind),
    ['whole', 'number', 'texts', 'wholes', 'choice', 'choices', 'switch', 'text'],
  );
  const [limit, , names, , mode, sizes, strict, note] = fields;
  assert.deepEqual(
    [limit?.label, limit?.isRequired, limit?.minimum, limit?.maximum, limit?.otherwise],
    ['Limit', true, 1, 9, '3'],
  );
  assert.deepEqual([names?.label, names?.otherwise], ['names', 'a, b']);
  assert.deepEqual([mode?.choices, mode?.otherwise], [['deny', 'pending'], 'pending']);
  assert.deepEqual(sizes?.choices, ['small', 'large']);
  assert.deepEqual([strict?.isOnByDefault, note?.description], [true, 'Shown to people']);
});

test('whatever else a schema contains gets no field, and nothing of it is shown as it is', () => {
  for (const none of [
    undefined,
    null,
    3,
    'text',
    [],
    { properties: [] },
    { properties: { a: 1 }, required: 'a' },
  ])
    assert.ok(configurationFields(none).every(({ kind, isRequired }) => kind === 'other' && !isRequired));
  const unusual = { type: ['string', 'null'], title: { a: 1 }, description: 4, default: { deep: [1] } };
  const numbered = { enum: [1, 2] };
  const rows = { type: 'array', items: { type: 'object' }, default: [{ a: 1 }] };
  const fields = configurationFields({ properties: { odd: unusual, numbered, rows } });
  assert.deepEqual(
    fields.map(({ kind, label, description, otherwise }) => [kind, label, description, otherwise]),
    [
      ['other', 'odd', '', '{"deep":[1]}'],
      ['other', 'numbered', '', ''],
      ['other', 'rows', '', '{"a":1}'],
    ],
  );
});

test('missing, non-numeric and out-of-range values are reported at their settings', () => {
  const problems = (configuration: object) => configurationProblems(schema, { ...configuration });
  assert.deepEqual(problems({}), { limit: 'This is required.', names: 'This is required.' });
  const good = { limit: 3, names: ['a'] };
  assert.deepEqual(problems({ ...good, ports: [22], rate: 0.5 }), {});
  assert.deepEqual(problems({ ...good, limit: 10, ports: [22, 'ssh'], rate: 'x' }), {
    limit: '10 is too large: at most 9.',
    ports: '“ssh” must be a whole number.',
    rate: '“x” must be a number.',
  });
  assert.deepEqual(problems({ ...good, ports: [-1] }), { ports: '-1 is too small: at least 0.' });
  assert.deepEqual(configurationProblems(undefined, { anything: 1 }), {});
});
