import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { until } from '../../../../tools/suite/until.ts';
import { createSetup, notIsolated, withBubblewrap } from '../../../testing/runner-setup.ts';
import { pidsWhere, statOf } from '../../processes/proc.ts';
import { createWorkFolder, keepTree, reopenWorkFolder, workFolderPaths } from '../../slots/work-folder.ts';
import { TreeLender } from './tree-lender.ts';

const uid = process.getuid?.() === 0 ? 58991 : null;

function prepare(t: TestContext) {
  const folder = temporaryFolder(t, 'tree-');
  execFileSync('/bin/chmod', ['0711', folder]);
  const root = join(folder, 'root');
  mkdirSync(root, { mode: 0o700 });
  if (uid !== null) chownSync(root, uid, uid);
  writeFileSync(join(folder, 'secret'), 'secret', { mode: 0o600 });
  return { folder, root };
}

/** An empty file of the run. */
function writeOwn(folder: string, name: string): string {
  const file = join(folder, name);
  writeFileSync(file, '');
  if (uid !== null) chownSync(file, uid, uid);
  return file;
}

/** A client of a process without a sandbox. @param tree of the code; absent: there is none */
function openTree(t: TestContext, root: string, tree?: string) {
  const lender = new TreeLender();
  t.after(() => lender[Symbol.asyncDispose]());
  const order = { isolation: notIsolated, slotUid: uid, workFolder: dirname(root) };
  return lender.lend(order, { root, ...(tree === undefined ? {} : { tree }) });
}

/** The process id of the server of this process, as soon as there is one. */
async function serverPid(): Promise<number> {
  let found: number | undefined;
  await until('the server', () => {
    [found] = pidsWhere(
      (pid) =>
        statOf(pid)?.parent === process.pid &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('tree-server'),
    );
    return found !== undefined;
  });
  return found ?? 0;
}

test('the tree server reads, writes, lists and removes files below its root as the slot', async (t) => {
  const { root } = prepare(t);
  await using tree = openTree(t, root);
  await tree.write(root, 'deep/er/file', 'content', 0o600);
  await tree.write(root, 'deep/er/file', 'changed', 0o600);
  assert.equal(Buffer.from((await tree.read(root, 'deep/er/file', 100)) ?? []).toString(), 'changed');
  if (uid !== null) assert.equal(statSync(join(root, 'deep/er/file')).uid, uid);
  assert.equal(statSync(join(root, 'deep/er/file')).mode & 0o777, 0o600);
  assert.deepEqual(await tree.list(root, 'deep/er'), ['file']);
  assert.equal(await tree.kind(root, 'deep'), 'folder');
  assert.equal(await tree.kind(root, 'deep/er/file'), 'file');
  assert.equal(await tree.kind(root, 'nothing'), 'none');
  assert.equal(await tree.read(root, 'nothing', 100), null);
  await tree.remove(root, 'deep');
  assert.deepEqual(await tree.list(root, ''), []);
});

test('the tree server makes and reads symbolic links, but not through links out of its root', async (t) => {
  const { root, folder } = prepare(t);
  await using tree = openTree(t, root);
  await tree.link(root, 'deep/link', '/elsewhere');
  assert.equal(await tree.target(root, 'deep/link'), '/elsewhere');
  assert.equal(await tree.target(root, 'deep'), null);
  assert.equal(await tree.target(root, 'nothing'), null);
  await assert.rejects(tree.link(root, 'deep/link', '/other'), /EEXIST/);
  symlinkSync(folder, join(root, 'out'));
  await assert.rejects(tree.link(root, 'out/planted', '/etc'), /leads outside/);
  await assert.rejects(tree.target(root, 'out/root'), /leads outside/);
});

test('large files are copied out in pieces', async (t) => {
  const { root, folder } = prepare(t);
  await using tree = openTree(t, root);
  const content = Buffer.alloc(9_000_000, 'x');
  await tree.write(root, 'large', content);
  const unlimited = { bytes: Infinity, stop: { throwIfStopped: () => {} } };
  assert.equal(await tree.copyOut(root, 'large', join(folder, 'copy'), unlimited), content.length);
  assert.ok(readFileSync(join(folder, 'copy')).equals(content));
  await assert.rejects(tree.read(root, 'large', 1000), /at most 1000/);
});

