import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { identifyProcess } from '../processes/proc.ts';
import { spoolPaths } from '../spool/layout.ts';
import { createWorkFolder, workFolderPaths } from './work-folder.ts';
import {
  clearWorkFolder,
  isOwn,
  releaseWorkFolder,
  removeOwnWorkFolder,
  requireOwn,
  takeWorkFolder,
} from './work-folder-owner.ts';

const [first, second] = [
  { jobId: 'first', attempt: 1 },
  { jobId: 'second', attempt: 1 },
];

/** A folder that another process has taken for the first attempt. */
async function takenByOther(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'owner-'));
  const runner: ChildProcess = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(runner, 'spawn');
  t.after(() => {
    runner.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const workFolder = join(folder, 'work');
  const paths = workFolderPaths(workFolder, { type: 'deploy', environmentId: 'e', deploymentId: 'd' });
  const spool = spoolPaths(join(folder, 'spool'));
  mkdirSync(spool.folder);
  createWorkFolder(paths, null);
  takeWorkFolder(paths, first, spool.folder);
  const owner = JSON.parse(readFileSync(paths.owner, 'utf8')) as object;
  writeFileSync(paths.owner, JSON.stringify({ ...owner, runner: identifyProcess(runner.pid ?? 0) }));
  writeFileSync(join(paths.state, 'state'), 'of the first');
  const end = async () => {
    runner.kill('SIGKILL');
    await once(runner, 'exit');
  };
  return { workFolder, paths, spool, end };
}

test('a folder in which another agent changes resources is neither replaced nor removed', async (t) => {
  const { workFolder, paths, spool, end } = await takenByOther(t);
  writeFileSync(spool.mark, '{}');
  writeFileSync(spool.markStored, '');
  assert.deepEqual([isOwn(paths, first), isOwn(paths, second)], [true, false]);
  assert.throws(() => requireOwn(paths, second), /another attempt has taken .*ENVARIUM_WORK_DIR/);
  assert.throws(() => clearWorkFolder(paths, second), /still changes resources in .*ENVARIUM_WORK_DIR/);
  removeOwnWorkFolder(paths, second);
  assert.equal(readFileSync(join(paths.state, 'state'), 'utf8'), 'of the first');
  await end();
  clearWorkFolder(paths, second);
  assert.deepEqual(readdirSync(workFolder), ['e.kept-first-1'], 'what a lost run has left is kept');
  assert.equal(readFileSync(join(workFolder, 'e.kept-first-1', 'state', 'state'), 'utf8'), 'of the first');
});

test('an apply whose start the service has not agreed to loses its folder to the next attempt', async (t) => {
  const { workFolder, paths, spool } = await takenByOther(t);
  writeFileSync(spool.mark, '{}');
  clearWorkFolder(paths, second);
  assert.deepEqual(readdirSync(workFolder), ['e.kept-first-1']);
  createWorkFolder(paths, null);
  takeWorkFolder(paths, second, spool.folder);
  assert.throws(() => requireOwn(paths, first), /another attempt has taken/);
});

test('a folder of a plan that another attempt replaces is moved away, and its run removes nothing', async (t) => {
  const { workFolder, paths, spool } = await takenByOther(t);
  clearWorkFolder(paths, second);
  assert.deepEqual(readdirSync(workFolder), []);
  createWorkFolder(paths, null);
  takeWorkFolder(paths, second, spool.folder);
  removeOwnWorkFolder(paths, first);
  assert.ok(existsSync(paths.tree));
  assert.throws(() => createWorkFolder(paths, null), /EEXIST/);
  removeOwnWorkFolder(paths, second);
  assert.deepEqual(readdirSync(workFolder), []);
});

test('what an attempt with an outcome has left is removed, and an apply continues the folder of its plan', async (t) => {
  const { workFolder, paths, spool } = await takenByOther(t);
  const approved = { continues: { ...first, fence: 1 } } as never;
  assert.ok(isOwn(paths, { ...second, approved }));
  writeFileSync(spool.mark, '{}');
  writeFileSync(spool.outcome, '{}');
  releaseWorkFolder(paths);
  clearWorkFolder(paths, second);
  assert.deepEqual(readdirSync(workFolder), []);
  createWorkFolder(paths, null);
  assert.ok(isOwn(paths, second), 'one without an owner is free');
});
