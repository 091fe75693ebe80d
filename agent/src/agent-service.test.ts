import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgentSetup } from '../testing/agent-setup.ts';
import { Refused } from '../testing/protocol-server.ts';
import { withTerraform } from '../testing/runner-setup.ts';
import { isAlive } from './processes/proc.ts';
import { findProgram } from './processes/programs.ts';
import { readRunner } from './spool/read-attempt.ts';

const simple = 'resource "terraform_data" "first" { input = "one" }';
const slow =
  'resource "terraform_data" "slow" {\n  provisioner "local-exec" { command = "sleep 2; echo slept" }\n}';

test(
  'an apply after an approval gets its packed tree and its state from the service',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': simple });
    setup.startAgent();
    const plan = setup.job();
    setup.server.enqueue(plan);
    const planned = await setup.outcomeOf(plan);
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    const apply = setup.applyJob(planned, false);
    setup.server.enqueue(apply);
    const applied = await setup.outcomeOf(apply);
    assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));

    const state = applied.states.at(-1);
    assert.ok(state);
    const { serial, lineage } = JSON.parse(state.bytes.toString()) as { serial: number; lineage: string };
    setup.server.stateContents.set('version-1', state.bytes);
    const current = { stateVersionId: 'version-1', serial, lineage, sha256: state.query.sha256 };
    const again = setup.job({ environmentId: plan.environmentId, state: { isForced: false, current } });
    setup.server.enqueue(again);
    const unchanged = await setup.outcomeOf(again);
    assert.equal(unchanged.outcome?.hasResourceChanges, false, JSON.stringify(unchanged.outcome));
    assert.deepEqual(unchanged.states, []);
    assert.equal(unchanged.outcome?.stateVersionId, 'version-1');

    const wrong = setup.job({ state: { isForced: false, current: { ...current, sha256: '0'.repeat(64) } } });
    setup.server.enqueue(wrong);
    assert.match(
      (await setup.outcomeOf(wrong)).outcome?.error?.message ?? '',
      /version-1: its checksum differs/,
    );
    const elsewhere = { ...setup.applyJob(planned, false), workFolder: '/elsewhere' };
    setup.server.enqueue(elsewhere);
    assert.match((await setup.outcomeOf(elsewhere)).outcome?.error?.message ?? '', /ENVARIUM_WORK_DIR/);
    assert.deepEqual(setup.server.problems, []);
  },
);

test('reports whose answers are lost are stored once', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  let count = 0;
  setup.server.losesAnswer = (call) => ['report', 'putBlob', 'finish'].includes(call) && count++ % 2 === 0;
  setup.startAgent();
  const job = setup.job();
  let raw = '';
  setup.server.handOver = () => {
    raw = readFileSync(setup.spool(job).stepLog('tf:plan'), 'utf8');
    return null;
  };
  setup.server.enqueue(job);
  const planned = await setup.outcomeOf(job);
  assert.equal(planned.logs.get('tf:plan')?.toString(), raw);
  assert.equal(new Set(planned.events.map((event) => JSON.stringify(event))).size, planned.events.length);
  assert.deepEqual(setup.server.problems, []);
});

test('an abort that a heartbeat requests interrupts the tool', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': slow.replace('sleep 2', 'sleep 30') });
  setup.server.handOver = (attempt, outcome) =>
    outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
  setup.startAgent();
  setup.server.enqueue(setup.job());
  const apply = { jobId: 'job-2', attempt: 1 };
  await setup.until(
    () =>
      setup.server
        .attempt(apply)
        ?.events.some((event) => event.kind === 'resource' && event.status === 'started') ?? false,
    'a started resource',
  );
  setup.server.aborts.push({ ...apply, how: 'gently' });
  const ended = await setup.outcomeOf(apply);
  assert.equal(ended.outcome?.result, 'aborted', JSON.stringify(ended.outcome));
  assert.deepEqual(setup.server.problems, []);
});

