import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { until } from '../../../tools/suite/until.ts';
import { endProcessesOf, endStrandedSandboxes, processesOf } from './end-processes.ts';
import { identifyProcess, isAlive, killProcess } from './proc.ts';
import { findProgram } from './programs.ts';

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

const python = findProgram('python3');

/**
 * Its first thread has ended, so that it is shown as a zombie, and its others kill every process of their user
 * that they find.
 */
const survivor = `
import ctypes, os, signal, threading
def hunt():
    own = os.getpid()
    while True:
        for name in os.listdir('/proc'):
            if name.isdigit() and int(name) != own:
                try:
                    if os.stat('/proc/' + name).st_uid == os.getuid(): os.kill(int(name), signal.SIGKILL)
                except OSError: pass
for _ in range(10): threading.Thread(target=hunt).start()
print('hunting', flush=True)
ctypes.CDLL(None).pthread_exit(None)
`;

test('a process that hides as a zombie and kills what its user starts is ended, each of 20 times', {
  skip: asRoot.skip || (python === null ? 'needs python3' : false),
}, async () => {
  for (let count = 0; count < 20; count++) {
    const child = spawn(python ?? '', ['-c', survivor], {
      uid,
      gid: uid,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const end = once(child, 'exit');
    await once(child.stdout, 'data');
    await endProcessesOf(uid);
    assert.deepEqual(processesOf(uid), []);
    const [, signal] = (await Promise.race([end, delay(5_000, [])])) as [unknown, unknown];
    assert.equal(signal, 'SIGKILL');
  }
});

test('the processes of root are never ended', async () => {
  await assert.rejects(endProcessesOf(0), /refusing/);
});

const bubblewrap = findProgram('bwrap');

test('what bubblewrap leaves when it is killed is ended, if it is of this agent and no one waits for it', {
  skip: bubblewrap === null ? 'needs bubblewrap' : asRoot.skip,
}, async (t) => {
  const folder = temporaryFolder(t, 'stranded-');
  const start = async (name: string) => {
    const filter = join(folder, name);
    writeFileSync(filter, '');
    const descriptor = openSync(filter, 'r');
    // Without --as-pid-1, the process inside is bubblewrap's own.
    const args = [
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--unshare-pid',
      '--sync-fd',
      '3',
      '--',
      'sleep',
      '1000',
    ];
    const outer = spawn(bubblewrap ?? '', args, { stdio: ['ignore', 'ignore', 'inherit', descriptor] });
    closeSync(descriptor);
    let inner = 0;
    const childOf = (pid: number) =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
    await until('the start of the sandbox', () => {
      inner = childOf(outer.pid ?? 0);
      return inner !== 0 && childOf(inner) !== 0;
    });
    const identity = identifyProcess(inner);
    t.after(() => {
      outer.kill('SIGKILL');
      if (identity !== null) killProcess(identity);
    });
    return { filter, outer, isThere: () => identity !== null && isAlive(identity) };
  };
  const [stranded, foreign, living] = [await start('a'), await start('b'), await start('c')];
  for (const { outer } of [stranded, foreign]) {
    outer.kill('SIGKILL');
    await once(outer, 'exit');
  }
  for (const { filter } of [stranded, living]) endStrandedSandboxes(filter);
  await until('the end of the stranded sandbox', () => !stranded.isThere());
  assert.deepEqual([foreign.isThere(), living.isThere()], [true, true]);
});
