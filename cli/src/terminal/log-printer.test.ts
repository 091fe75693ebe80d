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

describe('log', () => {
  it('is written to a terminal unchanged', async () => {
    const { log, bytes } = printer(true);
    await log.print({ text: '\u001b[32mgreen\u001b[0m\rover\n' });
    await log.print({ base64: Buffer.from([0xff, 0x00, 0x9b]).toString('base64') });
    assert.deepEqual(
      bytes(),
      Buffer.concat([Buffer.from('\u001b[32mgreen\u001b[0m\rover\n'), Buffer.from([0xff, 0x00, 0x9b])]),
    );
  });

  it('loses its colours elsewhere, even if a sequence is split', async () => {
    const { log, bytes } = printer(false);
    for (const part of ['\u001b[3', '2mgreen\u001b', '[0m, ě and', ' more\nnext ', 'line'])
      await log.print({ text: part });
    assert.equal(bytes().toString(), 'green, ě and more\n');
    await log.endLine();
    assert.equal(bytes().toString(), 'green, ě and more\nnext line\n');
  });

  it('keeps the order of text and of other bytes', async () => {
    const { log, bytes } = printer(false);
    await log.print({ text: 'a\u001b[0m' });
    await log.print({ base64: Buffer.from([0xfe]).toString('base64') });
    await log.print({ text: 'b\n' });
    assert.deepEqual(bytes(), Buffer.from([0x61, 0xfe, 0x62, 0x0a]));
  });

  it('is not held back if a line never ends', async () => {
    const { log, bytes } = printer(false);
    await log.print({ text: 'x'.repeat(100_000) });
    assert.equal(bytes().length, 100_000);
  });

  it('ends unfinished lines and their colours exactly once', async () => {
    const { log, bytes } = printer(true);
    await log.endLine();
    await log.print({ text: '\u001b[31mopen' });
    await log.endLine();
    await log.endLine();
    assert.equal(bytes().toString(), '\u001b[31mopen\u001b[0m\n');
  });
});
