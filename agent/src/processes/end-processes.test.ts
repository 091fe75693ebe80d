import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endProcessesOf, processesOf } from './end-processes.ts';

const uid = 58990;
const asRoot = { skip: process.getuid?.() === 0 ? false : 'needs root: only root can act for another user' };

test(
  'all processes of a uid are ended, including those in other sessions, and no others',
  asRoot,
  async () => {
    const children = [1, 2, 3].map(() =>
      spawn('/bin/sleep', ['1000'], { uid, gid: uid, detached: true, stdio: 'ignore' }),
    );
    const bystander = spawn('/bin/sleep', ['1000'], { uid: uid + 1, gid: uid + 1, stdio: 'ignore' });
    const ends = children.map((child) => once(child, 'exit'));
    assert.equal(processesOf(uid).length, 3);
    await endProcessesOf(uid);
    assert.deepEqual(
      (await Promise.all(ends)).map(([, signal]) => signal),
      ['SIGKILL', 'SIGKILL', 'SIGKILL'],
    );
    assert.deepEqual(processesOf(uid), []);
    assert.equal(bystander.exitCode, null);
    bystander.kill('SIGKILL');
    await once(bystander, 'exit');
  },
);

test('the processes of root are never ended', async () => {
  await assert.rejects(endProcessesOf(0), /refusing/);
});
