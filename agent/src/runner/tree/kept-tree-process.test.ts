import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import { ProcessLauncher } from '../../launchers/process.ts';
import { isAlive } from '../../processes/process-identity.ts';
import type { ProcessIdentity } from '../../spool/layout.ts';
import { readMark, requireOutcome } from '../../spool/read-attempt.ts';
import { readersOf } from '../../testing/readers.ts';
import { createSetup, type Ran, type RunnerSetup, withBubblewrap } from '../../testing/runner-setup.ts';

const code = {
  'main.tf': 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n',
};
const skipsApproval = { isApprovalSkipped: true } as const;

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 20_000; !condition(); await delay(5))
    assert.ok(Date.now() < deadline, `did not happen: ${what}`);
}

class Runs {
  readonly #launcher: ProcessLauncher;
  readonly setup: RunnerSetup;

  constructor(t: TestContext) {
    const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
    this.#launcher = new ProcessLauncher({
      logFile: join(folder, 'runner.log'),
      compileCacheFolder: join(folder, 'cache'),
      onFailure: () => {},
    });
    this.#launcher.warm(2);
    this.setup = createSetup(t, code);
    t.after(() => {
      this.#launcher[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  async start(job: Job, preferred?: ProcessIdentity) {
    const { spool, order } = this.setup.prepare(job);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const { promise: runner, resolve: choose } = Promise.withResolvers<ProcessIdentity>();
    await this.#launcher.start(
      order,
      { chosen: async (identity) => choose(identity), ended: resolve },
      preferred,
    );
    return { spool, runner: await runner, outcome: ended.then(() => requireOutcome(spool)) };
  }

  /** Plans. @returns the job that applies it, and who planned */
  async plan(changes: Partial<Job> = skipsApproval) {
    const job = this.setup.job(changes);
    const { runner, spool, outcome } = await this.start(job);
    const planned = { job, spool, outcome: await outcome } as Ran;
    return { runner, job: this.setup.applyJob(planned), readers: readersOf(runner) };
  }

  /** Applies. @returns the processes that read folders meanwhile */
  async apply(job: Job, preferred?: ProcessIdentity) {
    const { spool, runner, outcome } = await this.start(job, preferred);
    await until(() => readMark(spool) !== null, 'the mark');
    // A new one may still be starting.
    await until(() => readersOf(runner).length > 0, 'the process that reads');
    const readers = readersOf(runner);
    writeFileSync(spool.markStored, readMark(spool)?.mark ?? '');
    const { result, outputs, error } = await outcome;
    assert.equal(result, 'applied', JSON.stringify(error));
    assert.ok(outputs?.['id']?.value);
    return { runner, readers };
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
    assert.deepEqual(applied.readers, planned.readers);
    assert.deepEqual(applied.runner, planned.runner);
    assert.deepEqual(readersOf(planned.runner), []);
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
  assert.equal(applied.readers.length, 1);
  assert.equal((await other.outcome).result, 'planned');
  assert.deepEqual(planned.readers.filter(isAlive), []);
});

test('nothing is kept where a person has to approve', withBubblewrap, async (t) => {
  const { readers, runner } = await new Runs(t).plan({});
  assert.deepEqual(readers, []);
  assert.ok(isAlive(runner));
});

test('what is kept ends soon if no apply follows, and the runner does not', withBubblewrap, async (t) => {
  const { readers, runner } = await new Runs(t).plan();
  assert.equal(readers.filter(isAlive).length, 1);
  await until(() => !readers.some(isAlive), 'the end of what was kept');
  assert.ok(isAlive(runner));
});

test('what is kept ends with its runner', withBubblewrap, async (t) => {
  const { readers, runner } = await new Runs(t).plan();
  assert.equal(readers.filter(isAlive).length, 1);
  process.kill(runner.pid, 'SIGKILL');
  await until(() => !readers.some(isAlive), 'the end of what was kept');
});

for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
  test(
    `an apply continues with another process if what was kept got ${signal}`,
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