test('an agent that signs off does not stop its run, and the next one finds it', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': slow });
  setup.server.handOver = (attempt, outcome) =>
    outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
  const first = setup.startAgent();
  setup.server.enqueue(setup.job());
  const apply = { jobId: 'job-2', attempt: 1 };
  await setup.until(() => setup.server.attempt(apply)?.mark != null, 'a mark');
  assert.equal(await first.kill('SIGTERM'), 0);
  assert.deepEqual(
    setup.server.goodbyes.map((one) => one.held.map((held) => held.jobId)),
    [['job-2']],
  );
  const runner = readRunner(setup.spool(apply));
  assert.ok(runner && isAlive(runner));
  setup.startAgent();
  const applied = await setup.outcomeOf(apply);
  assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));
  assert.match(applied.logs.get('tf:apply')?.toString() ?? '', /slept/);
  assert.deepEqual(
    setup.server.registrations.at(-1)?.held.map((held) => held.jobId),
    ['job-2'],
  );
  assert.deepEqual(setup.server.problems, []);
});

test(
  'an attempt that the server does not list is stopped, its state is sent, and its folders are removed',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, {
      'main.tf': `${slow.replace('sleep 2', 'sleep 30')}\nresource "terraform_data" "quick" {}`,
    });
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    setup.startAgent();
    setup.server.enqueue(setup.job());
    const apply = { jobId: 'job-2', attempt: 1 };
    await setup.until(
      () =>
        setup.server
          .attempt(apply)
          ?.events.some((event) => event.kind === 'resource' && event.status === 'done') ?? false,
      'a made resource',
    );
    const attempt = setup.server.attempt(apply);
    assert.ok(attempt);
    attempt.isOutdated = true;
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    assert.equal(attempt.outcome, null);
    assert.match(attempt.states.at(-1)?.bytes.toString() ?? '', /"quick"/);
    assert.equal(attempt.states.at(-1)?.query.moment, 'final');
    assert.deepEqual(setup.server.problems, []);
  },
);

test(
  'an attempt that was replaced before its claim arrived is stopped and leaves nothing',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': simple });
    const { attempts } = setup.server;
    attempts.set = (name, attempt) =>
      Map.prototype.set.call(attempts, name, { ...attempt, isOutdated: true }) as typeof attempts;
    const agent = setup.startAgent();
    const stopped = () => agent.log().split('no longer lists the attempt').length - 1;
    const late = [1, 2].map(() => setup.job());
    for (const [index, job] of late.entries()) {
      setup.server.enqueue(job);
      await setup.until(() => stopped() === index + 1 && setup.spooled().length === 0, 'an empty spool');
      assert.equal(setup.server.attempt(job)?.outcome, null);
    }
    const children = () =>
      readFileSync(`/proc/${agent.child.pid}/task/${agent.child.pid}/children`, 'utf8').trim().split(' ')
        .length;
    await setup.until(() => children() === 1, 'one warm runner');
    assert.deepEqual(setup.server.problems, []);
  },
);

test('an apply that was replaced before it arrived never starts its tool', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': slow });
  setup.server.handOver = (attempt, outcome) => {
    if (outcome.result !== 'planned') return null;
    const { attempts } = setup.server;
    attempts.set = (name, one) =>
      Map.prototype.set.call(attempts, name, { ...one, isOutdated: true }) as typeof attempts;
    return setup.applyJob(attempt, true);
  };
  setup.startAgent();
  setup.server.enqueue(setup.job());
  const apply = { jobId: 'job-2', attempt: 1 };
  await setup.until(
    () => setup.server.attempt(apply) !== undefined && setup.spooled().length === 0,
    'an empty spool',
  );
  assert.deepEqual(
    [setup.server.attempt(apply)?.mark, setup.server.attempt(apply)?.states],
    [null, []],
    'the tool did nothing',
  );
  assert.deepEqual(setup.server.problems, []);
});

test(
  'an attempt that is replaced while it waits for its place is never started',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': slow });
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    const agent = setup.startAgent({ ENVARIUM_AGENT_CONCURRENCY: '2' });
    const first = setup.job();
    setup.server.enqueue(first);
    const apply = { jobId: 'job-2', attempt: 1 };
    await setup.until(() => setup.server.attempt(apply)?.mark != null, 'a mark');
    const waiting = setup.job({ environmentId: first.environmentId });
    setup.server.enqueue(waiting);
    await setup.until(() => setup.server.attempt(waiting) !== undefined, 'a claim');
    Object.assign(setup.server.attempt(waiting) ?? {}, { isOutdated: true });
    await setup.outcomeOf(apply);
    await setup.until(() => /before it was started here/.test(agent.log()), 'a job that is given back');
    assert.deepEqual(setup.spooled(), []);
    assert.doesNotMatch(agent.log(), /no longer lists the attempt/);
    assert.deepEqual(setup.server.problems, []);
  },
);

