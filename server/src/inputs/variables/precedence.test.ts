import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VariableType } from '#contract/schema/enumerations.ts';
import { type Candidate, type Layer, resolvePrecedence, variableKey } from './precedence.ts';

interface Row extends Candidate {
  readonly at: string;
}

function row(at: string, more: Partial<Candidate> = {}): Row {
  return { at, name: 'X', type: 0, is_readonly: false, is_required: false, ...more };
}

const none: Layer<Row> = { sets: [], rows: [] };
const plain = (at: string, more: Partial<Candidate> = {}): Layer<Row> => ({
  sets: [],
  rows: [row(at, more)],
});
const inSets = (...sets: Row[][]): Layer<Row> => ({ sets, rows: [] });

/** The value of the variable X of type 0, by the places of its rows. */
function resolved(...layers: Layer<Row>[]) {
  const found = resolvePrecedence(layers).get(variableKey({ name: 'X', type: 0 }));
  return (
    found && {
      winner: found.winner.at,
      hidden: found.hidden.map(({ at }) => at),
      locked: found.locked.map(({ at }) => at),
      isRequired: found.isRequired,
    }
  );
}

/** From the outermost to the innermost. */
const levels = [
  'GLOBAL',
  'BLUEPRINT',
  'SUB_ENVIRONMENT_BLUEPRINT',
  'PROJECT top',
  'PROJECT middle',
  'PROJECT own',
  'WORKFLOW',
  'ENVIRONMENT',
  'DEPLOYMENT',
] as const;

for (const [place, outer] of levels.entries())
  for (const inner of levels.slice(place + 1))
    test(`a variable of ${inner} hides one of ${outer}`, () => {
      const layers = levels.map((level) => (level === outer || level === inner ? plain(level) : none));
      assert.deepEqual(resolved(...layers), {
        winner: inner,
        hidden: [outer],
        locked: [],
        isRequired: false,
      });
      const readOnly = layers.map((layer, index) =>
        index === place ? plain(outer, { is_readonly: true }) : layer,
      );
      assert.deepEqual(
        resolved(...readOnly),
        { winner: outer, hidden: [], locked: [inner], isRequired: false },
        'unless it is read-only',
      );
    });

test('a variable of its own level hides the sets of that level', () => {
  const layer = { sets: [[row('set')]], rows: [row('plain')] };
  assert.deepEqual(resolved(layer), { winner: 'plain', hidden: ['set'], locked: [], isRequired: false });
});

test('a set that was assigned later hides an earlier one of the same level', () => {
  assert.deepEqual(resolved(inSets([row('first')], [row('second')])), {
    winner: 'second',
    hidden: ['first'],
    locked: [],
    isRequired: false,
  });
});

test('a set of an inner level hides the variable of an outer level', () => {
  assert.deepEqual(resolved(plain('GLOBAL'), inSets([row('set of PROJECT')])), {
    winner: 'set of PROJECT',
    hidden: ['GLOBAL'],
    locked: [],
    isRequired: false,
  });
});

test('a set that is assigned at two levels holds at both, and does not hide itself', () => {
  const set = [row('set')];
  const found = { winner: 'set', hidden: ['PROJECT'], locked: [], isRequired: false };
  assert.deepEqual(resolved(inSets(set), plain('PROJECT'), inSets(set)), found);
  const readOnly = [row('set', { is_readonly: true })];
  assert.deepEqual(resolved(inSets(readOnly), plain('PROJECT'), inSets(readOnly)), {
    ...found,
    hidden: [],
    locked: ['PROJECT'],
  });
});

test('what is hidden is listed from the outermost to the innermost, sets included', () => {
  const project = { sets: [[row('set 1')], [row('set 2')]], rows: [row('PROJECT')] };
  assert.deepEqual(resolved(plain('GLOBAL'), project, plain('ENVIRONMENT'))?.hidden, [
    'GLOBAL',
    'set 1',
    'set 2',
    'PROJECT',
  ]);
});

test('a read-only variable of a set holds against the variables of the level where it is assigned', () => {
  const layer = { sets: [[row('set', { is_readonly: true })]], rows: [row('plain')] };
  assert.deepEqual(resolved(layer, plain('inner')), {
    winner: 'set',
    hidden: [],
    locked: ['plain', 'inner'],
    isRequired: false,
  });
});

test('of two read-only variables the outer one counts', () => {
  const locked = { is_readonly: true };
  assert.deepEqual(resolved(plain('GLOBAL', locked), plain('PROJECT', locked))?.winner, 'GLOBAL');
});

