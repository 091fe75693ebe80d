import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainText, segmentsOf } from './segments.ts';
import { styleAfter } from './style.ts';
import { terminalLine } from './terminal.ts';

const shown = (line: string) => plainText(terminalLine(line));

describe('a line as a terminal leaves it', () => {
  test('usual text stays the same', () => {
    const line = '\x1b[1mterraform\x1b[0m: größer, 漢字, 🙂\tend';
    assert.equal(terminalLine(line), line);
  });

  test('carriage returns show the last state', () => {
    assert.equal(shown('10 %\r50 %\r100 %\r'), '100 %');
    assert.equal(shown('receiving objects\rdone'), 'doneiving objects');
    assert.equal(shown('receiving objects\r\x1b[Kdone'), 'done');
    assert.equal(shown('windows\r'), 'windows');
  });

  test('backspaces and erasures take away what they are after', () => {
    assert.equal(shown('abc\b\bX'), 'aXc');
    assert.equal(shown('\b\b\babc'), 'abc');
    assert.equal(shown('abcdef\x1b[3D\x1b[K!'), 'abc!');
    assert.equal(shown('abc\x1b[1K'), '   ');
    assert.equal(shown('gone\x1b[2K\rnew'), 'new');
    assert.equal(shown('a\x1b[5Gb'), 'a   b');
  });

  test('colours stay with the characters that they were written with', () => {
    assert.deepEqual(segmentsOf(terminalLine('\x1b[31mred\x1b[0m plain\r\x1b[32mG')), [
      { text: 'G', color: 'green' },
      { text: 'ed', color: 'red' },
      { text: ' plain' },
    ]);
  });

  test('other control characters are shown as pictures', () => {
    assert.equal(shown('a\0b\x07c\x7f\x1b'), 'a␀b␇c␡␛');
    assert.equal(shown('\x85'), '\ufffd');
  });

  test('titles of windows, queries and modes of the terminal are dropped', () => {
    assert.equal(shown('\x1b]0;title\x07a\x1b[?25lb\x1b[>4;2mc\x1b(Bd\x1bP1;2q\x1b\\e\x1b[6n'), 'abcde');
  });

  test('a cursor sent far away costs little', () => {
    assert.ok(shown('\x1b[999999999Gx\x1b[999999999Cy').length < 3000);
  });

  test('a megabyte of progress is one line within a second', () => {
    const started = performance.now();
    const line = Array.from({ length: 50_000 }, (_, index) => `\r${index} of 50000 objects`).join('');
    assert.equal(shown(line), '49999 of 50000 objects');
    assert.ok(performance.now() - started < 1000);
  });
});

describe('coloured text as segments', () => {
  test('colours of all kinds and weights', () => {
    const colors = segmentsOf(
      '\x1b[1;31mA\x1b[22;39m\x1b[38;5;208mB\x1b[38;2;1;2;3mC\x1b[0;3;4;2;44mD\x1b[0mE\x1b[91mF',
    );
    assert.deepEqual(colors, [
      { text: 'A', color: 'red', isBold: true },
      { text: 'B', color: 'rgb(255,135,0)' },
      { text: 'C', color: 'rgb(1,2,3)' },
      { text: 'D', background: 'blue', isFaint: true, isItalic: true, isUnderlined: true },
      { text: 'E' },
      { text: 'F', color: 'bright-red' },
    ]);
  });

  test('parameters between colons mean the same', () => {
    assert.deepEqual(segmentsOf(terminalLine('\x1b[38:2::1:2:3mA\x1b[4:3mB')), [
      { text: 'A', color: 'rgb(1,2,3)' },
      { text: 'B', color: 'rgb(1,2,3)', isUnderlined: true },
    ]);
  });

  test('markup is text and nothing else', () => {
    for (const text of [
      '<img src=x onerror=alert(1)>',
      '</span><script>alert("1")</script>',
      '&lt;b&gt; &amp;lt; &#x27;',
      '<span style="color:rgb(1,2,3)" class="ansi-red-fg">x</span>',
    ]) {
      assert.deepEqual(segmentsOf(text), [{ text }]);
      assert.deepEqual(segmentsOf(`\x1b[32m${text}\x1b[0m`), [{ text, color: 'green' }]);
    }
  });

  test('links lead to pages and nowhere else', () => {
    const link = (address: string) => `\x1b]8;id=1;${address}\x1b\\größer\x1b]8;;\x1b\\ end`;
    assert.deepEqual(segmentsOf(link('https://example.com/a?b=1')), [
      { text: 'größer', href: 'https://example.com/a?b=1' },
      { text: ' end' },
    ]);
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'x',
      '//evil.example',
    ])
      assert.equal(segmentsOf(link(address))[0]?.href, undefined, address);
    assert.equal(plainText(link('https://example.com')), 'größer end');
  });

  test('a link within a progress line stays', () => {
    const [segment] = segmentsOf(terminalLine('old\r\x1b]8;;https://example.com\x07new\x1b]8;;\x07'));
    assert.deepEqual(segment, { text: 'new', href: 'https://example.com/' });
  });
});

describe('the style after a text', () => {
  test('what is switched on stays until something of its kind replaces it', () => {
    assert.equal(styleAfter('', '\x1b[1;31mA\x1b[32mB'), '\x1b[1m\x1b[32m');
    assert.equal(styleAfter('\x1b[31m', 'x\x1b[39my'), '');
    assert.equal(styleAfter('\x1b[31m', 'x\x1b[my'), '');
    assert.equal(styleAfter('', '\x1b[38;5;1;4mx'), '\x1b[38;5;1m\x1b[4m');
    assert.equal(styleAfter('', '\x1b[38;2;1;0;3mx'), '\x1b[38;2;1;0;3m');
  });
});
