import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { AgentSetup, type StartedAgent } from '../testing/agent-setup.ts';
import { withTerraform } from '../testing/runner-setup.ts';
import { createMasker, patternsOf } from './logs/mask.ts';
import { identifyProcess, type ProcessIdentity } from './processes/proc.ts';
import { readRunner } from './spool/read-attempt.ts';

const secret = 'pl4nted-s3cret';

/** Each resource leaves a line outside the state, which shows what really happened. */
const world = `
variable "word" { sensitive = false }
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "echo first >> marker; for i in $(seq 1 400); do echo line $i $WORD \\u00e9; [ $((i % 40)) = 0 ] && sleep 0.05; done; true"
    environment = { WORD = var.word }
  }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo second >> marker; echo seen $(paste -sd, marker)"
  }
}`;

/** The marker file is in the tree: a run can write nowhere else. */
function markerOf(setup: AgentSetup): string {
  const file = join(setup.workFolder, 'environment-1', 'tree', 'marker');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function variables(): {
  terraform: { name: string; value: string; isSensitive: boolean }[];
  environment: never[];
} {
  return { environment: [], terraform: [{ name: 'word', value: secret, isSensitive: true }] };
}

/** Keeps the log that each step must have when an attempt is finished: its raw file, masked at once. */
function expectedLogs(setup: AgentSetup, steps: readonly string[]): Map<string, Buffer> {
  const expected = new Map<string, Buffer>();
  const before = setup.server.handOver;
  setup.server.handOver = (attempt, outcome) => {
    for (const step of steps) {
      const file = setup.spool(attempt.job).stepLog(step);
      if (!existsSync(file)) continue;
      const masker = createMasker(patternsOf(attempt.job.secrets));
      expected.set(step, Buffer.concat([masker.push(readFileSync(file)), masker.end()]));
    }
    return before(attempt, outcome);
  };
  return expected;
}

for (const { refusesRest, calls } of [
  { refusesRest: true, calls: ['finish 2', 'mark 2', 'putBlob 1', 'putState 2', 'report 1'] },
  // At the end, one call has all that is left.
  { refusesRest: false, calls: ['finish 2', 'mark 2', 'report 1'] },
])
  test(
    `the next agent continues the runs of one that was killed at the first call of any kind, ${refusesRest ? 'one call for each part' : 'small rests with outcomes'}`,
    withTerraform,
    async (t) => {
      const setup = await AgentSetup.create(t, {});
      setup.server.refusesRest = refusesRest;
      setup.commit({ 'main.tf': world });
      setup.server.handOver = (attempt, outcome) =>
        outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
      const expected = expectedLogs(setup, [
        'git:clone',
        'variables:setup',
        'tf:init',
        'tf:plan',
        'tf:apply',
        'tf:output',
        'state:store',
      ]);
      let agent: StartedAgent | undefined;
      const killedAt: string[] = [];
      setup.server.losesAnswer = (call) => {
        const kind = `${call} ${setup.server.attempts.size}`;
        if (['register', 'claim', 'heartbeat', 'goodbye'].includes(call) || killedAt.includes(kind))
          return false;
        killedAt.push(kind);
        agent?.child.kill('SIGKILL');
        return true;
      };
      const job = setup.job({ variables: variables(), secrets: [secret] });
      setup.server.enqueue(job);
      const keepsRestarting = (async () => {
        while (
          setup.server.attempt({ jobId: 'job-2', attempt: 1 })?.outcome == null ||
          setup.spooled().length > 0
        ) {
          agent = setup.startAgent();
          await Promise.race([
            agent.ended,
            setup.until(
              () =>
                setup.server.attempt({ jobId: 'job-2', attempt: 1 })?.outcome != null &&
                setup.spooled().length === 0,
              'the end',
            ),
          ]);
        }
      })();
      await keepsRestarting;
      const planned = await setup.outcomeOf(job);
      const applied = await setup.outcomeOf({ jobId: 'job-2', attempt: 1 });
      assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));
      assert.deepEqual(
        calls.filter((call) => !killedAt.includes(call)),
        [],
        killedAt.join(),
      );
      assert.deepEqual(
        applied.logs
          .get('tf:apply')
          ?.toString()
          ?.match(/seen [a-z,]+$/gm),
        ['seen first,second'],
      );
      for (const [step, bytes] of expected) {
        const stored = planned.logs.get(step) ?? applied.logs.get(step) ?? Buffer.alloc(0);
        assert.ok(
          stored.equals(bytes),
          `${step}: ${stored.length} bytes are stored, ${bytes.length} are expected`,
        );
      }
      assert.match(expected.get('tf:apply')?.toString() ?? '', /line 400 \*\*\* \u00e9/);
      assert.deepEqual(setup.server.problems, []);
    },
  );