test('a read-only variable hides those outside of it', () => {
  const found = resolved(plain('GLOBAL'), plain('PROJECT', { is_readonly: true }), plain('ENVIRONMENT'));
  assert.deepEqual(found, {
    winner: 'PROJECT',
    hidden: ['GLOBAL'],
    locked: ['ENVIRONMENT'],
    isRequired: false,
  });
});

test('a value stays required however an inner level defines it', () => {
  const required = { is_required: true };
  assert.equal(resolved(plain('GLOBAL', required), plain('ENVIRONMENT'))?.isRequired, true);
  assert.equal(resolved(plain('GLOBAL'), plain('ENVIRONMENT', required))?.isRequired, true);
  const locked = resolved(plain('GLOBAL', { is_readonly: true }), plain('ENVIRONMENT', required));
  assert.equal(locked?.isRequired, false, 'what has no effect requires nothing');
});

test('the two types of one name do not affect each other', () => {
  const found = resolvePrecedence([
    { sets: [], rows: [row('environment', { is_readonly: true, is_required: true })] },
    { sets: [], rows: [row('terraform', { type: 1 })] },
  ]);
  assert.deepEqual(
    [...found.values()].map(({ winner, hidden, isRequired }) => [winner.at, hidden.length, isRequired]),
    [
      ['environment', 0, true],
      ['terraform', 0, false],
    ],
  );
});

test('names that differ only in case, or that every object has, are different names', () => {
  const names = ['x', 'X', 'constructor', '__proto__', 'toString', ''];
  const found = resolvePrecedence([{ sets: [], rows: names.map((name) => row(name, { name })) }]);
  assert.deepEqual(
    [...found.values()].map(({ winner }) => winner.name),
    names,
  );
});

test('without variables there is nothing', () => {
  assert.equal(resolvePrecedence([]).size, 0);
  assert.equal(resolvePrecedence([none, inSets([])]).size, 0);
});

const anyRow: fc.Arbitrary<Row> = fc.record({
  at: fc.uuid(),
  name: fc.constantFrom('A', 'B', 'C'),
  type: fc.constantFrom<VariableType>(0, 1),
  is_readonly: fc.boolean(),
  is_required: fc.boolean(),
});
/** A scope has each name and type once. */
const anyScope = fc.uniqueArray(anyRow, { selector: variableKey, maxLength: 6 });
const anyLayers = fc.array(fc.record({ sets: fc.array(anyScope, { maxLength: 3 }), rows: anyScope }), {
  maxLength: 6,
});

function sequenceOf(layers: readonly Layer<Row>[], key: string): Row[] {
  return layers
    .flatMap(({ sets, rows }) => [...sets.flat(), ...rows])
    .filter((each) => variableKey(each) === key);
}

test('each variable is the winner, hidden or locked, exactly once and in order', () => {
  fc.assert(
    fc.property(anyLayers, (layers) => {
      for (const [key, { winner, hidden, locked }] of resolvePrecedence(layers))
        assert.deepEqual([...hidden, winner, ...locked], sequenceOf(layers, key));
    }),
  );
});

test('nothing hidden is read-only, and something is locked only by a read-only winner', () => {
  fc.assert(
    fc.property(anyLayers, (layers) => {
      for (const { winner, hidden, locked } of resolvePrecedence(layers).values()) {
        assert.ok(hidden.every((each) => !each.is_readonly));
        assert.equal(winner.is_readonly || locked.length === 0, true);
      }
    }),
  );
});

test('a level inside of all others changes only what it names, and nothing that is read-only', () => {
  fc.assert(
    fc.property(anyLayers, anyScope, (layers, rows) => {
      const before = resolvePrecedence(layers);
      const after = resolvePrecedence([...layers, { sets: [], rows }]);
      for (const [key, { winner }] of before) {
        const own = rows.find((each) => variableKey(each) === key);
        assert.equal(after.get(key)?.winner, winner.is_readonly ? winner : (own ?? winner));
      }
      assert.equal(after.size, new Set([...before.keys(), ...rows.map(variableKey)]).size);
    }),
  );
});

test('sets assigned at one level are the same as levels of their own', () => {
  fc.assert(
    fc.property(anyLayers, (layers) => {
      const flat = layers.flatMap(({ sets, rows }) =>
        [...sets, rows].map((each) => ({ sets: [], rows: each })),
      );
      assert.deepEqual(resolvePrecedence(layers), resolvePrecedence(flat));
    }),
  );
});
