import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { lineChanges } from './line-changes.ts';
import { reasonText } from './reasons.ts';
import {
  attributeSummary,
  choicesOf,
  filterRows,
  moduleOf,
  type PlanFilter,
  rowsOf,
  shownAttributes,
} from './rows.ts';
import { isDifference, lengthText, previewOf, shownSides, shownValue } from './values.ts';
import { withoutRowsText } from './without-rows.ts';

function change(
  path: string,
  action: ResourceChange['action'],
  more: Partial<ResourceChange> = {},
): ResourceChange {
  return { path, action, name: path, type: 'thing', providerName: 'local', attributes: [], ...more };
}

const plan = [
  change('a.new', 'create'),
  change('b.changed', 'update', {
    moduleName: 'module.web',
    attributes: [{ name: 'size', before: 1, after: 2 }],
  }),
  change('c.gone', 'delete', { providerName: 'cloud' }),
  change('d.other', 'recreate', { moduleName: 'module.web' }),
  change('e.imported', 'metadata', { importing: { id: 'i-1' } }),
  change('f.moved', 'metadata', { previousAddress: 'f.before' }),
  change('g.unknown', 'metadata', { actionReason: 'check mode does not run this task' }),
];

const everything: PlanFilter = { text: '', kinds: new Set(), module: undefined, provider: undefined };
const pathsOf = (filter: Partial<PlanFilter>) =>
  filterRows(rowsOf(plan), { ...everything, ...filter }).map((row) => row.change.path);

test('losses come first, and the order of the tool stays within a kind', () => {
  assert.deepEqual(
    rowsOf([...plan, change('a.gone', 'delete')]).map(({ kind, change: { path } }) => `${kind} ${path}`),
    [
      'destroy c.gone',
      'destroy a.gone',
      'replace d.other',
      'update b.changed',
      'create a.new',
      'import e.imported',
      'move f.moved',
      'note g.unknown',
    ],
  );
});

test('an address that a tool names twice has two rows with keys of their own', () => {
  const keys = rowsOf([change('x', 'create'), change('x', 'delete')]).map(({ key }) => key);
  assert.equal(new Set(keys).size, 2);
});

test('rows are found by address, attribute, kind, module and provider, and by all of them together', () => {
  assert.deepEqual(pathsOf({ text: 'CHANGED b.' }), ['b.changed']);
  assert.deepEqual(pathsOf({ text: 'size' }), ['b.changed']);
  assert.deepEqual(pathsOf({ text: 'f.before' }), ['f.moved']);
  assert.deepEqual(pathsOf({ kinds: new Set(['destroy', 'create']) }), ['c.gone', 'a.new']);
  const moved = change('x', 'update', { previousAddress: 'y', importing: { id: 'i' } });
  for (const kind of ['update', 'move', 'import'] as const)
    assert.equal(filterRows(rowsOf([moved]), { ...everything, kinds: new Set([kind]) }).length, 1, kind);
  assert.deepEqual(pathsOf({ module: 'module.web' }), ['d.other', 'b.changed']);
  assert.deepEqual(pathsOf({ module: 'module.web', text: 'other' }), ['d.other']);
  assert.deepEqual(pathsOf({ provider: 'cloud' }), ['c.gone']);
  assert.deepEqual(pathsOf({ text: 'nothing has this' }), []);
});

test('filters offer each module once, and a name for resources without one', () => {
  assert.deepEqual(choicesOf(rowsOf(plan), moduleOf), ['(root)', 'module.web']);
});

test('values are sealed, unknown, absent or text', () => {
  const kinds = ['(sensitive)', '(known after apply)', undefined, null, '', 0, false, ['(sensitive)']].map(
    (value) => shownValue(value).kind,
  );
  assert.deepEqual(kinds, ['sealed', 'unknown', 'none', 'none', 'text', 'text', 'text', 'text']);
});

