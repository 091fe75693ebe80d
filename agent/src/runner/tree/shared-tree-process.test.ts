/** One process reads and writes the folders of runs with different users, one after the other. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { readersOf } from '../../../testing/readers.ts';
import { createSetup, withBubblewrap, withTerraformAsRoot } from '../../../testing/runner-setup.ts';
import { identifyProcess, isAlive, textOrEmpty } from '../../processes/proc.ts';
import { closeWorkFolder, createWorkFolder, sealPlan, workFolderPaths } from '../../slots/work-folder.ts';
import type { TreeClient } from './tree-client.ts';
import { TreeLender } from './tree-lender.ts';
import { TreeProcess } from './tree-process.ts';

const secret = 'planted-secret';

interface Confinement {
  readonly name: string;
  readonly needs: { readonly skip: string | boolean };
  readonly options: { readonly isolation?: 'off' };
}
const sandboxed: Confinement = {
  name: 'in a sandbox',
  needs: withBubblewrap.skip ? withBubblewrap : withTerraformAsRoot,
  options: {},
};
const { needs } = sandboxed;
const confinements: readonly Confinement[] = [
  sandboxed,
  { name: 'without a sandbox', needs: withTerraformAsRoot, options: { isolation: 'off' } },
];

/** The folders of two runs with different users, and what lends them one process. */
function prepare(t: TestContext, options: Confinement['options'] = {}) {
  const { workFolder, slotUid, isolation, folder } = createSetup(t, { readme: 'x' }, options);
  const lender = new TreeLender();
  t.after(() => lender[Symbol.asyncDispose]());
  lender.prepare({ isolation, workFolder });
  const run = (environmentId: string, uid: number) => {
    const folders = workFolderPaths(workFolder, { type: 'deploy', environmentId, deploymentId: 'd' });
    createWorkFolder(folders, uid);
    return { uid, folders, lend: () => lender.lend({ isolation, workFolder, slotUid: uid }, folders) };
  };
  const uid = slotUid ?? 0;
  return { folder, workFolder, isolation, lender, one: run('one', uid), other: run('other', uid + 1) };
}

/** The only one of this process, once it is there. */
async function ownReader() {
  const readers = () => readersOf(identifyProcess(process.pid) ?? assert.fail());
  let found = readers();
  await until('a single process that reads', () => (found = readers()).length === 1);
  return found[0] ?? assert.fail();
}

async function textIn(tree: TreeClient, path: string): Promise<string> {
  return Buffer.from(
    (await tree.read(dirname(path), path.slice(dirname(path).length + 1), 1000)) ?? [],
  ).toString();
}

for (const confinement of confinements)
  test(
    `it acts as the user of each run: its files belong to that user and its group, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one, other } = prepare(t, confinement.options);
      const before = await ownReader();
      for (const { uid, folders, lend } of [one, other, one]) {
        await using tree = lend();
        await tree.write(folders.tree, `deep/file-of-${uid}`, 'content');
        assert.deepEqual(await ownReader(), before);
        for (const [name, mode] of [
          ['deep', 0o700],
          [`deep/file-of-${uid}`, 0o600],
        ] as const) {
          const status = statSync(join(folders.tree, name));
          assert.deepEqual([status.uid, status.gid, status.mode & 0o777], [uid, uid, mode]);
        }
      }
    },
  );

for (const confinement of confinements)
  test(
    `it reaches only what the user of its run reaches, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one, other, folder, workFolder } = prepare(t, confinement.options);
      const plant = (path: string, owner: number, group: number, mode: number) => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, secret);
        chownSync(path, owner, group);
        chmodSync(path, mode);
      };
      const plan = join(folder, 'plan');
      writeFileSync(plan, secret);
      for (const { uid, folders } of [one, other]) {
        plant(join(folders.tree, 'own'), uid, uid, 0o600);
        plant(join(folders.root, 'cli.tfrc'), 0, uid, 0o640);
        plant(join(folders.tree, 'of-the-agent'), 0, 0, 0o600);
        sealPlan(folders, 'tfplan', plan, uid);
      }
      const closed = workFolderPaths(workFolder, {
        type: 'deploy',
        environmentId: 'closed',
        deploymentId: 'd',
      });
      createWorkFolder(closed, one.uid);
      plant(join(closed.tree, 'own'), one.uid, one.uid, 0o600);
      closeWorkFolder(closed);
      plant(join(workFolder, '.providers', 'file'), 0, 0, 0o644);
      const spool = join(folder, 'spool', 'job.json');
      plant(spool, 0, 0, 0o644);
      for (const [own, foreign] of [
        [one, other],
        [other, one],
      ] as const) {
        await using tree = own.lend();
        for (const path of [
          join(own.folders.tree, 'own'),
          join(own.folders.root, 'cli.tfrc'),
          own.folders.planFile,
        ])
          assert.equal(await textIn(tree, path), secret);
        for (const path of [
          join(foreign.folders.tree, 'own'),
          join(foreign.folders.root, 'cli.tfrc'),
          foreign.folders.planFile,
          join(own.folders.tree, 'of-the-agent'),
          join(closed.tree, 'own'),
        ])
          await assert.rejects(textIn(tree, path), /EACCES/, path);
        // A sandbox does not show it.
        await assert.rejects(textIn(tree, spool), confinement === sandboxed ? /ENOENT/ : /EACCES/);
        for (const root of [foreign.folders.tree, foreign.folders.root, closed.tree, workFolder]) {
          await assert.rejects(tree.write(root, 'planted', 'x'), /EACCES/, root);
          await assert.rejects(tree.list(root, ''), /EACCES/, root);
        }
        for (const [root, name] of [
          [own.folders.root, 'cli.tfrc'],
          [own.folders.plan, 'tfplan'],
          [join(workFolder, '.providers'), 'file'],
          [foreign.folders.root, 'gitconfig'],
        ] as const) {
          await assert.rejects(tree.write(root, name, 'x'), /EACCES/, name);
          await assert.rejects(tree.remove(root, name), /EACCES/, name);
        }
        await assert.rejects(tree.reopen(foreign.folders.tree, 'own'), /EPERM/);
      }
    },
  );

