import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LogPrinter } from './log-printer.ts';

function printer(hasColours: boolean) {
  const chunks: Buffer[] = [];
  const output = {
    hasColours,
    write: async (text: string | Uint8Array) => void chunks.push(Buffer.from(text as string)),
  };
  return { log: new LogPrinter(output), bytes: () => Buffer.concat(chunks) };
}

describe('a printed log', () => {
  it('a printed log keeps its colours on a terminal, and shows what a terminal would obey', async () => {
    const { log, bytes } = printer(true);
    await log.print({ text: '\u001b[32mgreen\u001b[0m\rover\u001b[2J\u001b]52;c;eA==\u0007\n' });
    await log.print({ base64: Buffer.from([0xff, 0x00, 0x9b]).toString('base64') });
    assert.equal(bytes().toString(), 'over\\x1b[2J\\x1b]52;c;eA==\\x07\n\\xff\\x00\\x9b');
  });

  it('a printed log is equally safe if a sequence is split', async () => {
    const { log, bytes } = printer(true);
    for (const text of [
      '\u001b',
      '[2',
      'J\u001b[',
      '8mhidden\u001b]0;',
      'title\u001b',
      '\\ \u001b[3',
      '1mred',
    ])
      await log.print({ text });
    await log.print({ text: '\r' });
    await log.print({ text: '\nnext\u001b' });
    await log.endLine();
    assert.equal(
      bytes().toString(),
      '\\x1b[2J\\x1b[8mhidden\\x1b]0;title\\x1b\\ \u001b[31mred\u001b[0m\n\u001b[31mnext\\x1b\u001b[0m\n',
    );
  });

  it('a printed log loses its colours elsewhere, even if a sequence is split', async () => {
    const { log, bytes } = printer(false);
    for (const part of ['\u001b[3', '2mgreen\u001b', '[0m, ě and', ' more\nnext ', 'line'])
      await log.print({ text: part });
    await log.endLine();
    assert.equal(bytes().toString(), 'green, ě and more\nnext line\n');
  });

  it('a printed log keeps the order of text and of other bytes', async () => {
    const { log, bytes } = printer(false);
    await log.print({ text: 'a\u001b[0m' });
    await log.print({ base64: Buffer.from([0xfe]).toString('base64') });
    await log.print({ text: 'b\n' });
    assert.equal(bytes().toString(), 'a\\xfeb\n');
  });

  it('a printed log is not held back if a line never ends', async () => {
    const { log, bytes } = printer(false);
    await log.print({ text: 'x'.repeat(100_000) });
    assert.equal(bytes().length, 100_000);
  });

  it('a printed log ends unfinished lines and their colours exactly once', async () => {
    const { log, bytes } = printer(true);
    await log.endLine();
    await log.print({ text: '\u001b[31mopen' });
    await log.endLine();
    await log.endLine();
    assert.equal(bytes().toString(), '\u001b[31mopen\u001b[0m\n');
    await log.print({ text: 'line\n\u001b[31m' });
    await log.endLine();
    assert.equal(bytes().toString(), '\u001b[31mopen\u001b[0m\nline\n\u001b[31m\u001b[0m');
  });
});
