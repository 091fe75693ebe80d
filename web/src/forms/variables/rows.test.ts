import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Variable } from '#contract/variables/shapes.ts';
import { fieldKindOf, isReady, nameProblem, rowOfField, valueProblem } from './checks.ts';
import { changesOf, isChanged, mask, newRow, rowsOf, undone } from './rows.ts';

const here = { scope: 'ENVIRONMENT', scopeId: 'env' } as const;

const variable = (fields: Partial<Variable>): Variable => ({
  id: 'v1',
  name: 'region',
  scope: 'ENVIRONMENT',
  scopeId: 'env',
  type: 1,
  organizationId: 'org',
  value: 'eu',
  schema: { type: 'string' },
  ...fields,
});

const definition = (name: string, value?: string, more = {}) =>
  ({
    name,
    scope: 'BLUEPRINT',
    type: 1,
    schema: { type: 'string' },
    ...(value === undefined ? {} : { value }),
    ...more,
  }) as const;

const rowOfVariable = (fields: Partial<Variable>) => rowsOf([], [variable(fields)], here)[0]!;
const rowOfDefinition = (...of: Parameters<typeof definition>) => rowsOf([definition(...of)], [], here)[0]!;

test('only what was typed is sent', () => {
  const row = rowOfVariable({});
  assert.deepEqual(changesOf([row]), []);
  assert.deepEqual(changesOf([{ ...row, description: 'where' }]), [
    { id: 'v1', name: 'region', type: 1, description: 'where' },
  ]);
  assert.deepEqual(changesOf([{ ...row, value: 'us' }]), [
    { id: 'v1', name: 'region', type: 1, value: 'us' },
  ]);
});

test('an inherited variable is overridden by its id and with a value', () => {
  const row = rowOfVariable({ scope: 'PROJECT', scopeId: 'p' });
  assert.equal(row.isOwn, false);
  assert.deepEqual(changesOf([{ ...row, isRequired: true }]), [
    { id: 'v1', name: 'region', type: 1, value: 'eu', isRequired: true },
  ]);
});

test('a stored secret stays what it is until another value is typed', () => {
  const row = rowOfVariable({ isSensitive: true, value: mask });
  assert.deepEqual(changesOf([{ ...row, description: 'd' }]), [
    { id: 'v1', name: 'region', type: 1, description: 'd' },
  ]);
  assert.match(valueProblem({ ...row, isSensitive: false }) ?? '', /again/);
});

test('a deleted variable is sent as such, and a change can be taken back', () => {
  const row = rowOfVariable({});
  assert.deepEqual(changesOf([{ ...row, isDeleted: true }]), [
    { id: 'v1', name: 'region', type: 1, toDelete: true },
  ]);
  assert.equal(isChanged(undone({ ...row, isDeleted: true, value: 'x' })), false);
});

test('a variable of the code is sent with the rules that the code gives it once it differs from the default', () => {
  const row = rowOfDefinition('size', '2', { schema: { type: 'string', enum: ['2', '3'] } });
  assert.deepEqual(changesOf([row]), []);
  assert.deepEqual(changesOf([{ ...row, value: '3' }]), [
    { name: 'size', type: 1, schema: { type: 'string', enum: ['2', '3'] }, value: '3' },
  ]);
});

test('a stored variable counts instead of the default of the code, with the description of the code', () => {
  const rows = rowsOf(
    [definition('region', 'default', { description: 'where' }), definition('size', '2')],
    [variable({ scope: 'PROJECT', scopeId: 'p' }), variable({ id: 'v2', name: 'other' })],
    here,
  );
  assert.deepEqual(
    rows.map(({ name, value, description }) => [name, value, description]),
    [
      ['region', 'eu', 'where'],
      ['size', '2', ''],
      ['other', 'eu', ''],
    ],
  );
  assert.deepEqual(changesOf(rows), []);
});

test('the field fits the definition', () => {
  const kinds = [
    rowOfDefinition('a', 'true'),
    rowOfDefinition('a', '12'),
    rowOfDefinition('a', '[]', { schema: { type: 'string', format: 'JSON' } }),
    rowOfDefinition('a', 'x', { schema: { type: 'string', enum: ['x'] } }),
    rowOfDefinition('a', 'x', { isSensitive: true }),
    newRow('n'),
  ].map(fieldKindOf);
  assert.deepEqual(kinds, ['switch', 'number', 'json', 'choice', 'sensitive', 'text']);
});

test('the type of the code decides where it is known', () => {
  const typed = (valueType: string, value?: string) => rowOfDefinition('a', value, { valueType });
  const kinds = [
    typed('bool', 'true'),
    typed('bool'),
    typed('number'),
    typed('list(string)'),
    typed('string', 'true'),
  ].map(fieldKindOf);
  assert.deepEqual(kinds, ['switch', 'flag', 'number', 'composite', 'text']);
  assert.match(valueProblem({ ...typed('number'), value: 'two' }) ?? '', /number/);
  assert.equal(valueProblem({ ...typed('number'), value: '${envarium:id:size}' }), undefined);
});

test('values are compared with the rules before they are sent', () => {
  const row = rowOfVariable({ regex: '^[a-z]+$' });
  assert.equal(valueProblem(row), undefined);
  assert.match(valueProblem({ ...row, value: 'A1' }) ?? '', /Must match/);
  assert.match(valueProblem({ ...row, value: '', isRequired: true }) ?? '', /required/);
  assert.match(valueProblem({ ...row, format: 'JSON', value: '{' }) ?? '', /JSON/);
  assert.equal(isReady([{ ...row, value: 'A1' }]), false);
});

test('an expression that could stop the page is left to the service', () => {
  const problemOf = (regex: string) => valueProblem({ ...rowOfVariable({ regex }), value: 'b' });
  assert.equal(problemOf('^(a+)+$'), undefined);
  assert.equal(problemOf('^(a|a)*$'), undefined);
  assert.match(problemOf('^[a-z]{2}-[a-z]+-\\d$') ?? '', /^Must match/);
});

test('a new name is checked against its kind and the other rows', () => {
  const row = { ...newRow('n'), name: 'region' };
  assert.match(nameProblem(row, [row, rowOfVariable({})]) ?? '', /has a variable/);
  assert.match(nameProblem({ ...row, name: '9x' }, []) ?? '', /digit/);
  assert.equal(nameProblem({ ...row, name: '9x', type: 0 }, []), undefined);
  assert.match(nameProblem({ ...row, name: 'a=b', type: 0 }, []) ?? '', /"="/);
});

test('a refusal of the service is shown at the row that it names', () => {
  const same = rowOfVariable({ name: 'same', id: 'v0' });
  const rows = [same, { ...rowOfVariable({}), value: 'x' }];
  assert.equal(rowOfField('configurationChanges.0.value', rows), '1 region');
  assert.equal(rowOfField('0.value', rows), '1 region');
  assert.equal(rowOfField('comment', rows), undefined);
});