test('it sees none of the caches next to the folders of runs', needs, async (t) => {
  const { one, isolation, workFolder } = prepare(t);
  const cache = join(workFolder, '.tools');
  mkdirSync(cache, { mode: 0o755 });
  writeFileSync(join(cache, 'tool'), secret);
  const sandbox = { isolation, folder: workFolder };
  await using shared = new TreeProcess({ user: 'each', sandbox });
  await shared.attach(one.uid);
  const read = { operation: 'read', root: cache, offset: 0, length: 100, maxBytes: 100 } as const;
  await assert.rejects(shared.request({ ...read, name: 'tool' }), /EACCES/);
  const [reader = assert.fail(), ...others] = readersOf(identifyProcess(process.pid) ?? assert.fail());
  const shown = [reader, ...others].map(({ pid }) => readdirSync(join(`/proc/${pid}/root`, cache)));
  assert.ok(
    shown.some((names) => names.length === 0),
    JSON.stringify(shown),
  );
});

for (const confinement of confinements)
  test(
    `links to the folders of another run lead nowhere, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one, other } = prepare(t, confinement.options);
      writeFileSync(join(other.folders.tree, 'own'), secret);
      symlinkSync(other.folders.tree, join(one.folders.tree, 'link'));
      await using tree = one.lend();
      await assert.rejects(tree.read(one.folders.tree, 'link/own', 100), /symbolic link|EACCES/);
      await assert.rejects(tree.write(one.folders.tree, 'link/planted', 'x'), /symbolic link|EACCES/);
      assert.deepEqual(readdirSync(other.folders.tree), ['own']);
    },
  );

test('folders that are moved aside and back, or created later, are there', needs, async (t) => {
  const { one, other, isolation, workFolder, lender } = prepare(t);
  const { folders } = one;
  {
    await using tree = one.lend();
    await tree.write(folders.tree, 'kept', 'x');
  }
  closeWorkFolder(folders);
  renameSync(folders.root, `${folders.root}.planned`);
  {
    await using tree = other.lend();
    await assert.rejects(tree.list(folders.tree, ''), /ENOENT/);
    await assert.rejects(tree.list(join(`${folders.root}.planned`, 'tree'), ''), /EACCES/);
  }
  renameSync(`${folders.root}.planned`, folders.root);
  chmodSync(folders.root, 0o711);
  const later = workFolderPaths(workFolder, { type: 'deploy', environmentId: 'later', deploymentId: 'd' });
  createWorkFolder(later, one.uid);
  await using tree = lender.lend({ isolation, workFolder, slotUid: one.uid }, later);
  assert.equal(await textIn(tree, join(folders.tree, 'kept')), 'x');
  await tree.write(later.tree, 'new', 'x');
  assert.equal(readFileSync(join(later.tree, 'new'), 'utf8'), 'x');
});

for (const confinement of confinements)
  test(
    `it answers only while a run has it, and only one, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one, other, isolation, workFolder } = prepare(t, confinement.options);
      await using shared = new TreeProcess({
        user: 'each',
        sandbox: isolation.bubblewrap === null ? null : { isolation, folder: workFolder },
      });
      const list = () => shared.request({ operation: 'list', root: one.folders.tree, name: '' });
      await assert.rejects(list(), /attached to no run/);
      for (const uid of [0, -1, null]) await assert.rejects(shared.attach(uid), /never acts as/);
      await assert.rejects(list(), /attached to no run/);
      await shared.attach(one.uid);
      await assert.rejects(shared.attach(other.uid), /attached to another run/);
      assert.deepEqual(await list(), { names: [] });
      await shared.detach();
      await assert.rejects(list(), /attached to no run/);
      await shared.attach(other.uid);
      await assert.rejects(list(), /EACCES/);
    },
  );

