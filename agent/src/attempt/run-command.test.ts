import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type CommandEnd, failureOf, maskedOutputSince, outputSince } from './run-command.ts';

const secret = 'planted-secret-0123456789';

test('the end of an output shows no part of a secret, wherever it begins', (t) => {
  const folder = temporaryFolder(t, 'output-');
  const log = join(folder, 'log');
  writeFileSync(log, `earlier ${secret} later ${secret}`);
  assert.equal(maskedOutputSince(log, 8, [secret]), '*** later ***');
  assert.equal(maskedOutputSince(log, 1000, [secret]), '');
  assert.equal(maskedOutputSince(join(folder, 'none'), 0, [secret]), '');
  for (let shown = 1; shown < secret.length; shown += 1) {
    writeFileSync(log, secret + 'x'.repeat(1_000_000 - shown));
    assert.ok(outputSince(log, 0).startsWith(secret.slice(-shown)));
    assert.match(maskedOutputSince(log, 0, [secret]), /^x{999000,}$/);
  }
});

test('the reason of a failure has the last text of a line of progress', () => {
  const progress = Array.from({ length: 400 }, (_, at) => `Receiving objects: ${at}%\r`).join('');
  const output = `Cloning into 'modules'...\r\n${progress}Receiving objects: 400%, done.\nfatal: early EOF\nResolving: 1%\rResolving: 2%\r`;
  const attempt = { stop: { reason: null }, order: {} } as unknown as AttemptContext;
  const end = { exitCode: 128, signal: null, stop: null, output: () => output } as unknown as CommandEnd;
  assert.equal(
    failureOf(attempt, end, 'git clone', () => null).message,
    "Cloning into 'modules'...\nReceiving objects: 400%, done.\nfatal: early EOF\nResolving: 2%",
  );
});
