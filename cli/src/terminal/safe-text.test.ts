import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { plain, SafeText, safeJson, safeText } from './safe-text.ts';

/** Characters that a terminal could obey, besides line ends, tabs and colours. */
const attacks: Readonly<Record<string, string>> = {
  title: '\u001b]0;owned\u0007',
  clipboard: '\u001b]52;c;cm0gLXJmIH4=\u001b\\',
  'file transfer': '\u001b]1337;File=name=eA==:eA==\u0007',
  link: '\u001b]8;;https://evil.example\u001b\\text\u001b]8;;\u001b\\',
  DCS: '\u001bP$q"p\u001b\\',
  APC: '\u001b_Gi=1;AAAA\u001b\\',
  'report of the cursor': '\u001b[6n',
  'cleared screen': '\u001b[2J\u001b[H',
  'alternate screen': '\u001b[?1049h',
  'reset of the terminal': '\u001bc',
  'hidden text': '\u001b[8m',
  'hidden text among colours': '\u001b[31;08;1m',
  'hidden text after a colour': '\u001b[38;5;1;8m',
  'hidden text after an incomplete colour': '\u001b[38;2;8m',
  blinking: '\u001b[5m',
  'private mode that ends in m': '\u001b[>4;2m',
  'C1 CSI': '\u009b2J',
  'C1 OSC': '\u009d0;owned\u009c',
  backspace: 'no\b\byes',
  bell: '\u0007',
  'shift out': '\u000e',
  delete: '\u007f',
  override: 'a\u202Egnp.exe',
  isolate: '\u2066x\u2069',
  'line separator': '\u2028',
};

const colour = /\u001b\[[\d;]*m/g;
const dangerous = /[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\n\t]]/v;
/** A sequence that hides what follows, however it is written. */
const hides = (text: string) =>
  (text.match(colour) ?? []).some((sequence) =>
    sequence
      .slice(2, -1)
      .replaceAll(/[34]8;(5;\d+|2;\d+;\d+;\d+)/g, '')
      .split(';')
      .some((one) => [5, 6, 8].includes(Number(one))),
  );

function assertSafe(text: string): void {
  assert.doesNotMatch(text.replaceAll(colour, ''), dangerous, JSON.stringify(text));
  assert.ok(!hides(text), JSON.stringify(text));
}

/** Pieces of which attacks are made, and any other text. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...Object.values(attacks)),
      fc.constantFrom('\u001b', '[', ']', '8', ';', 'm', '38', '5', '\r', '\n', '\u009b', '\u001b[31m', 'x'),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('text of others', () => {
  for (const [name, attack] of Object.entries(attacks)) {
    it(`text of others does not do what it says on a terminal: ${name}`, () => {
      const shown = safeText(`before ${attack} after`, true);
      assertSafe(shown);
      assert.match(shown, /^before .*\\[xu][0-9a-f]{2}.* after$/);
      assertSafe(safeText(attack));
      assertSafe(plain(attack));
    });
  }

  it('a carriage return ends a line of others and overwrites nothing', () => {
    assert.equal(safeText('good\rover\r\n', true), 'good\nover\n');
    assert.equal(plain('good\rover'), 'good over');
  });

  it('text of others shows control characters by their codes', () => {
    assert.equal(
      safeText('\u001b[2J\u001b]52;c;x\u0007\r\u009b\u202e', true),
      '\\x1b[2J\\x1b]52;c;x\\x07\n\\u009b\\u202e',
    );
    assert.equal(safeText('\u001b[8mhidden\u001b[0m'), '\\x1b[8mhidden');
    assert.equal(
      safeText(Buffer.from([0xff, 0x61, 0x9b, 0xc2, 0x9b, 0xc4, 0x9b, 0xc4])),
      '\\xffa\\x9b\\u009bě\\xc4',
    );
  });

  it('text of others keeps line ends, tabs, letters of all languages and colours', () => {
    const text =
      '\u001b[1;31mred\u001b[0m\tě 日本 العربية 👩‍👩‍👧\u001b[38;5;8mgrey\u001b[38;2;8;8;8mx\u001b[m\n';
    assert.equal(safeText(text, true), text);
    assert.equal(safeText(text), 'red\tě 日本 العربية 👩‍👩‍👧greyx\n');
    assert.equal(safeText('one\r\ntwo\r\n'), 'one\ntwo\n');
  });

  it('text of others ends colours at the end of each line and of the text', () => {
    assert.equal(
      safeText('\u001b[31mred\n\u001b[1mnext\u001b[0m\nlast', true),
      '\u001b[31mred\u001b[0m\n\u001b[31m\u001b[1mnext\u001b[0m\nlast',
    );
    const long = '\u001b[31m'.repeat(1000);
    assert.equal(safeText(`${long}\n\n`, true), `${long}\u001b[0m\n\n`);
    assert.equal(safeText('\u001b[31mred', true), '\u001b[31mred\u001b[0m');
  });

  it('text of others is one line, without colours, if it is a name', () => {
    assert.equal(plain('\u001b[1mbold\u001b[0m\r\nnext\t1\u001b]0;x\u0007'), 'bold next 1\\x1b]0;x\\x07');
  });

  it('text of others has no control character besides line ends, tabs and colours, whatever comes', () => {
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, hasColours) => {
        const shown = safeText(text, hasColours);
        assertSafe(shown);
        if (!hasColours) assert.doesNotMatch(shown, colour);
        assert.equal(safeText(shown, hasColours), shown, 'what is safe stays as it is');
        assert.doesNotMatch(plain(text), /[\n\t]/);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => assertSafe(safeText(bytes, true))),
      { numRuns: 2_000 },
    );
  });

  it('text of others is the same however its chunks are cut', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat({ max: 6 })), fc.boolean(), (text, lengths, hasColours) => {
        const safe = new SafeText(hasColours);
        let shown = '';
        let at = 0;
        for (const length of lengths) {
          shown += safe.push(text.slice(at, at + length));
          assertSafe(shown);
          at += length;
        }
        assert.equal(shown + safe.push(text.slice(at)) + safe.end(), safeText(text, hasColours));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('JSON', () => {
  it('JSON holds no control character, and the same values', () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, hostile), fc.boolean(), (value, isIndented) => {
        const text = safeJson(value, isIndented ? 2 : undefined);
        assert.doesNotMatch(text, dangerous);
        assert.doesNotMatch(text, /\t/);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      }),
    );
    assert.equal(safeJson('\u009b\u202e\u007f'), '"\\u009b\\u202e\\u007f"');
  });
});
