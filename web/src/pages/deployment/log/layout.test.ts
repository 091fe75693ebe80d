import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layoutOf } from './layout.ts';
import { extended, lineParameter, selectionOf } from './selection.ts';
import { blockLines } from './store/step-log.ts';

const step = (name: string, lines: number, start?: number) => ({ name, lines, isFolded: false, start });

describe('the layout of a log', () => {
  test('each step has a head and, where it is open, its lines in blocks', () => {
    const layout = layoutOf([step('a', blockLines + 8), { ...step('b', 99), isFolded: true }, step('c', 1)]);
    assert.equal(layout.count, 3 + 2 + 1);
    assert.deepEqual(layout.heads, [0, 3, 4]);
    assert.deepEqual(layout.itemAt(2), { kind: 'block', step: 0, block: 1, lines: 8 });
    assert.deepEqual(layout.itemAt(3), { kind: 'head', step: 1 });
    assert.equal(layout.indexOf('a', blockLines + 7), 2);
    assert.equal(layout.indexOf('a', blockLines + 8), undefined);
    assert.equal(layout.indexOf('b', 0), undefined);
    assert.equal(layout.indexOf('c', 0), 5);
  });

  test('of more lines than a browser can place, a part is shown, and any line can be reached', () => {
    const sized = [step('small', 100), step('long', 10_000), step('longer', 20_000)];
    const layout = layoutOf(sized, 2_000);
    assert.deepEqual(
      layout.steps.map(({ first, shown }) => [first, shown]),
      [
        [0, 100],
        [0, 944],
        [0, 944],
      ],
    );
    assert.equal(layout.startFor('long', 5), undefined);
    for (const line of [944, 5_000, 9_999]) {
      assert.equal(layout.indexOf('long', line), undefined);
      const start = layout.startFor('long', line);
      const moved = layoutOf([sized[0]!, step('long', 10_000, start), sized[2]!], 2_000);
      const index = moved.indexOf('long', line)!;
      const item = moved.itemAt(index);
      assert.ok(item.kind === 'block' && item.block === Math.floor(line / blockLines));
      assert.equal(moved.startFor('long', line), undefined);
    }
  });
});

describe('lines in the address', () => {
  test('are one line or several', () => {
    assert.deepEqual(selectionOf('a', '12'), { step: 'a', from: 12, to: 12 });
    assert.deepEqual(selectionOf('a', '20-12'), { step: 'a', from: 12, to: 20 });
    for (const text of [undefined, '', 'x', '0', '1-', '-1', '1e3', '99999999999'])
      assert.equal(selectionOf('a', text), undefined, text);
    assert.equal(selectionOf(undefined, '1'), undefined);
    assert.equal(lineParameter({ step: 'a', from: 3, to: 3 }), 3);
    assert.equal(lineParameter({ step: 'a', from: 3, to: 5 }), '3-5');
  });

  test('extend in both directions, but not into another step', () => {
    const selection = { step: 'a', from: 10, to: 12 };
    assert.deepEqual(extended(selection, 'a', 20), { step: 'a', from: 10, to: 20 });
    assert.deepEqual(extended(selection, 'a', 5), { step: 'a', from: 5, to: 12 });
    assert.deepEqual(extended(selection, 'b', 5), { step: 'b', from: 5, to: 5 });
    assert.deepEqual(extended(undefined, 'b', 5), { step: 'b', from: 5, to: 5 });
  });
});