test('of a log that its task extends, no more than the limit is stored', {
  skip: withTerraform.skip || (findProgram('python3') === null ? 'needs python3' : false),
}, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  setup.startAgent();
  const plain = setup.job();
  const taskPayload = 'echo output; python3 -c "import os; os.ftruncate(1, 3 << 30)"; sleep 100';
  const limits = { ...plain.limits, stepLogBytes: 1_000_000 };
  const job = { ...plain, type: 'task', taskPayload, limits } as const;
  setup.server.enqueue(job);
  const { outcome, logs } = await setup.outcomeOf(job);
  assert.equal(outcome?.result, 'failed');
  assert.match(outcome?.error?.message ?? '', /task:run extended its own log/);
  const log = logs.get('task:run')?.toString('latin1') ?? '';
  assert.match(log, /output\n[^]*3,000,000 bytes are left out here/);
  assert.ok(log.length < 1_001_000, `${log.length} bytes`);
  assert.deepEqual(setup.server.problems, []);
});

test('an outcome that the service cannot accept still ends the run', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  setup.server.handOver = (_attempt, outcome) => {
    if (outcome.plan) throw new Refused(413, 'payload_too_large');
    return null;
  };
  setup.startAgent();
  const job = setup.job();
  setup.server.enqueue(job);
  const { outcome } = await setup.outcomeOf(job);
  assert.equal(outcome?.result, 'internal');
  assert.match(outcome?.error?.message ?? '', /ended as planned, but the service refused[^]*413/);
  await setup.until(() => setup.spooled().length === 0, 'an empty spool');
});

test(
  'an outcome waits for as long as the service refuses the secret of the agent',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': simple });
    let isRefused = true;
    setup.server.handOver = () => {
      if (isRefused) throw new Refused(401, 'unauthorized');
      return null;
    };
    const agent = setup.startAgent({ ENVARIUM_REPORT_PATIENCE_SECONDS: '1' });
    const job = setup.job();
    setup.server.enqueue(job);
    const retries = () => agent.log().match(/cannot report the attempt; retrying/g)?.length ?? 0;
    await setup.until(() => retries() >= 2, 'a refusal after the patience for others');
    isRefused = false;
    assert.equal((await setup.outcomeOf(job)).outcome?.result, 'planned');
    assert.doesNotMatch(agent.log(), /giving up/);
  },
);

test(
  'an outcome on which the service always fails is given up, and its folder is kept',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': simple });
    const isApply = ({ result }: { result: string }) => result === 'applied';
    setup.server.handOver = (attempt, outcome) => {
      if (isApply(outcome)) throw new Refused(500, 'internal_error');
      return attempt.job.jobId === 'job-1' ? setup.applyJob(attempt, true) : null;
    };
    const agent = setup.startAgent({ ENVARIUM_REPORT_PATIENCE_SECONDS: '1' });
    setup.server.enqueue(setup.job());
    const kept = join(setup.spoolFolder, 'given-up', 'job-2-1');
    const apply = { jobId: 'job-2', attempt: 1 };
    await setup.until(() => setup.server.attempt(apply)?.mark != null, 'the start of the apply');
    await setup.until(() => /cannot report the attempt; retrying/.test(agent.log()), 'a refused outcome');
    await setup.until(() => existsSync(kept), 'the folder that is kept');
    assert.match(agent.log(), /giving up, and keeping its folder/);
    const { result } = JSON.parse(readFileSync(join(kept, 'outcome.json'), 'utf8')) as { result: string };
    assert.equal(result, 'applied');
    assert.ok(setup.server.attempt(apply)?.states.length);
    // Its slot is free, and the service learns that the agent no longer has it.
    const next = setup.job();
    setup.server.enqueue(next);
    assert.equal((await setup.outcomeOf(next)).outcome?.result, 'planned');
    await setup.until(() => setup.server.heartbeats.at(-1)?.held.length === 0, 'a list without it');
  },
);

test(
  'a run whose state the service refuses reports it, and the agent keeps the state',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': simple });
    setup.server.stateRefusal = new Refused(413, 'payload_too_large');
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    setup.startAgent();
    setup.server.enqueue(setup.job());
    const { outcome } = await setup.outcomeOf({ jobId: 'job-2', attempt: 1 });
    assert.equal(outcome?.result, 'internal');
    const [, file = ''] =
      /state of this run was not stored: .*413.* in (\S+): import/.exec(outcome?.error?.message ?? '') ?? [];
    assert.match(readFileSync(file, 'utf8'), /"resources"/);
    assert.equal(file, join(setup.spoolFolder, 'refused-states', 'job-2-1.tfstate'));
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    assert.deepEqual(setup.server.problems, []);
  },
);

