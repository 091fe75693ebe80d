import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { until } from '../../../tools/suite/until.ts';
import { spoolPaths } from '../spool/layout.ts';
import { KeptTrees, reinstate } from './kept-trees.ts';
import { SlotTable } from './slot-table.ts';
import { createWorkFolder, isTreeKept, keepTree, workFolderPaths } from './work-folder.ts';

const facts = { isStateOurs: true, toolVersion: '1' };

function prepare(
  t: TestContext,
  { limit = 20, reserveBytes = 0, uids = null as number[] | null, slots: count = 1, stateBytes = 1 } = {},
) {
  const folder = temporaryFolder(t, 'kept-trees-');
  const workFolder = join(folder, 'work');
  mkdirSync(workFolder);
  const slots = new SlotTable(count, uids);
  const errors: object[] = [];
  const open = (spoolId: string) =>
    new KeptTrees({
      workFolder,
      spoolId,
      slots,
      limit,
      reserveBytes,
      log: { error: (data) => void errors.push(data) },
    });
  const trees = open('spool-1');
  const jobOf = (name: string, runSeconds = 60) =>
    ({
      jobId: name,
      attempt: 1,
      type: 'deploy',
      environmentId: name,
      limits: { runSeconds },
    }) as unknown as Job;
  /** Processes and files of a plan after its end. */
  const plan = async (job: Job, keeper = trees, change: (tree: string) => void = () => {}) => {
    const slot = slots.occupy() ?? assert.fail('no slot');
    const paths = workFolderPaths(workFolder, job);
    createWorkFolder(paths, null);
    writeFileSync(join(paths.tree, 'main.tf'), job.jobId);
    mkdirSync(join(paths.tree, 'module'));
    writeFileSync(join(paths.tree, 'module', 'z.tfvars'), 'planted-secret');
    change(paths.tree);
    const left = { jobId: job.jobId, attempt: job.attempt, fence: 1 };
    keepTree(paths, left, slot.uid, { ...facts, secretFiles: ['module/z.tfvars'] });
    const spool = spoolPaths(join(folder, `spool-of-${job.jobId}`));
    for (const one of [spool.inputs, spool.outputs]) mkdirSync(one, { recursive: true });
    writeFileSync(spool.outputPlan, `plan of ${job.jobId}`);
    writeFileSync(spool.inputState, Buffer.alloc(stateBytes));
    const isKept = await keeper.keep(job, slot, spool);
    slots.release(slot);
    return isKept;
  };
  const applyOf = (job: Job) =>
    ({ ...job, jobId: `apply of ${job.jobId}`, approved: { continues: job } }) as unknown as Job;
  return { workFolder, slots, trees, open, jobOf, plan, applyOf, errors };
}

test('a tree is set aside, closed and without variables, and put back for its apply', async (t) => {
  const { workFolder, trees, jobOf, plan, applyOf, errors } = prepare(t);
  const job = jobOf('one');
  assert.equal(await plan(job), true);
  assert.deepEqual(readdirSync(workFolder), ['one.planned-spool-1-one-1']);
  assert.equal(statSync(join(workFolder, 'one.planned-spool-1-one-1')).mode & 0o777, 0o700);
  assert.throws(() => execFileSync('grep', ['-r', 'planted-secret', workFolder]), { status: 1 });
  const tree = trees.take(applyOf(job)) ?? assert.fail('it was not kept');
  assert.deepEqual([Buffer.from(tree.plan ?? []).toString(), tree.state?.length], ['plan of one', 1]);
  mkdirSync(join(tree.place.root, 'left-over'), { recursive: true });
  reinstate(tree, applyOf(job));
  assert.deepEqual(readdirSync(workFolder), ['one']);
  assert.equal(readFileSync(join(tree.place.tree, 'main.tf'), 'utf8'), 'one');
  const file = join(tree.place.tree, 'module', 'z.tfvars');
  assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['planted-secret', 0o600]);
  assert.ok(isTreeKept(tree.place, { jobId: 'one', attempt: 1, fence: 1 }, null));
  assert.equal(trees.take(applyOf(job)), null, 'only one attempt gets it');
  await trees.discard(tree);
  assert.deepEqual([readdirSync(workFolder), errors], [[], []]);
});

test('a tree that cannot be completed is not put back to where a run would continue in it', async (t) => {
  const { workFolder, trees, jobOf, plan, applyOf, errors } = prepare(t);
  const job = jobOf('one');
  await plan(job);
  const tree = trees.take(applyOf(job)) ?? assert.fail('it was not kept');
  rmSync(join(tree.folder, 'tree', 'module'), { recursive: true });
  assert.throws(() => reinstate(tree, applyOf(job)), /ENOENT/);
  assert.equal(existsSync(tree.place.root), false);
  assert.equal(isTreeKept(tree.place, { jobId: 'one', attempt: 1, fence: 1 }, null), false);
  await trees.discard(tree);
  assert.deepEqual([readdirSync(workFolder), errors], [[], []]);
});

test('a large state is not kept in memory', async (t) => {
  const { trees, jobOf, plan, applyOf } = prepare(t, { stateBytes: 1_000_001 });
  await plan(jobOf('one'));
  const tree = trees.take(applyOf(jobOf('one')));
  assert.deepEqual([tree?.plan?.length, tree?.state], [11, null]);
});