for (const confinement of confinements)
  test(
    `code of a run can neither signal it, slow it down nor read its memory, and it has no rights of root, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one } = prepare(t, confinement.options);
      const reader = await ownReader();
      await using tree = one.lend();
      await tree.list(one.folders.tree, '');
      const asRun = (program: string, ...args: string[]) =>
        execFileSync(
          'setpriv',
          ['--reuid', String(one.uid), '--regid', String(one.uid), '--clear-groups', program, ...args],
          { stdio: 'pipe' },
        );
      for (const signal of ['-STOP', '-KILL', '-TERM', '-0'])
        assert.throws(() => asRun('kill', signal, String(reader.pid)), /not permitted/);
      // Its permitted capabilities keep it from others of the same effective user.
      assert.throws(() => asRun('renice', '-n', '19', '-p', String(reader.pid)), /not permitted/);
      assert.throws(() => asRun('taskset', '-p', '1', String(reader.pid)), /not permitted/);
      for (const file of ['mem', 'environ', 'maps', 'fd/3', 'root', 'cwd', 'auxv', 'syscall'])
        assert.throws(
          () => asRun('dd', `if=/proc/${reader.pid}/${file}`, 'count=1'),
          /Permission denied|not permitted/,
        );
      assert.ok(isAlive(reader));
      const status = textOrEmpty(`/proc/${reader.pid}/status`);
      const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1];
      assert.equal(field('Uid'), `0\t${one.uid}\t0\t${one.uid}`);
      assert.equal(field('Gid'), `0\t${one.uid}\t0\t${one.uid}`);
      assert.equal(field('Groups'), '');
      assert.match(field('CapEff') ?? '', /^0+$/);
      // CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID.
      assert.match(field('CapPrm') ?? '', /^0+c4$/);
      assert.deepEqual([field('NoNewPrivs'), field('Seccomp')], ['1', confinement === sandboxed ? '2' : '0']);
    },
  );

for (const confinement of confinements)
  test(
    `an agent without the right to read all files has such a process, too, ${confinement.name}`,
    confinement.needs,
    (t) => {
      const { workFolder, isolation, one } = prepare(t, confinement.options);
      const script = `
    import { TreeLender } from ${JSON.stringify(new URL('tree-lender.ts', import.meta.url).href)};
    const { order, folders } = ${JSON.stringify({ order: { workFolder, isolation, slotUid: one.uid }, folders: one.folders })};
    await using lender = new TreeLender();
    await using tree = lender.lend(order, folders);
    await tree.write(folders.tree, 'file', 'x');
  `;
      const node = [process.execPath, '--input-type=module', '-e', script];
      execFileSync('setpriv', ['--bounding-set', '-dac_read_search', ...node], { stdio: 'pipe' });
      assert.equal(statSync(join(one.folders.tree, 'file')).uid, one.uid);
    },
  );

test('a work folder that was replaced is shown by another process', needs, async (t) => {
  const { one, workFolder } = prepare(t);
  const before = await ownReader();
  renameSync(workFolder, `${workFolder}.old`);
  mkdirSync(workFolder, { mode: 0o711 });
  createWorkFolder(one.folders, one.uid);
  await using tree = one.lend();
  await tree.write(one.folders.tree, 'file', 'x');
  assert.notDeepEqual(await ownReader(), before);
  assert.equal(isAlive(before), false);
});

for (const confinement of confinements)
  test(
    `one that was ended while a run had it is replaced for the next, ${confinement.name}`,
    confinement.needs,
    async (t) => {
      const { one, other } = prepare(t, confinement.options);
      const reader = await ownReader();
      {
        await using tree = one.lend();
        await tree.list(one.folders.tree, '');
        process.kill(reader.pid, 'SIGKILL');
        await assert.rejects(tree.list(one.folders.tree, ''), /has ended/);
      }
      await using tree = other.lend();
      assert.deepEqual(await tree.list(other.folders.tree, ''), []);
    },
  );

test('without users for runs, a process sees the folder of one run only', withBubblewrap, async (t) => {
  const { workFolder, isolation } = createSetup(t, { readme: 'x' });
  await using lender = new TreeLender();
  const [one, other] = ['one', 'other'].map((environmentId) => {
    const folders = workFolderPaths(workFolder, { type: 'deploy', environmentId, deploymentId: 'd' });
    createWorkFolder(folders, null);
    return { folders, lend: () => lender.lend({ isolation, workFolder, slotUid: null }, folders) };
  });
  assert.ok(one && other);
  const readers = [];
  for (const [own, foreign] of [
    [one, other],
    [one, other],
    [other, one],
  ] as const) {
    await using tree = own.lend();
    assert.deepEqual(await tree.list(own.folders.tree, ''), []);
    await assert.rejects(tree.list(foreign.folders.tree, ''), /ENOENT/);
    readers.push((await ownReader()).pid);
  }
  assert.equal(readers[0], readers[1]);
  assert.notEqual(readers[1], readers[2]);
});
