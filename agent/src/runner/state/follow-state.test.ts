import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { createSetup } from '../../../testing/runner-setup.ts';
import { drivers } from '../../drivers/index.ts';
import { createWorkFolder, workFolderPaths } from '../../slots/work-folder.ts';
import { spoolPaths } from '../../spool/layout.ts';
import { TreeLender } from '../tree/tree-lender.ts';
import { StateFollower } from './follow-state.ts';

const name = 'terraform.tfstate';
const state = (serial: number, lineage = 'own') =>
  JSON.stringify({ version: 4, serial, lineage, outputs: {}, resources: [], check: 'x'.repeat(5_000) });

/** State files of a tool, and their followers. */
function prepare(t: TestContext) {
  const { workFolder, slotUid, isolation, folder } = createSetup(t, { readme: 'x' });
  const lender = new TreeLender();
  const folders = workFolderPaths(workFolder, { type: 'deploy', environmentId: 'one', deploymentId: 'd' });
  createWorkFolder(folders, slotUid);
  const spool = spoolPaths(join(folder, 'spool', 'job-1'));
  for (const each of [spool.folder, spool.inputs, spool.states]) mkdirSync(each, { mode: 0o700 });
  const tree = lender.lend({ isolation, workFolder, slotUid }, folders);
  t.after(async () => {
    await tree[Symbol.asyncDispose]();
    await lender[Symbol.asyncDispose]();
  });
  const { read, file } = drivers.terraform?.state ?? assert.fail('terraform has a state');
  const capability = { read, rescueFile: file?.rescueFile ?? assert.fail('in a file') };
  const write = (file: string, content: string) => {
    writeFileSync(file, content);
    chmodSync(file, 0o644);
  };
  return {
    spool,
    follow: () =>
      new StateFollower({
        spool,
        state: capability,
        stateFolder: folders.state,
        stateFile: name,
        configurationFolder: folders.tree,
        tree,
      }),
    write: (content: string) => write(join(folders.state, name), content),
    truncate: (bytes: number) => truncateSync(join(folders.state, name), bytes),
    leaveRescued: (content: string) => write(join(folders.tree, capability.rescueFile), content),
    copies: () =>
      readdirSync(spool.states)
        .sort()
        .map((each) => [each, serialOf(readFileSync(join(spool.states, each), 'utf8'))]),
  };
}

function serialOf(content: string): number {
  return (JSON.parse(content) as { serial: number }).serial;
}

test('a state that is empty, truncated or half written is not copied, and the complete one is', async (t) => {
  const { follow, write, truncate, copies } = prepare(t);
  await using follower = follow();
  write('');
  assert.equal(await follower.copyLast(), null, 'OpenTofu begins with an empty file');
  write(state(1));
  assert.equal((await follower.copyLast())?.serial, 1);
  for (const bytes of [4_000, 1, 0]) {
    write(state(2));
    truncate(bytes);
    assert.equal((await follower.copyLast())?.serial, 1);
  }
  assert.deepEqual(copies(), [['1.tfstate', 1]]);
  write(state(2));
  assert.equal((await follower.copyLast())?.serial, 2);
  write(state(3));
  assert.equal((await follower.copyLast())?.serial, 3);
  assert.equal((await follower.copyLast())?.serial, 3, 'the same again is one copy');
  assert.deepEqual(copies(), [
    ['2.tfstate', 2],
    ['3.tfstate', 3],
  ]);
});

test('a state is copied between two writes in place, without any request', async (t) => {
  const { follow, write, truncate, copies } = prepare(t);
  await using follower = follow();
  write(state(1));
  await follower.start();
  await until('a copy of the state', () => copies().length > 0);
  write(state(2));
  truncate(100);
  assert.equal((await follower.copyLast())?.serial, 1);
});

test('a rescued state of the tool counts only if it is complete, newer and of the same lineage', async (t) => {
  const { follow, write, leaveRescued, copies } = prepare(t);
  await using follower = follow();
  write(state(2));
  for (const other of [state(1), state(9, 'other'), state(9).slice(0, -10), '']) {
    leaveRescued(other);
    assert.equal((await follower.copyLast())?.serial, 2, other.slice(0, 40));
  }
  leaveRescued(state(3));
  assert.equal((await follower.copyLast())?.serial, 3);
  assert.deepEqual(copies(), [
    ['1.tfstate', 2],
    ['2.tfstate', 3],
  ]);
});

test('a follower continues after the copies of an earlier one, and copies the input of the attempt no more', async (t) => {
  const { spool, follow, write, copies } = prepare(t);
  writeFileSync(spool.inputState, state(4));
  write(state(4));
  await using first = follow();
  const unchanged = await first.copyLast();
  assert.deepEqual([unchanged?.serial, unchanged?.isNew, copies()], [4, false, []]);
  write(state(5));
  await first.copyLast();
  await using second = follow();
  assert.equal((await second.copyLast())?.isNew, true);
  write(state(6));
  await second.copyLast();
  assert.deepEqual(copies(), [
    ['1.tfstate', 5],
    ['2.tfstate', 6],
  ]);
});

test('a state that was written again as it was is known to be written', async (t) => {
  const { spool, follow, write, truncate, copies } = prepare(t);
  writeFileSync(spool.inputState, state(4));
  write(state(4));
  await using follower = follow();
  await follower.start();
  await follower.copyLast();
  assert.equal(follower.isWritten, false, 'no one has written it');
  truncate(100);
  await follower.copyLast();
  assert.equal(follower.isWritten, false, 'what is torn was not written');
  write(state(4));
  assert.equal((await follower.copyLast())?.isNew, false);
  assert.equal(follower.isWritten, true);
  assert.deepEqual(copies(), []);
});