test('a tree is removed once its environment is needed by another deployment', async (t) => {
  const { workFolder, trees, slots, jobOf, plan, applyOf } = prepare(t, { uids: [501, 502] });
  await plan(jobOf('one'));
  assert.deepEqual(slots.freeUids(), [502]);
  const other = { ...jobOf('one'), jobId: 'other' };
  assert.equal(trees.take({ ...other, type: 'prPlan', deploymentId: 'd' }), null);
  assert.equal(trees.count, 1, 'it runs elsewhere');
  assert.equal(trees.take(applyOf(other)), null);
  assert.deepEqual([trees.count, slots.freeUids()], [0, [502, 501]]);
  await until('the removal of the tree', () => readdirSync(workFolder).length === 0);
});

test('more trees than the limit are not kept: the oldest one is removed', async (t) => {
  const { workFolder, trees, jobOf, plan, applyOf } = prepare(t, { limit: 2 });
  for (const name of ['one', 'two', 'three']) await plan(jobOf(name));
  assert.deepEqual([trees.count, trees.take(applyOf(jobOf('one')))], [2, null]);
  await until('the removal of one tree', () => readdirSync(workFolder).length === 2);
  const none = prepare(t, { limit: 0 });
  assert.equal(await none.plan(none.jobOf('one')), false);
  assert.deepEqual(readdirSync(none.workFolder), ['one'], 'for its attempt to remove');
});

test('every free slot has a uid whatever is kept: the oldest tree gives its own back', async (t) => {
  const { slots, trees, jobOf, plan } = prepare(t, { uids: [501, 502, 503], slots: 2 });
  assert.equal(await plan(jobOf('one')), true);
  assert.deepEqual([trees.count, slots.freeUids()], [1, [502, 503]]);
  assert.equal(await plan(jobOf('two')), true);
  assert.deepEqual([trees.count, slots.freeUids()], [1, [503, 501]]);
  const least = prepare(t, { uids: [501], slots: 1 });
  assert.equal(await least.plan(least.jobOf('one')), false);
  assert.deepEqual([least.trees.count, least.slots.freeUids()], [0, [501]]);
});

test('trees are removed when a phase could have ended since, and when the disk is nearly full', async (t) => {
  const { workFolder, trees, jobOf, plan } = prepare(t);
  await plan(jobOf('old', 0));
  await plan(jobOf('young'));
  trees.tidy();
  assert.equal(trees.count, 1);
  await until(
    'the removal of the old tree',
    () => readdirSync(workFolder).join() === 'young.planned-spool-1-young-1',
  );
  const full = prepare(t, { reserveBytes: 2 ** 60 });
  assert.equal(await full.plan(full.jobOf('one')), false);
  let reserveBytes = 0;
  const filling = new KeptTrees({
    workFolder,
    spoolId: 'spool-2',
    slots: new SlotTable(1, null),
    limit: 20,
    get reserveBytes() {
      return reserveBytes;
    },
    log: { error: () => assert.fail() },
  });
  for (const name of ['a', 'b']) await plan(jobOf(name), filling);
  reserveBytes = 2 ** 60;
  filling.tidy();
  await until('the removal', () => filling.count === 0 && readdirSync(workFolder).length === 1);
});

test('the next process of an agent removes its trees, and no others', async (t) => {
  const { workFolder, open, jobOf, plan } = prepare(t);
  await plan(jobOf('one'));
  await plan(jobOf('two'), open('spool-2'));
  mkdirSync(join(workFolder, 'three'));
  await open('spool-1').removeOld();
  await until(
    'the removal of one tree',
    () => readdirSync(workFolder).sort().join() === 'three,two.planned-spool-2-two-1',
  );
});

test('a folder that does not belong to the plan is not kept', async (t) => {
  const { workFolder, trees, slots, jobOf, plan, applyOf } = prepare(t, { uids: [501, 502] });
  await plan(jobOf('one'));
  const slot = slots.occupy() ?? assert.fail();
  const other = { ...jobOf('one'), jobId: 'other' };
  const tree = trees.take(applyOf(jobOf('one'))) ?? assert.fail();
  reinstate(tree, applyOf(jobOf('one')));
  assert.equal(await trees.keep(other, slot, spoolPaths('/none')), false);
  assert.equal(await trees.keep(jobOf('one'), slot, spoolPaths('/none')), false, 'of another uid');
  assert.ok(existsSync(join(workFolder, 'one', 'tree')));
});

test('a tree is not kept if a file with variables leads elsewhere', async (t) => {
  const { workFolder, trees, jobOf, plan, slots } = prepare(t, { uids: [501, 502] });
  const outside = join(workFolder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'z.tfvars'), 'of another user');
  const isKept = await plan(jobOf('one'), trees, (tree) => {
    rmSync(join(tree, 'module'), { recursive: true });
    symlinkSync(outside, join(tree, 'module'));
  });
  assert.deepEqual([isKept, slots.freeUids()], [false, [502, 501]]);
  assert.equal(readFileSync(join(outside, 'z.tfvars'), 'utf8'), 'of another user');
});

test('a link in the place of a file with variables is replaced by the file', async (t) => {
  const { workFolder, trees, jobOf, plan, applyOf } = prepare(t);
  const inside = (tree: string) => join(tree, 'module', 'z.tfvars');
  const isKept = await plan(jobOf('one'), trees, (tree) => {
    writeFileSync(join(tree, 'target'), 'target');
    rmSync(inside(tree));
    symlinkSync('../target', inside(tree));
  });
  assert.equal(isKept, true);
  const tree = trees.take(applyOf(jobOf('one'))) ?? assert.fail();
  symlinkSync(join(workFolder, 'elsewhere'), inside(join(tree.folder, 'tree')));
  assert.throws(() => reinstate(tree, applyOf(jobOf('one'))), { code: 'EEXIST' });
  assert.equal(existsSync(join(workFolder, 'elsewhere')), false);
});
