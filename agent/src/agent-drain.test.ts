import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentSetup } from '../testing/agent-setup.ts';
import { withTerraform } from '../testing/runner-setup.ts';
import { isAlive } from './processes/proc.ts';
import { readRunner } from './spool/read-attempt.ts';

const sleeping = (seconds: number) =>
  `resource "terraform_data" "slow" {\n  provisioner "local-exec" { command = "sleep ${seconds}; echo slept" }\n}`;

/** An agent whose apply is running, with another job in the queue. */
async function applying(setup: AgentSetup, drainSeconds: string) {
  setup.server.handOver = (attempt, outcome) =>
    outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
  const agent = setup.startAgent({ ENVARIUM_AGENT_DRAIN_SECONDS: drainSeconds });
  setup.server.enqueue(setup.job());
  const apply = { jobId: 'job-2', attempt: 1 };
  await setup.until(() => setup.server.attempt(apply)?.mark != null, 'the mark of the apply');
  const waiting = setup.job();
  setup.server.enqueue(waiting);
  return { agent, apply, waiting };
}

test('an agent that drains ends its runs, begins no others, and ends', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': sleeping(3) });
  const { agent, apply, waiting } = await applying(setup, '60');
  agent.child.kill('SIGTERM');
  await setup.until(() => setup.server.heartbeats.at(-1)?.condition?.isDraining === true, 'a heartbeat');
  assert.equal(await agent.ended, 0, agent.log());
  assert.equal(setup.server.attempt(apply)?.outcome?.result, 'applied', agent.log());
  assert.match(setup.server.attempt(apply)?.logs.get('tf:apply')?.toString() ?? '', /slept/);
  assert.equal(setup.server.attempt(waiting)?.mark ?? null, null);
  assert.deepEqual(setup.spooled(), []);
  assert.deepEqual(
    setup.server.goodbyes.map(({ held }) => held),
    [[]],
  );
});

test('a drain has a limit, after which runs continue without the agent', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': sleeping(8) });
  const { agent, apply } = await applying(setup, '1');
  const runner = readRunner(setup.spool(apply));
  assert.equal(await agent.kill('SIGTERM'), 0);
  assert.ok(runner && isAlive(runner));
  assert.equal(setup.server.attempt(apply)?.outcome ?? null, null);
  setup.startAgent();
  assert.equal((await setup.outcomeOf(apply)).outcome?.result, 'applied');
});

test('a second request ends a drain at once', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': sleeping(8) });
  const { agent, apply } = await applying(setup, '3600');
  agent.child.kill('SIGTERM');
  await setup.until(() => /takes no further jobs/.test(agent.log()), 'the drain');
  assert.equal(await agent.kill('SIGTERM'), 0);
  setup.startAgent();
  assert.equal((await setup.outcomeOf(apply)).outcome?.result, 'applied');
});

test('an agent whose memory is short runs one job at a time, and says it', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': sleeping(3) });
  setup.server.handOver = (attempt, outcome) =>
    outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
  setup.startAgent({ ENVARIUM_AGENT_CONCURRENCY: '2', ENVARIUM_AGENT_RUN_MEMORY_MB: '1000000' });
  const [first, second] = [setup.job(), setup.job()];
  setup.server.enqueue(first);
  setup.server.enqueue(second);
  await setup.until(() => setup.server.heartbeats.at(-1)?.condition?.memoryShortage != null, 'a heartbeat');
  assert.equal(setup.server.attempt(second)?.outcome ?? null, null);
  assert.equal((await setup.outcomeOf(second)).outcome?.result, 'planned');
  assert.equal((await setup.outcomeOf(first)).outcome?.result, 'planned');
});
