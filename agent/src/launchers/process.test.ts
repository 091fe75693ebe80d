import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../tools/suite/until.ts';
import { createSetup, type RunnerSetup, withTerraform } from '../../testing/runner-setup.ts';
import { isAlive, type ProcessIdentity } from '../processes/proc.ts';
import { requireOutcome } from '../spool/read-attempt.ts';
import { ProcessLauncher } from './process.ts';

function launcherFor(t: TestContext, spareMilliseconds = 60_000): ProcessLauncher {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
  const launcher = new ProcessLauncher({
    logFile: join(folder, 'runner.log'),
    compileCacheFolder: join(folder, 'cache'),
    onFailure: (reason) => assert.fail(reason),
    spareMilliseconds,
  });
  t.after(() => {
    launcher[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return launcher;
}

/** Executes a plan. @returns who did it, as soon as its end is reported */
async function plan(launcher: ProcessLauncher, setup: RunnerSetup) {
  const { spool, order } = setup.prepare(setup.job());
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const { promise: chosen, resolve: choose } = Promise.withResolvers<ProcessIdentity>();
  await launcher.start(order, { chosen: choose, ended: resolve });
  const runner = await chosen;
  return { runner, ended: ended.then(() => requireOutcome(spool).result) };
}

async function untilEnded(runner: ProcessIdentity): Promise<void> {
  await until('the end of the runner', () => !isAlive(runner));
}

test('a runner executes one order after the other', withTerraform, async (t) => {
  const launcher = launcherFor(t);
  launcher.warm(2);
  const setup = createSetup(t, { 'main.tf': 'output "it" { value = 1 }\n' });
  const first = await plan(launcher, setup);
  assert.equal(await first.ended, 'planned');
  assert.ok(isAlive(first.runner));
  const second = await plan(launcher, setup);
  assert.deepEqual(second.runner, first.runner);
  const other = await plan(launcher, createSetup(t, { 'main.tf': '' }));
  assert.notDeepEqual(other.runner, first.runner);
  assert.deepEqual(await Promise.all([second.ended, other.ended]), ['planned', 'planned']);
  launcher[Symbol.dispose]();
  await Promise.all([first.runner, other.runner].map(untilEnded));
});

test('a runner whose attempt did not end as usual gets no other order', withTerraform, async (t) => {
  const launcher = launcherFor(t);
  const setup = createSetup(t, { 'main.tf': 'this is not HCL' });
  const { runner, ended } = await plan(launcher, setup);
  assert.equal(await ended, 'failed');
  await untilEnded(runner);
});

test('a runner completes its order when the agent ends, and then ends', withTerraform, async (t) => {
  const launcher = launcherFor(t);
  const setup = createSetup(t, { 'main.tf': 'output "it" { value = 1 }\n' });
  const { runner, ended } = await plan(launcher, setup);
  launcher[Symbol.dispose]();
  assert.equal(await ended, 'planned');
  await untilEnded(runner);
});

test('of several ready runners one stays, after no run has begun for a while', withTerraform, async (t) => {
  const launcher = launcherFor(t, 3_000);
  launcher.warm(2);
  const code = { 'main.tf': 'output "it" { value = 1 }\n' };
  const [first, second] = await Promise.all(
    [createSetup(t, code), createSetup(t, code)].map((setup) => plan(launcher, setup)),
  );
  assert.deepEqual(await Promise.all([first?.ended, second?.ended]), ['planned', 'planned']);
  const runners = [first?.runner, second?.runner].filter((runner) => runner !== undefined);
  const alive = () => runners.filter(isAlive);
  await until('the end of one', () => alive().length === 1);
  const third = await plan(launcher, createSetup(t, code));
  assert.deepEqual([third.runner], alive(), 'the other gets the next order');
  assert.equal(await third.ended, 'planned');
});
