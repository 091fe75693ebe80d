import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteStore } from './byte-store.ts';
import { firstError } from './first-error.ts';
import { hitsIn, patternOf } from './pattern.ts';
import { Search, type SearchedStep } from './search.ts';
import { shownLines } from './shown-lines.ts';
import { blockLines, StepLog } from './step-log.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

function logOf(text: string, chunk = text.length): StepLog {
  const log = new StepLog();
  const bytes = bytesOf(text);
  for (let at = 0; at < bytes.length; at += chunk) log.append(at, bytes.subarray(at, at + chunk));
  return log;
}

const texts = (log: StepLog, block = 0) =>
  shownLines(log, block, undefined).map(({ segments }) => segments.map(({ text }) => text).join(''));

function searched(
  text: string,
  options: { isRegex?: boolean; isCaseSensitive?: boolean },
  ...logs: string[]
) {
  const steps: SearchedStep[] = logs.map((log, index) => ({
    name: `s${index}`,
    log: logOf(log),
    isOver: true,
  }));
  const search = new Search(patternOf({ text, isRegex: false, isCaseSensitive: false, ...options }));
  while (search.advance(steps));
  return { search, steps, count: search.count(steps) };
}

describe('bytes that grow', () => {
  test('are the same whatever the pieces', () => {
    const store = new ByteStore();
    const all = Uint8Array.from({ length: 700_000 }, (_, index) => index % 251);
    for (let at = 0; at < all.length; at += 99_991) store.append(all.subarray(at, at + 99_991));
    assert.equal(store.length, all.length);
    for (const [from, to] of [
      [0, all.length],
      [262_100, 262_200],
      [5, 5],
      [524_288, 600_000],
    ] as const)
      assert.deepEqual(store.slice(from, to), all.slice(from, to));
    assert.equal(store.indexOf(250, 262_140), all.indexOf(250, 262_140));
    assert.equal(store.indexOf(255, 0), -1);
  });
});

