import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { firstThen } from '../../../testing/configurations.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  type StartOptions,
  withTerraform,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { endProcessesOf, processesOf } from '../../processes/end-processes.ts';
import { findProgram } from '../../processes/programs.ts';

/** One resource is created immediately; the next one takes as long as the command in its provisioner. */
function slow(command: string): string {
  return firstThen('slow', command);
}

/** A tool whose plan waits forever. */
function hangingTool(setup: RunnerSetup): StartOptions {
  const program = join(setup.folder, 'terraform');
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" = plan ] && exec sleep 1000\nexec ${findProgram('terraform')} "$@"\n`,
    { mode: 0o755 },
  );
  return { toolPaths: { terraform: program } };
}

function leftOver(setup: RunnerSetup): number[] {
  return setup.slotUid === null ? [] : processesOf(setup.slotUid);
}

/** Whether a process of the slot is stopped, so that only a kill reaches it. */
function hasStopped(setup: RunnerSetup): boolean {
  return leftOver(setup).some((pid) => /\) T /.test(readIf(`/proc/${pid}/stat`)));
}

test('an aborted apply is interrupted, and its state is stored', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': slow('echo began; sleep 100') });
  const running = setup.start(setup.applyJob(await setup.run(setup.job())));
  await running.until(
    () => /began/.test(readIf(running.spool.stepLog('tf:apply'))),
    'the provisioner to begin',
  );
  const startedAt = Date.now();
  running.abort('gently');
  const ran = await expectResult('aborted', running.ended);
  assert.equal(ran.steps()['tf:apply'], 'CANCELLED');
  assert.match(ran.log('tf:apply'), /Interrupt received/);
  assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  assert.deepEqual(ran.outcome.unrecorded, []);
  assert.ok(Date.now() - startedAt < 5_000);
  assert.deepEqual(leftOver(setup), []);
});

test('a tool that ignores the interrupt is killed after the abort time', withTerraformAsRoot, async (t) => {
  // In a sandbox the tool is the first process, which nothing inside can stop.
  const setup = createSetup(
    t,
    { 'main.tf': slow('echo began; kill -STOP $PPID; sleep 100') },
    { isolation: 'off' },
  );
  const planned = await setup.run(setup.job());
  const job = setup.applyJob(planned);
  const running = setup.start({ ...job, limits: { ...job.limits, abortSeconds: 1 } });
  // "began" is printed just before the tool is stopped; if interrupted in between, it would still write its
  // state.
  await running.until(() => hasStopped(setup), 'the tool to be stopped');
  running.abort('gently');
  const ran = await expectResult('aborted', running.ended);
  assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  assert.deepEqual(ran.outcome.unrecorded, [{ address: 'terraform_data.slow', certainty: 'may exist' }]);
  assert.deepEqual(leftOver(setup), []);
});

test(
  'a request to abort now kills the tool immediately, even after a gentle request',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': slow('echo began; kill -STOP $PPID; sleep 100') });
    const job = setup.applyJob(await setup.run(setup.job()));
    const running = setup.start({ ...job, limits: { ...job.limits, abortSeconds: 100 } });
    await running.until(
      () => /began/.test(readIf(running.spool.stepLog('tf:apply'))),
      'the provisioner to begin',
    );
    running.abort('gently');
    running.abort('now');
    await expectResult('aborted', running.ended);
  },
);

test('a plan can be aborted', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const job = setup.job();
  const running = setup.start({ ...job, limits: { ...job.limits, abortSeconds: 1 } }, hangingTool(setup));
  await running.until(() => existsSync(running.spool.stepLog('tf:plan')), 'the plan to begin');
  running.abort('gently');
  const ran = await expectResult('aborted', running.ended);
  assert.equal(ran.steps()['tf:plan'], 'CANCELLED');
  assert.deepEqual(leftOver(setup), []);
});

test(
  'a run that takes longer than its limit is stopped with the name of the setting',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '' });
    const job = setup.job();
    const ran = await setup.run(
      { ...job, limits: { ...job.limits, runSeconds: 2, abortSeconds: 1 } },
      hangingTool(setup),
    );
    assert.equal(ran.outcome.result, 'timed-out');
    assert.match(ran.outcome.error?.message ?? '', /longer than 2 seconds.*ENVARIUM_RUN_TIME_LIMIT_SECONDS/);
    assert.equal(ran.steps()['tf:plan'], 'TIMEOUT');
  },
);