test('a copy ends at its limit and when the run is stopped', async (t) => {
  const { root, folder } = prepare(t);
  await using tree = openTree(t, root);
  // Without a block on the disk.
  truncateSync(writeOwn(root, 'endless'), 2 ** 40);
  const copy = join(folder, 'copy');
  const limits = { bytes: 10_000_000, stop: { throwIfStopped: () => {} } };
  const copied = await tree.copyOut(root, 'endless', copy, limits);
  assert.ok(copied !== null && copied > 10_000_000 && copied < 20_000_000, String(copied));
  assert.equal(statSync(copy).size, copied);
  let pieces = 0;
  const throwIfStopped = () => {
    pieces += 1;
    if (pieces === 2) throw new Error('stopped');
  };
  await assert.rejects(
    tree.copyOut(root, 'endless', copy, { bytes: Infinity, stop: { throwIfStopped } }),
    /^Error: stopped$/,
  );
});

test('a link that leads out of the root is followed neither for reading nor for writing', async (t) => {
  const { root, folder } = prepare(t);
  symlinkSync(join(folder, 'secret'), join(root, 'link'));
  symlinkSync(folder, join(root, 'up'));
  symlinkSync(join(folder, 'nowhere'), join(root, 'dangling'));
  await using tree = openTree(t, root);
  await assert.rejects(tree.read(root, 'link', 100), /symbolic link|permission/);
  await assert.rejects(tree.read(root, 'up/secret', 100), /symbolic link|permission/);
  await assert.rejects(tree.write(root, 'up/planted', 'x'), /symbolic link/);
  await assert.rejects(tree.read(root, '../secret', 100), /leaves its folder/);
  assert.equal(await tree.kind(root, 'up'), 'outside');
  assert.equal(await tree.kind(root, 'dangling'), 'outside');
  await tree.write(root, 'link', 'own');
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret');
  assert.equal(readFileSync(join(root, 'link'), 'utf8'), 'own');
});

test('links that stay inside the root are followed', async (t) => {
  const { root } = prepare(t);
  await using tree = openTree(t, root);
  await tree.write(root, 'real/file', 'x');
  symlinkSync('real', join(root, 'alias'));
  assert.equal(await tree.kind(root, 'alias'), 'folder');
  assert.equal(Buffer.from((await tree.read(root, 'alias/file', 10)) ?? []).toString(), 'x');
});

test('links and paths in a folder of the code may lead anywhere in the repository, and not out of it', async (t) => {
  const { root, folder } = prepare(t);
  await using tree = openTree(t, folder, root);
  const app = join(root, 'stacks/app');
  await tree.write(root, 'common.tf', 'common');
  await tree.write(root, 'shared/deep.tf', 'deep');
  await tree.write(root, 'stacks/app/main.tf', 'main');
  await tree.link(app, 'common.tf', '../../common.tf');
  await tree.link(app, 'shared', '../../shared');
  await tree.link(root, 'alias', 'stacks/app');
  await tree.link(app, 'secret', '../../../secret');
  await tree.link(app, 'absolute', join(folder, 'secret'));
  await tree.link(app, 'above', '../../..');
  const text = async (within: string, name: string) =>
    Buffer.from((await tree.read(within, name, 100)) ?? []).toString();
  assert.deepEqual(
    [
      await text(app, 'common.tf'),
      await text(app, 'shared/deep.tf'),
      await text(app, '../../common.tf'),
      await text(join(root, 'alias'), 'common.tf'),
    ],
    ['common', 'deep', 'common', 'common'],
  );
  await tree.write(app, 'shared/written', 'x');
  assert.deepEqual(await tree.list(root, 'shared'), ['deep.tf', 'written']);
  for (const name of ['secret', 'absolute', 'above/secret'])
    await assert.rejects(
      tree.read(app, name, 100),
      /leads outside the repository through a symbolic link|permission/,
    );
  await assert.rejects(tree.read(app, '../../../secret', 100), /leaves its folder/);
  await assert.rejects(tree.write(app, 'above/planted', 'x'), /leads outside the repository/);
  assert.equal(await tree.kind(app, 'above'), 'outside');
});