describe('the log of a step', () => {
  test('lines are found whatever the pieces', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}: größer 🙂\n`).join('') + 'no end';
    for (const chunk of [1, 7, 64, 100_000]) {
      const log = logOf(text, chunk);
      assert.equal(log.lineCount, 101);
      const last = Math.floor(100 / blockLines);
      assert.equal(texts(log)[blockLines - 1], `line ${blockLines - 1}: größer 🙂`);
      assert.equal(texts(log, 1)[0], `line ${blockLines}: größer 🙂`);
      assert.deepEqual(texts(log, last).slice(-2), ['line 99: größer 🙂', 'no end']);
      assert.equal(
        new TextDecoder().decode(log.bytesOf(30, 33)),
        text.split('\n').slice(30, 33).join('\n') + '\n',
      );
    }
  });

  test('bytes that come twice are left out, and missing ones are noticed', () => {
    const log = logOf('one\ntwo\n');
    assert.equal(log.append(0, bytesOf('one\n')), 'known');
    assert.equal(log.append(4, bytesOf('two\nthree\n')), 'added');
    assert.equal(log.append(20, bytesOf('four')), 'gap');
    assert.deepEqual(texts(log), ['one', 'two', 'three']);
  });

  test('a colour stays on over lines and blocks', () => {
    const log = logOf(`\x1b[31mred\n${'still\n'.repeat(blockLines)}\x1b[0mplain\n`);
    const [first] = shownLines(log, 1, undefined);
    assert.deepEqual(first?.segments, [{ text: 'still', color: 'red' }]);
    assert.deepEqual(shownLines(log, 1, undefined).at(-1)?.segments, [{ text: 'plain' }]);
  });

  test('bytes that cannot be decoded are shown as replacement characters', () => {
    const log = new StepLog();
    log.append(0, Uint8Array.from([0x61, 0xff, 0xc3, 0x0a, 0x62]));
    assert.deepEqual(texts(log), ['a\ufffd\ufffd', 'b']);
  });

  test('a very long line is cut for showing, and more of it comes on demand', () => {
    const log = logOf(`${'x'.repeat(1 << 20)}\nend`);
    const [line, end] = shownLines(log, 0, undefined);
    assert.equal(line?.segments[0]?.text.length, 4000);
    assert.equal(line?.hidden, (1 << 20) - 4000);
    assert.equal(end?.hidden, 0);
    assert.equal(shownLines(log, 0, undefined, { 0: 9000 })[0]?.segments[0]?.text.length, 9000);
    assert.equal(log.bytesOf(0, 1).length, (1 << 20) + 1);
  });

  test('a line says when it was stored', () => {
    const log = new StepLog();
    log.append(0, bytesOf('a\nb\n'), 1000);
    log.append(4, bytesOf('c\n'), 2000);
    assert.deepEqual(
      shownLines(log, 0, undefined).map(({ at }) => at),
      [1000, 1000, 2000],
    );
  });
});

describe('searching', () => {
  test('counts lines and hits across steps, and walks around through them', () => {
    const { search, steps, count } = searched('ERROR', {}, 'a\nerror error\nb\n', 'none\n', 'Error\nx error');
    assert.deepEqual(count, { lines: 3, hits: 4, remaining: 0 });
    const first = search.next(steps, undefined, false);
    assert.deepEqual(first, { step: 's0', line: 1, ordinal: 1 });
    const second = search.next(steps, first, false);
    assert.deepEqual(second, { step: 's2', line: 0, ordinal: 2 });
    assert.deepEqual(search.next(steps, { step: 's1', line: 0 }, true), first);
    assert.deepEqual(search.next(steps, { step: 's2', line: 1 }, false), first);
    assert.deepEqual(search.next(steps, first, true), { step: 's2', line: 1, ordinal: 3 });
  });

  test('case, special characters and regular expressions', () => {
    assert.equal(searched('error', { isCaseSensitive: true }, 'Error\nerror\n').count.lines, 1);
    assert.equal(searched('a.b', {}, 'a.b\naxb\n').count.lines, 1);
    assert.equal(searched('a.b', { isRegex: true }, 'a.b\naxb\n').count.lines, 2);
    assert.equal(searched('^b.*$', { isRegex: true }, 'ab\nbc\nb').count.lines, 2);
    assert.equal(searched('\\s+', { isRegex: true }, 'ab\nbc\n').count.lines, 0);
    assert.equal(searched('x*', { isRegex: true }, 'ab\nbc\n').count.lines, 0);
    assert.throws(() => patternOf({ text: '(', isRegex: true, isCaseSensitive: false }), SyntaxError);
  });

  test('finds what is shown: across colours, and after carriage returns', () => {
    const { count } = searched('Error: it', {}, '\x1b[31mError: \x1b[0mit\r\n10 %\rError: it\n');
    assert.equal(count.lines, 2);
    assert.equal(searched('10 %', {}, '10 %\rError: it\n').count.lines, 0);
  });

  test('numbers lines right over many batches, and continues when more come', () => {
    const log = logOf(Array.from({ length: 50_000 }, (_, index) => `line ${index} of it\n`).join(''));
    const steps = [{ name: 's', log, isOver: false }];
    for (const isRegex of [false, true]) {
      const search = new Search(patternOf({ text: '49999', isRegex, isCaseSensitive: false }));
      while (search.advance(steps));
      assert.deepEqual(search.next(steps, undefined, false), { step: 's', line: 49_999, ordinal: 1 });
    }
    const search = new Search(patternOf({ text: 'more', isRegex: false, isCaseSensitive: false }));
    while (search.advance(steps));
    assert.equal(search.count(steps).lines, 0);
    log.append(log.bytes.length, bytesOf('once more\nand mo'));
    while (search.advance(steps));
    log.append(log.bytes.length, bytesOf('re\n'));
    while (search.advance(steps));
    assert.deepEqual(search.next(steps, undefined, true), { step: 's', line: 50_001, ordinal: 2 });
  });

  test('hits are marked in the text that is shown', () => {
    const pattern = patternOf({ text: 'b', isRegex: false, isCaseSensitive: false });
    assert.deepEqual(hitsIn(pattern, 'abcB'), [1, 2, 3, 4]);
    assert.deepEqual(shownLines(logOf('\x1b[31ma\x1b[0mb'), 0, pattern)[0]?.hits, [1, 2]);
  });
});

describe('the first error', () => {
  const steps = (...logs: string[]) =>
    logs.map((text, index) => ({ name: `s${index}`, log: logOf(text), isOver: true }));

  test('is the head of an error before a mention of one, and else the last line', () => {
    assert.deepEqual(firstError(steps('0 errors\nan error came\n\x1b[31m│\x1b[0m Error: no\n')), {
      step: 's0',
      line: 2,
    });
    assert.deepEqual(firstError(steps('a\nit failed here\n')), { step: 's0', line: 1 });
    assert.deepEqual(firstError(steps('', 'a\nb\n')), { step: 's1', line: 1 });
    assert.equal(firstError([]), undefined);
  });
});