test(
  'an apply that takes longer than its limit is stopped, and its state is stored',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': slow('echo began; sleep 100') });
    const job = setup.applyJob(await setup.run(setup.job()));
    const ran = await setup.run({ ...job, limits: { ...job.limits, runSeconds: 3, abortSeconds: 2 } });
    assert.deepEqual(
      [ran.outcome.result, ran.steps()['tf:apply'], ran.outcome.failedCommand],
      ['timed-out', 'TIMEOUT', 'terraform apply'],
    );
    assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  },
);

test('a tool whose output would fill the disk is stopped', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const program = join(setup.folder, 'terraform');
  writeFileSync(program, `#!/bin/sh\n[ "$1" = plan ] && exec yes\nexec ${findProgram('terraform')} "$@"\n`, {
    mode: 0o755,
  });
  const job = setup.job();
  const ran = await setup.run(
    { ...job, limits: { ...job.limits, stepLogBytes: 1_000_000, abortSeconds: 1 } },
    { toolPaths: { terraform: program } },
  );
  assert.match(failureMessageOf(ran), /^tf:plan printed more than 4 MB.*ENVARIUM_STEP_LOG_LIMIT_MB/);
  assert.equal(ran.steps()['tf:plan'], 'FAIL');
});

test(
  'a runner interrupts its tool when the agent has had no contact for the grace time',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': slow('echo began; sleep 100') });
    const job = setup.applyJob(await setup.run(setup.job()));
    const running = setup.start(job, { contact: false });
    await running.until(
      () => /began/.test(readIf(running.spool.stepLog('tf:apply'))),
      'the provisioner to begin',
    );
    writeFileSync(running.spool.contact, String(uptime() - 61));
    const ran = await expectResult('internal', running.ended);
    assert.match(
      ran.outcome.error?.message ?? '',
      /no contact with the server.*ENVARIUM_OFFLINE_GRACE_SECONDS/,
    );
    assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  },
);

test('a tool whose runner is killed is interrupted and ends cleanly', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': slow('echo began; sleep 100') });
  const job = setup.applyJob(await setup.run(setup.job()));
  const running = setup.start(job);
  running.ended.catch(() => {});
  await running.until(
    () => /began/.test(readIf(running.spool.stepLog('tf:apply'))),
    'the provisioner to begin',
  );
  const stateFile = join(
    setup.workFolder,
    job.environmentId,
    'state',
    job.workspaceName,
    'terraform.tfstate',
  );
  running.child.kill('SIGKILL');
  await until(
    'the last state and the end of the tool',
    () =>
      /first/.test(readIf(stateFile)) &&
      /Interrupt received[^]*Error/.test(readIf(running.spool.stepLog('tf:apply'))),
  );
  const programs = () => leftOver(setup).map((pid) => readIf(`/proc/${pid}/comm`).trim());
  await until(
    'the end of the tool and of the tree server',
    () => !programs().some((name) => name === 'terraform' || name.startsWith('node')),
  );
  // Processes that the provisioner left are ended by the agent with all others of the slot.
  if (setup.slotUid !== null) await endProcessesOf(setup.slotUid);
});

function readIf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

test(
  'an apply is not disturbed where another agent of the machine claims the next deployment',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': slow('echo began; sleep 4') });
    const running = setup.start(setup.applyJob(await setup.run(setup.job())));
    await running.until(
      () => /began/.test(readIf(running.spool.stepLog('tf:apply'))),
      'the provisioner to begin',
    );
    const { outcome } = await expectResult('internal', setup.run(setup.job()));
    assert.match(outcome.error?.message ?? '', /still changes resources in .*ENVARIUM_WORK_DIR/);
    const ran = await expectResult('applied', running.ended);
    assert.match(setup.newestState(ran)?.toString() ?? '', /"slow"/);
    await expectResult('planned', setup.run(setup.job()));
  },
);