test('the tree server does not hang on a named pipe', async (t) => {
  const { root } = prepare(t);
  execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')]);
  execFileSync('/bin/chmod', ['0666', join(root, 'pipe')]);
  await using tree = openTree(t, root);
  await assert.rejects(tree.read(root, 'pipe', 10), /not a file/);
});

test('a request after the server process was killed is rejected with that reason', async (t) => {
  const { root } = prepare(t);
  await using tree = openTree(t, root);
  await tree.list(root, '');
  process.kill(await serverPid(), 'SIGKILL');
  await assert.rejects(tree.list(root, ''), /has ended/);
});

test('a server process that is stopped is ended, and the request is rejected', async (t) => {
  const { root } = prepare(t);
  await using tree = openTree(t, root);
  await tree.list(root, '');
  process.kill(await serverPid(), 'SIGSTOP');
  const began = performance.now();
  await assert.rejects(tree.list(root, ''), /was stopped by a signal, and was ended/);
  assert.ok(performance.now() - began < 10_000);
});

test('one that is stopped while it starts is replaced by one with the rights of the slot', async (t) => {
  if (uid === null) return t.skip('needs root: only then runs have their own user');
  const { root } = prepare(t);
  await using tree = openTree(t, root);
  const first = await serverPid();
  process.kill(first, 'SIGSTOP');
  await tree.write(root, 'file', 'x');
  assert.equal(statSync(join(root, 'file')).uid, uid);
  const status = readFileSync(`/proc/${await serverPid()}/status`, 'utf8');
  assert.match(status, new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s`, 'm'));
  assert.ok(!pidsWhere((pid) => pid === first && statOf(pid)?.state !== 'Z').length);
});

test(
  'between plan and apply, the tree server is kept out, and then sees the new folders',
  withBubblewrap,
  async (t) => {
    const { workFolder, slotUid, isolation, job } = createSetup(t, { readme: 'x' });
    const folders = workFolderPaths(workFolder, job());
    createWorkFolder(folders, slotUid);
    await using lender = new TreeLender();
    await using tree = lender.lend({ workFolder, slotUid, isolation }, folders);
    await tree.write(folders.tree, 'kept', 'x');
    await tree.write(folders.state, 'state', 'of the plan');
    const facts = { isStateOurs: true, toolVersion: '1', secretFiles: [] };
    keepTree(folders, { jobId: 'j', attempt: 1, fence: 1 }, slotUid, facts);
    if (slotUid !== null) await assert.rejects(tree.read(folders.tree, 'kept', 10), /EACCES/);
    reopenWorkFolder(folders, slotUid);
    assert.deepEqual(await tree.list(folders.state, ''), []);
    await tree.write(folders.state, 'state', 'of the apply');
    assert.equal(readFileSync(join(folders.state, 'state'), 'utf8'), 'of the apply');
    assert.equal(Buffer.from((await tree.read(folders.tree, 'kept', 10)) ?? []).toString(), 'x');
  },
);

test('the tree server cannot change files of the runner', withBubblewrap, async (t) => {
  const { folder, workFolder, slotUid, isolation, job } = createSetup(t, { readme: 'x' });
  if (slotUid === null) return t.skip('needs root: only then runs have their own user');
  const folders = workFolderPaths(workFolder, job());
  createWorkFolder(folders, slotUid);
  await using lender = new TreeLender();
  await using tree = lender.lend({ workFolder, slotUid, isolation }, folders);
  for (const name of ['gitconfig', 'planned.json', 'other/file'])
    await assert.rejects(tree.write(folders.root, name, 'x'), /EACCES/);
  await assert.rejects(tree.remove(folders.root, 'gitconfig'), /EACCES/);
  assert.deepEqual(await tree.list(folder, ''), ['work']);
});
