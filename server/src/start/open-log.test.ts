import assert from 'node:assert/strict';
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const module = new URL('./open-log.ts', import.meta.url).href;

/** Writes to stdout and to the log, and answers over IPC while it still can. */
const program = `
import { setTimeout as delay } from 'node:timers/promises';
const { openLog } = await import(${JSON.stringify(module)});
const log = openLog('info');
for (let line = 0; line < 100; line++) {
  process.stdout.write('a sentence\\n');
  log.info({ line, text: 'x'.repeat(1000) }, 'a line');
  await delay(1);
}
process.send('alive', () => process.disconnect());
`;

async function run(stdio: StdioOptions): Promise<{ code: unknown; messages: unknown[] }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio });
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  const [code] = (await once(child, 'exit')) as [unknown];
  return { code, messages };
}

test('a log on a full disk does not end the service', async () => {
  const full = openSync('/dev/full', 'w');
  try {
    assert.deepEqual(await run(['ignore', full, full, 'ipc']), { code: 0, messages: ['alive'] });
  } finally {
    closeSync(full);
  }
});

test('a log that could not be written for a while is written again afterwards', async () => {
  const late = `
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
const { openLog } = await import(${JSON.stringify(module)});
const file = process.argv[1];
closeSync(2);
if (openSync('/dev/full', 'w') !== 2) throw new Error('stderr is another descriptor');
const log = openLog('info');
for (let line = 0; line < 6000; line++) log.info({ text: 'x'.repeat(1000) }, 'kept or dropped');
closeSync(2);
if (openSync(file, 'w') !== 2) throw new Error('stderr is another descriptor');
log.info('the space is free again');
log.info('last');
process.send(readFileSync(file, 'utf8').length > 3_000_000 && readFileSync(file, 'utf8').includes('"last"'));
process.disconnect();
`;
  const folder = mkdtempSync(join(tmpdir(), 'envarium-log-'));
  try {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', late, join(folder, 'log')], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const [message] = (await once(child, 'message')) as [unknown];
    assert.equal(message, true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