test(
  'the refused state of an attempt that the server no longer lists is kept, too',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, {
      'main.tf': `${slow.replace('sleep 2', 'sleep 30')}\nresource "terraform_data" "quick" {}`,
    });
    setup.server.stateRefusal = new Refused(413, 'payload_too_large');
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    const agent = setup.startAgent();
    setup.server.enqueue(setup.job());
    const apply = { jobId: 'job-2', attempt: 1 };
    const hasQuick = () =>
      setup.server.attempt(apply)?.events.some((one) => one.kind === 'resource' && one.status === 'done');
    await setup.until(() => hasQuick() === true, 'a made resource');
    Object.assign(setup.server.attempt(apply) ?? {}, { isOutdated: true });
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    const file = join(setup.spoolFolder, 'refused-states', 'job-2-1.tfstate');
    assert.match(readFileSync(file, 'utf8'), /"quick"/);
    assert.match(agent.log(), new RegExp(`state of this run was not stored: .*413.*${file}`));
    assert.deepEqual(setup.server.problems, []);
  },
);

test('an outage of the service loses nothing', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  const agent = setup.startAgent();
  const job = setup.job();
  setup.server.enqueue(job);
  await setup.until(() => setup.server.attempt(job) !== undefined, 'a claim');
  setup.server.isDown = true;
  await setup.until(() => existsSync(setup.spool(job).outcome), 'an outcome in the spool');
  setup.server.isDown = false;
  assert.equal((await setup.outcomeOf(job)).outcome?.result, 'planned');
  assert.match(agent.log(), /server is unreachable/);
  assert.deepEqual(setup.server.problems, []);
});

test(
  'only one agent can hold a spool; an agent whose epoch was replaced ends without stopping its runs',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': slow.replace('sleep 2', 'sleep 60') });
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    const first = setup.startAgent();
    setup.server.enqueue(setup.job());
    await setup.until(() => setup.server.attempt({ jobId: 'job-2', attempt: 1 })?.mark != null, 'a mark');
    const second = setup.startAgent();
    assert.equal(await second.ended, 1);
    assert.match(second.log(), new RegExp(`in use by process ${first.child.pid}`));
    setup.server.epoch++;
    assert.equal(await first.ended, 1);
    assert.match(first.log(), /epoch_replaced/);
    const runner = readRunner(setup.spool({ jobId: 'job-2', attempt: 1 }));
    assert.ok(runner && isAlive(runner));
  },
);

test('a local agent ends with its standard input; the next one takes over', async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  const first = setup.startAgent({ ENVARIUM_AGENT_ENDS_WITH_STDIN: 'true' });
  await setup.until(() => setup.server.registrations.length === 1, 'a registration');
  const second = setup.startAgent({ ENVARIUM_AGENT_ENDS_WITH_STDIN: 'true' });
  first.child.stdin?.end();
  assert.equal(await first.ended, 0);
  await setup.until(() => setup.server.registrations.length === 2, 'a second registration');
  second.child.stdin?.end();
  assert.equal(await second.ended, 0);
});

test('a wrong key and missing settings are reported', async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  writeFileSync(join(setup.folder, 'wrong'), 'planted-wrong-secret');
  const wrong = setup.startAgent({ ENVARIUM_AGENT_SECRET_FILE: join(setup.folder, 'wrong') });
  assert.equal(await wrong.ended, 1);
  assert.match(wrong.log(), /register was refused with 401/);
  assert.doesNotMatch(wrong.log(), /planted-wrong-secret/);
  const bare = setup.startAgent({ ENVARIUM_URL: '', ENVARIUM_AGENT_KEY: '' });
  assert.equal(await bare.ended, 1);
  assert.match(bare.log(), /ENVARIUM_URL is not set[^]*ENVARIUM_AGENT_KEY is not set/);
  chmodSync(setup.folder, 0o700);
  if (process.getuid?.() !== 0) return;
  const closed = setup.startAgent();
  assert.equal(await closed.ended, 1);
  assert.match(closed.log(), /ENVARIUM_WORK_DIR: .* cannot be reached/);
});