test('short lists stay on one line, long ones and documents within texts get lines', () => {
  const textOf = (value: unknown) => {
    const shown = shownValue(value);
    return shown.kind === 'text' ? shown.text : shown.kind;
  };
  assert.equal(textOf(['a', 1]), '["a",1]');
  assert.match(textOf(Array.from({ length: 40 }, (_, at) => at)), /\n {2}39\n\]$/);
  assert.equal(textOf('{"Version":"2012","Statement":[]}').split('\n')[1], '  "Version": "2012",');
  assert.equal(textOf('{not json'), '{not json');
  assert.equal(textOf('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
});

test('two long texts are compared, short or sealed values stand side by side', () => {
  const long = 'line\n'.repeat(3);
  assert.equal(isDifference(shownValue('a'), shownValue('b')), false);
  assert.equal(isDifference(shownValue(long), shownValue('b')), true);
  assert.equal(isDifference(shownValue(long), shownValue('(sensitive)')), false);
  assert.equal(isDifference(shownValue(long), shownValue(undefined)), false);
  const [, after] = shownSides(['x'.repeat(60), 'y'.repeat(60)], ['short']);
  assert.equal(after.kind === 'text' && after.text, '[\n  "short"\n]');
});

test('reasons of terraform are worded, those of other tools stay as they are', () => {
  assert.equal(
    reasonText(change('x', 'recreate', { actionReason: 'replace_because_tainted' })),
    'it is marked as damaged (tainted)',
  );
  assert.equal(reasonText(change('x', 'delete', { actionReason: 'no longer wanted' })), 'no longer wanted');
  assert.equal(reasonText(change('x', 'delete')), undefined);
});

test('lengths of texts are shown in characters', () => {
  assert.deepEqual([9999, 20_400, 1_048_576].map(lengthText), [
    '9999 characters',
    '20 thousand characters',
    '1.0 million characters',
  ]);
});

test('a long text is shown by its beginning, whether it is wide or tall', () => {
  assert.equal(previewOf('short\n'), 'short\n');
  assert.equal(previewOf('x'.repeat(1_000_000)).length, 2000);
  assert.equal(previewOf('z\n'.repeat(300_000)).split('\n').length, 24);
});

test('a closed row names what changes, and what forces a replacement alone', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `n${at}`, after: at }));
  const summary = (...args: Parameters<typeof change>) => attributeSummary(rowsOf([change(...args)])[0]!);
  assert.equal(summary('x', 'update', { attributes: names(2) }), 'n0, n1');
  assert.equal(summary('x', 'update', { attributes: names(6) }), 'n0, n1, n2, n3, and 2 more');
  assert.equal(summary('x', 'create', { attributes: names(6) }), '6 attributes');
  const attributes = [...names(3), { name: 'ami', forcesReplacement: true }];
  assert.equal(summary('x', 'recreate', { attributes }), 'because of ami');
});

test('an attribute that forces a replacement comes first, and unknown ones of a new resource together', () => {
  const attributes = [
    { name: 'id', after: '(known after apply)' },
    { name: 'ami', after: 'b', forcesReplacement: true },
  ];
  const shown = (kind: 'create' | 'replace') => {
    const { listed, unknown } = shownAttributes(change('x', 'update', { attributes }), kind);
    return [listed.map(({ name }) => name), unknown];
  };
  assert.deepEqual(shown('replace'), [['ami', 'id'], []]);
  assert.deepEqual(shown('create'), [['ami'], ['id']]);
});

test('very long texts are compared line by line', () => {
  const lines = (count: number, changed: number) =>
    Array.from({ length: count }, (_, at) => `line ${at}${at === changed ? ' changed' : ''}`).join('\n');
  const before = lines(50_000, -1);
  const after = lines(50_000, 40_000);
  const changes = lineChanges(before, after) ?? [];
  assert.deepEqual(
    changes.map(({ fromA, toA, fromB, toB }) => [before.slice(fromA, toA), after.slice(fromB, toB)]),
    [['line 40000\n', 'line 40000 changed\n']],
  );
  assert.equal(lineChanges(lines(70_000, -1), ''), undefined);
});

test('numbers are shown with all of their digits, also in texts that are JSON', () => {
  const [before, after] = shownSides(
    parseExactly('9223372036854775806'),
    parseExactly('{"a":[9223372036854775807,1.0]}'),
  );
  assert.deepEqual(
    [before, after].map((side) => side.kind === 'text' && side.text),
    ['9223372036854775806', '{"a":[9223372036854775807,1.0]}'],
  );
  const text = shownValue('{"id":9223372036854775807}');
  assert.equal(text.kind === 'text' && text.text, '{\n  "id": 9223372036854775807\n}');
});

test('that a plan without rows changes nothing, or found no drift, is shown only if the service says so', () => {
  const words = (isPlanEmpty?: boolean, isWithoutDrift = false) =>
    withoutRowsText({ isPlanEmpty, isWithoutDrift });
  assert.equal(words(true), 'Nothing changes.');
  assert.match(words(false), /still has something to do/);
  assert.equal(words(), 'No resource and no output changes.');
  assert.match(words(false, true), /^Nothing has drifted/);
});
