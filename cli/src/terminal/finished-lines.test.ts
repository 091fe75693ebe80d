import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { FinishedLines } from './finished-lines.ts';

function shown(...chunks: readonly string[]): string {
  const lines = new FinishedLines();
  return chunks.map((chunk) => lines.push(chunk)).join('') + lines.end();
}

it('a progress bar is one line, however it arrives', () => {
  const bar = 'Cloning\nReceiving:  10%\rReceiving:  55%\rReceiving: 100%, done.\nReady\r\n';
  const one = 'Cloning\nReceiving: 100%, done.\nReady\n';
  assert.equal(shown(bar), one);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bar.length })), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bar.length];
      assert.equal(shown(...at.slice(1).map((end, index) => bar.slice(at[index], end))), one);
    }),
  );
});

it('other lines stay as they are, and the last text of an unfinished one is kept', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'ä', ' ', '\n') })), (chunks) =>
      assert.equal(shown(...chunks), chunks.join('')),
    ),
  );
  for (const [text, last] of [
    ['10%\r', '10%'],
    ['10%\r20%', '20%'],
    ['10%\r\r20%\r\r\n', '20%\n'],
    ['\r\n\r', '\n'],
  ] as const)
    assert.equal(shown(text), last, JSON.stringify(text));
});

it('a very long line does not wait for its end', () => {
  const lines = new FinishedLines();
  assert.equal(lines.push('x'.repeat(5000)).length, 5000);
  const returns = '\r'.repeat(1_000_000);
  assert.equal(lines.push(`${returns}y${returns}\n`), 'y\n');
});
