import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { delegatedFolder, groupsIn, withCgroup } from '../../testing/cgroup.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './proc.ts';
import { createRunGroups, openRunGroups } from './run-groups.ts';

const limits = {
  processes: 100,
  openFiles: 100,
  fileBytes: 1,
  memoryBytes: 1_000_000_000,
  diskBytes: 1,
  reserveBytes: 0,
};

function start(t: TestContext, script: string): { child: ChildProcess; identity: ProcessIdentity } {
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  t.after(() => child.kill('SIGKILL'));
  const identity = identifyProcess(child.pid ?? 0);
  assert.ok(identity);
  return { child, identity };
}

test('everything that a runner started ends with its group', withCgroup, async (t) => {
  const folder = delegatedFolder(t);
  const groups = await openRunGroups({ folder, spoolId: 'spool', limits });
  assert.deepEqual(groupsIn(folder), []);
  const { child, identity: runner } = start(
    t,
    'read order; for i in 1 2 3; do (setsid sleep 1000 & setsid sh -c "trap : INT TERM HUP; while :; do sleep 0.01; done" &); done; sleep 0.1; echo started',
  );
  await groups.place(runner);
  child.stdin?.end('go\n');
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  await once(child, 'exit');
  const left = groups.members(runner);
  assert.ok(left.length >= 6, String(left));
  const identities = left.map((pid) => identifyProcess(pid)).filter((one) => one !== null);
  groups.removeIfEmpty(runner);
  assert.equal(groupsIn(folder).length, 1);
  await groups.end(runner);
  assert.deepEqual([identities.filter(isAlive), groupsIn(folder)], [[], []]);
  await groups.end(runner);
});

test('a group that is removed while it is being ended has ended', withCgroup, async (t) => {
  const folder = delegatedFolder(t);
  const groups = await openRunGroups({ folder, spoolId: 'spool', limits });
  const runners = Array.from({ length: 40 }, () => start(t, 'exec sleep 1000'));
  for (const { identity } of runners) await groups.place(identity);
  const ends = runners.map(({ child, identity }) => {
    child.once('exit', () => groups.removeIfEmpty(identity));
    child.kill('SIGKILL');
    return groups.end(identity);
  });
  await Promise.all(ends);
  assert.deepEqual(groupsIn(folder), []);
});

test('only groups of earlier runners of the same spool are ended', withCgroup, async (t) => {
  const folder = delegatedFolder(t);
  const own = await openRunGroups({ folder, spoolId: 'own', limits });
  const other = await openRunGroups({ folder, spoolId: 'other', limits });
  const [lost, kept, foreign] = [1, 2, 3].map(() => start(t, 'exec sleep 1000').identity);
  assert.ok(lost && kept && foreign);
  await own.place(lost);
  await own.place(kept);
  await other.place(foreign);
  // A run that may write to its group has divided it.
  mkdirSync(join(folder, groupsIn(folder).find((name) => name.includes(`-${lost.pid}-`)) ?? '', 'inner'));
  await own.endOthers([kept]);
  assert.deepEqual([lost, kept, foreign].map(isAlive), [false, true, true]);
  assert.deepEqual(
    groupsIn(folder).sort(),
    [
      `envarium-other-${foreign.pid}-${foreign.startTicks}`,
      `envarium-own-${kept.pid}-${kept.startTicks}`,
    ].sort(),
  );
});

test('a folder that is not a cgroup v2 folder is refused', async (t) => {
  const folder = temporaryFolder(t, 'groups-');
  const open = (path: string) => openRunGroups({ folder: path, spoolId: 'spool', limits });
  await assert.rejects(open(folder), /is not a cgroup v2 folder/);
  await assert.rejects(open(join(folder, 'absent')), /absent does not exist/);
});

test('the limits of a group are those of a run, with an allowance for its runner', async (t) => {
  const folder = temporaryFolder(t, 'groups-');
  const groups = createRunGroups({ folder, spoolId: 'spool', limits }, ['pids', 'memory']);
  await groups.place({ pid: 12, startTicks: '34', bootId: '' });
  const value = (file: string) => Number(readFileSync(join(folder, 'envarium-spool-12-34', file), 'utf8'));
  assert.equal(value('cgroup.procs'), 12);
  assert.ok(value('pids.max') > limits.processes && value('pids.max') < limits.processes + 200);
  assert.ok(value('memory.max') > limits.memoryBytes);
});
