import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { until } from '../../../../tools/suite/until.ts';
import { readersOf } from '../../../testing/readers.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  withBubblewrap,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { ProcessLauncher } from '../../launchers/process.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../processes/proc.ts';
import type { RunnerOrder } from '../../spool/layout.ts';
import { readMark, requireOutcome } from '../../spool/read-attempt.ts';

const code = {
  'main.tf': 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n',
};
const skipsApproval = { isApprovalSkipped: true } as const;

class Runs {
  readonly #launcher: ProcessLauncher;
  readonly setup: RunnerSetup;

  constructor(t: TestContext, isPrepared = false, options: Parameters<typeof createSetup>[2] = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
    const { isolation, workFolder } = (this.setup = createSetup(t, code, options));
    this.#launcher = new ProcessLauncher({
      logFile: join(folder, 'runner.log'),
      compileCacheFolder: join(folder, 'cache'),
      spareMilliseconds: 60_000,
      onFailure: () => {},
      ...(isPrepared ? { preparation: { runs: { isolation, workFolder } } } : {}),
    });
    this.#launcher.warm(2);
    t.after(() => {
      this.#launcher[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  async start(job: Job, preferred?: ProcessIdentity, changes: Partial<RunnerOrder> = {}) {
    const { spool, order } = this.setup.prepare(job);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const { promise: runner, resolve: choose } = Promise.withResolvers<ProcessIdentity>();
    await this.#launcher.start({ ...order, ...changes }, { chosen: choose, ended: resolve }, preferred);
    return { spool, runner: await runner, outcome: ended.then(() => requireOutcome(spool)) };
  }

  /** Plans. @returns the job that applies it, and who planned */
  async plan(
    changes: Partial<Job> = skipsApproval,
    preferred?: ProcessIdentity,
    orderChanges: Partial<RunnerOrder> = {},
  ) {
    const job = this.setup.job(changes);
    const { runner, spool, outcome } = await this.start(job, preferred, orderChanges);
    const planned = { job, spool, outcome: await outcome } as Ran;
    return { runner, job: this.setup.applyJob(planned), readers: readersOf(runner) };
  }

  /** Applies. @returns also the process that waits for the next run then */
  async apply(job: Job, preferred?: ProcessIdentity) {
    const { spool, runner, outcome } = await this.start(job, preferred);
    await until('the mark', () => readMark(spool) !== null);
    writeFileSync(spool.markStored, readMark(spool)?.mark ?? '');
    const { result, outputs, error } = await outcome;
    assert.equal(result, 'applied', JSON.stringify(error));
    assert.ok(outputs?.['id']?.value);
    return { runner, readers: readersOf(runner) };
  }
}

test(
  'the process that reads the folders of a plan reads those of its immediate apply',
  withBubblewrap,
  async (t) => {
    const runs = new Runs(t);
    const planned = await runs.plan();
    assert.equal(planned.readers.length, 1);
    const applied = await runs.apply(planned.job, planned.runner);
    assert.deepEqual([applied.runner, applied.readers], [planned.runner, planned.readers]);
  },
);

test('of several runners that are ready, the one that planned applies', withBubblewrap, async (t) => {
  const runs = new Runs(t);
  const [first, second] = await Promise.all([
    runs.plan(),
    runs.plan({ environmentId: 'e-2', ...skipsApproval }),
  ]);
  assert.notDeepEqual(first.runner, second.runner);
  for (const { job, runner, readers } of [second, first]) {
    const applied = await runs.apply(job, runner);
    assert.deepEqual([applied.runner, applied.readers], [runner, readers]);
  }
});

test('another runner applies a plan with a process of its own', withBubblewrap, async (t) => {
  const runs = new Runs(t);
  const planned = await runs.plan();
  const other = await runs.start(runs.setup.job({ environmentId: 'e-2' }), planned.runner);
  assert.deepEqual(other.runner, planned.runner);
  const applied = await runs.apply(planned.job, planned.runner);
  assert.notDeepEqual(applied.runner, planned.runner);
  assert.notDeepEqual(applied.readers, planned.readers);
  assert.equal((await other.outcome).result, 'planned');
});

for (const [name, needs, options] of [
  ['in a sandbox', withBubblewrap, {}],
  ['without a sandbox', withTerraformAsRoot, { isolation: 'off' }],
] as const)
  test(
    `one process reads the folders of all runs of a runner, whatever their users, ${name}`,
    needs,
    async (t) => {
      const self = identifyProcess(process.pid) ?? assert.fail();
      // Those of other tests may still be ending.
      const others = new Set(readersOf(self).map(({ pid }) => pid));
      const ours = () => readersOf(self).filter(({ pid }) => !others.has(pid));
      const runs = new Runs(t, true, options);
      if (runs.setup.slotUid === null) return t.skip('needs root: only then runs have their own user');
      await until('a process that reads, before there is a run,', () => ours().length === 1);
      const prepared = ours();
      const first = await runs.plan({});
      assert.deepEqual(first.readers, prepared);
      const slotUid = runs.setup.slotUid + 1;
      const second = await runs.plan({ environmentId: 'e-2' }, first.runner, { slotUid });
      const applied = await runs.apply(first.job, first.runner);
      for (const next of [second, applied])
        assert.deepEqual([next.runner, next.readers], [first.runner, first.readers]);
    },
  );

test('it ends with its runner', withBubblewrap, async (t) => {
  const { readers, runner } = await new Runs(t, true).plan();
  assert.equal(readers.filter(isAlive).length, 1);
  process.kill(runner.pid, 'SIGKILL');
  await until('the end of the process that reads', () => !readers.some(isAlive));
});

test('it ends with its runner after a run that failed', withBubblewrap, async (t) => {
  const runs = new Runs(t, true);
  const { runner } = await runs.plan({});
  const [reader] = readersOf(runner);
  runs.setup.commit({ 'main.tf': 'this is not HCL' });
  const failed = await runs.start(runs.setup.job({ environmentId: 'e-2' }), runner);
  assert.deepEqual(failed.runner, runner);
  assert.equal((await failed.outcome).result, 'failed');
  await until('the end of the process that reads', () => reader !== undefined && !isAlive(reader));
});

for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
  test(
    `a run continues with another process if the one that waited got ${signal}`,
    withBubblewrap,
    async (t) => {
      const runs = new Runs(t);
      const planned = await runs.plan();
      for (const { pid } of planned.readers) process.kill(pid, signal);
      const applied = await runs.apply(planned.job, planned.runner);
      assert.equal(applied.readers.length, 1);
      assert.notDeepEqual(applied.readers, planned.readers);
      assert.deepEqual(planned.readers.filter(isAlive), []);
    },
  );