test('an agent that is killed before it has a claim on disk does not list it', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': 'resource "terraform_data" "x" {}' });
  const first = setup.startAgent();
  setup.server.losesAnswer = (call) => call === 'claim' && first.child.kill('SIGKILL');
  const job = setup.job();
  setup.server.enqueue(job);
  await first.ended;
  setup.server.losesAnswer = () => false;
  // Files of an agent right before the folder gets its name.
  const unfinished = setup.job();
  await setup.claimElsewhere(unfinished);
  const { folder } = setup.spool(unfinished);
  const building = join(dirname(folder), `.new-${basename(folder)}`);
  renameSync(folder, building);
  setup.startAgent();
  await setup.until(() => setup.server.heartbeats.length > 0, 'a heartbeat');
  const heartbeat = setup.server.heartbeats.at(-1);
  assert.deepEqual([setup.server.registrations.at(-1)?.held, heartbeat?.held], [[], []]);
  assert.deepEqual(
    heartbeat?.condition?.folders.map(({ what }) => what),
    ['spool', 'work'],
  );
  assert.equal(existsSync(building), false);
  const again = { ...job, attempt: 2, fence: 99 };
  setup.server.enqueue(again);
  assert.equal((await setup.outcomeOf(again)).outcome?.result, 'planned');
  assert.deepEqual(setup.server.problems, []);
});

test(
  'an agent that is killed between folder and runner is continued, if still wanted',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, { 'main.tf': 'resource "terraform_data" "x" {}' });
    const first = setup.startAgent();
    await setup.until(() => setup.server.registrations.length === 1, 'a registration');
    // Files of each of them at such a moment.
    const [wanted, replaced, chosen] = [setup.job(), setup.job(), setup.job()];
    for (const job of [wanted, replaced, chosen]) await setup.claimElsewhere(job);
    const runner: ProcessIdentity = { pid: 1, startTicks: 'ended', bootId: 'ended' };
    writeFileSync(setup.spool(chosen).slot, JSON.stringify({ index: 0, uid: null, runner }));
    for (const job of [replaced, chosen])
      Object.assign(setup.server.attempt(job) ?? {}, { isOutdated: true });
    // The attempts that replaced them may be running in these places.
    const places = [replaced, chosen].map((job) => join(setup.workFolder, job.environmentId));
    for (const place of places) mkdirSync(join(place, 'busy'), { recursive: true });
    await first.kill('SIGKILL');
    const second = setup.startAgent();
    assert.equal((await setup.outcomeOf(wanted)).outcome?.result, 'planned', second.log());
    assert.deepEqual(
      setup.server.registrations
        .at(-1)
        ?.held.map((held) => held.jobId)
        .sort(),
      [wanted.jobId, replaced.jobId, chosen.jobId],
    );
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    for (const place of places) assert.ok(existsSync(join(place, 'busy')), second.log());
    assert.deepEqual(setup.server.problems, []);
  },
);

test('a runner that is killed before its mark is reported as lost', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, {
    'main.tf': 'data "external" "slow" { program = ["sleep", "60"] }',
    'wait.tf': 'resource "terraform_data" "x" {}',
  });
  const agent = setup.startAgent();
  const job = setup.job();
  setup.server.enqueue(job);
  await setup.until(
    () => readRunner(setup.spool(job)) !== null && existsSync(setup.spool(job).runner),
    'a runner',
  );
  process.kill(readRunner(setup.spool(job))?.pid ?? 0, 'SIGKILL');
  const lost = await setup.outcomeOf(job);
  assert.equal(lost.outcome?.isLost, true, agent.log());
  assert.equal(lost.outcome?.result, 'internal');
  assert.equal(lost.mark, null);
  await setup.until(() => setup.spooled().length === 0, 'an empty spool');
  assert.deepEqual(setup.server.problems, []);
});

test(
  'when a runner is killed during an apply, its tool ends cleanly and the state is kept',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, {});
    setup.commit({
      'main.tf': `
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "echo begun >> marker; sleep 1; echo ended >> marker" }
}
resource "terraform_data" "third" { depends_on = [terraform_data.second] }
`,
    });
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
    setup.startAgent();
    setup.server.enqueue(setup.job());
    await setup.until(() => markerOf(setup) === 'begun\n', 'the second resource');
    const runner = readRunner(setup.spool({ jobId: 'job-2', attempt: 1 }));
    assert.ok(runner && identifyProcess(runner.pid));
    process.kill(runner.pid, 'SIGKILL');
    const lost = await setup.outcomeOf({ jobId: 'job-2', attempt: 1 });
    assert.equal(lost.outcome?.isLost, true);
    assert.notEqual(lost.mark, null);
    const state = JSON.parse(lost.states.at(-1)?.bytes.toString() ?? '{}') as {
      resources: { name: string }[];
    };
    assert.equal(lost.states.at(-1)?.query.moment, 'final');
    // The second one gets into the state only after the interrupt, as tainted.
    assert.deepEqual(
      ['first', 'second', 'third'].map((name) => state.resources.some((resource) => resource.name === name)),
      [true, true, false],
    );
    assert.deepEqual(
      lost.outcome?.resources?.map((row) => row.name).sort(),
      state.resources.map((resource) => resource.name).sort(),
    );
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    assert.deepEqual(setup.server.problems, []);
  },
);
