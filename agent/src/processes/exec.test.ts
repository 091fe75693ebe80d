import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { until } from '../../../tools/suite/until.ts';
import { execute } from './exec.ts';
import { findProgram } from './programs.ts';
import type { StopReason } from './stop-reason.ts';

/** Records each interrupt, and ends half a second after the first. */
const counting = `import { appendFileSync } from 'node:fs';
const note = (text) => appendFileSync(process.argv[2], text);
process.on('SIGINT', () => { note('interrupt\\n'); setTimeout(() => { note('end\\n'); process.exit(7); }, 500); });
setInterval(() => {}, 60_000);
note('start\\n');
`;

/** A process that runs one command as a runner does, with several threads. */
const running = `const { execute } = await import(${JSON.stringify(import.meta.resolve('./exec.ts'))});
const [program, script, notes, log] = process.argv.slice(2);
await execute({ program, args: [script, notes], cwd: '/', environment: {}, uid: null, log, abortSeconds: 5, isInterruptedOnce: true,
  stop: { reason: null, throwIfStopped() {}, onStop: () => () => {} } });
`;

const needed = {
  skip:
    findProgram('setpriv') && findProgram('timeout')
      ? false
      : 'needs setpriv (package util-linux) and timeout (package coreutils)',
};

function folderFor(t: TestContext): string {
  const folder = temporaryFolder(t, 'exec-');
  writeFileSync(join(folder, 'counting.mjs'), counting);
  writeFileSync(join(folder, 'running.mjs'), running);
  return folder;
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

test(
  'a killed runner interrupts its tool exactly once, as a second interrupt would lose the state',
  needed,
  async (t) => {
    const folder = folderFor(t);
    const once = async (name: string) => {
      const notes = join(folder, name);
      const args = ['running.mjs', process.execPath, join(folder, 'counting.mjs'), notes, `${notes}.log`];
      const runner = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
      await until('the start', () => textOf(notes).includes('start'));
      runner.kill('SIGKILL');
      await until('the end', () => textOf(notes).includes('end'));
      return textOf(notes);
    };
    const notes: string[] = [];
    for (let count = 0; count < 12; count += 4)
      notes.push(...(await Promise.all([1, 2, 3, 4].map((each) => once(`notes-${count + each}`)))));
    assert.deepEqual(new Set(notes), new Set(['start\ninterrupt\nend\n']));
  },
);

test('a stop interrupts the tool once and reports how it ended', needed, async (t) => {
  const folder = folderFor(t);
  const notes = join(folder, 'notes');
  let tell: ((reason: StopReason) => void) | undefined;
  const reason: StopReason = { how: 'gently', result: 'aborted', message: 'stopped' };
  const stop = {
    reason: null,
    throwIfStopped: () => undefined,
    onStop: (listener: (reason: StopReason) => void) => ((tell = listener), () => undefined),
  };
  const request = {
    program: process.execPath,
    args: [join(folder, 'counting.mjs'), notes],
    cwd: folder,
    environment: {},
    uid: null,
  };
  const ended = execute({
    ...request,
    isInterruptedOnce: true,
    log: join(folder, 'log'),
    abortSeconds: 10,
    stop: stop as never,
  });
  await until('the start', () => textOf(notes).includes('start'));
  tell?.(reason);
  const { exitCode, signal, stop: why } = await ended;
  assert.deepEqual([exitCode, signal, why], [7, null, reason]);
  assert.equal(textOf(notes), 'start\ninterrupt\nend\n');
});

test('a zero character in a variable is named without its value, also outside of a sandbox', async (t) => {
  const log = join(folderFor(t), 'log');
  const stop = { reason: null, throwIfStopped: () => undefined, onStop: () => () => undefined } as never;
  const request = { program: process.execPath, args: ['--version'], cwd: '/', uid: null, log, stop };
  await assert.rejects(execute({ ...request, environment: { TOKEN: 'planted\0' }, abortSeconds: 1 }), {
    message: 'TOKEN: an environment variable cannot hold a zero character',
  });
});

test('the end of a tool is reported with its exit code or signal', needed, async (t) => {
  const folder = folderFor(t);
  const run = (script: string) => {
    const stop = { reason: null, throwIfStopped: () => undefined, onStop: () => () => undefined } as never;
    const request = {
      program: process.execPath,
      args: ['--eval', script],
      cwd: folder,
      environment: {},
      uid: null,
    };
    return execute({ ...request, isInterruptedOnce: true, log: join(folder, 'log'), abortSeconds: 1, stop });
  };
  assert.equal((await run('process.exit(3)')).exitCode, 3);
  const { exitCode, signal } = await run('process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)');
  assert.deepEqual([exitCode, signal], [null, 'SIGKILL']);
});
