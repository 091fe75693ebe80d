import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { watchWaitedCpu } from './waited-cpu.ts';

const run = promisify(execFile);
const burn = (milliseconds: number) =>
  run(process.execPath, [
    '-e',
    `while (process.cpuUsage().user + process.cpuUsage().system < ${milliseconds} * 1000);`,
  ]);

test('the processor time of a command counts once, not for a command that ran at the same time', async () => {
  const long = watchWaitedCpu();
  const short = watchWaitedCpu();
  await burn(300);
  const first = short();
  await burn(200);
  const second = long();
  assert.ok(first >= 280 && first < 600, `the first one used ${first} ms`);
  assert.ok(second >= 180 && second < 450, `the second one used ${second} ms`);
});

test('a command that waits uses next to no processor time', async () => {
  const cpu = watchWaitedCpu();
  await run('sleep', ['0.3']);
  assert.ok(cpu() <= 50);
});
