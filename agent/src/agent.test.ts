import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { AgentSetup } from '../testing/agent-setup.ts';
import { readersOf } from '../testing/readers.ts';
import { withBubblewrap, withTerraform } from '../testing/runner-setup.ts';
import { isAlive, type ProcessIdentity } from './processes/proc.ts';
import { readRunner } from './spool/read-attempt.ts';

const simple = `
variable "size" { default = "one" }
resource "terraform_data" "first" { input = var.size }
output "size" { value = terraform_data.first.output }
variable "login" { default = null }
output "login" { value = var.login }
`;

test('the agent plans, applies in the same tree, and leaves nothing behind', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, { 'main.tf': simple });
  setup.server.handOver = (attempt, outcome) =>
    outcome.result === 'planned' ? setup.applyJob(attempt, true) : null;
  const agent = setup.startAgent();
  const login = '{ password = "kept-inside" }';
  const job = setup.job({
    variables: {
      environment: [],
      terraform: [
        { name: 'size', value: 'planted-secret', isSensitive: true },
        { name: 'login', value: login, isSensitive: true, format: 'HCL' },
      ],
    },
    secrets: [login, 'planted-secret'],
  });
  setup.server.enqueue(job);
  const planned = await setup.outcomeOf(job);
  assert.equal(planned.outcome?.result, 'planned', JSON.stringify(planned.outcome) + agent.log());
  assert.deepEqual([...planned.blobs.keys()].sort(), ['plan', 'tree']);
  const applied = await setup.outcomeOf({ jobId: 'job-2', attempt: 1 });
  assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));
  assert.equal(applied.states.at(-1)?.query.moment, 'final');
  assert.match(applied.states.at(-1)?.bytes.toString() ?? '', /terraform_data/);
  assert.ok((applied.mark?.length ?? 0) >= 16);
  assert.match(applied.logs.get('tf:apply')?.toString() ?? '', /Apply complete|Creation complete/);
  assert.ok(applied.events.some((event) => event.kind === 'resource' && event.status === 'done'));
  for (const attempt of [planned, applied]) {
    const text =
      JSON.stringify(attempt.events) +
      [...attempt.logs.values()].join('') +
      JSON.stringify({ ...attempt.outcome });
    assert.doesNotMatch(text, /planted-secret|kept-inside/);
  }
  assert.match(applied.logs.get('tf:apply')?.toString() ?? '', /"password" = "\*\*\*"/);
  await setup.until(() => setup.spooled().length === 0, 'an empty spool');
  assert.deepEqual(
    readdirSync(setup.workFolder).filter((name) => !name.startsWith('.')),
    [],
  );
  assert.deepEqual(setup.server.problems, []);
  assert.doesNotMatch(agent.log(), /planted-secret|agent-secret/);
  assert.equal(await agent.kill('SIGTERM'), 0);
  assert.deepEqual(
    setup.server.goodbyes.map((one) => one.held),
    [[]],
  );
});

for (const isFollowed of [true, false])
  test(
    `a process that read for a plan ${isFollowed ? 'reads for its immediate apply' : 'waits for the next run of its runner only where that has its own user'}`,
    withBubblewrap,
    async (t) => {
      const setup = await AgentSetup.create(t, { 'main.tf': simple });
      let runner: ProcessIdentity | null = null;
      let readers: ProcessIdentity[] = [];
      setup.server.handOver = (attempt, outcome) => {
        if (outcome.result !== 'planned') return null;
        runner = readRunner(setup.spool(attempt.job));
        readers = runner === null ? [] : readersOf(runner);
        return isFollowed ? setup.applyJob(attempt, true) : null;
      };
      setup.startAgent({ ENVARIUM_AGENT_CONCURRENCY: '2' });
      const job = setup.job({ isApprovalSkipped: true });
      setup.server.enqueue(job);
      await setup.outcomeOf(job);
      assert.equal(readers.length, 1);
      if (isFollowed) {
        const apply = { jobId: 'job-2', attempt: 1 };
        await setup.until(() => setup.server.attempt(apply)?.mark != null, 'the mark of the apply');
        assert.deepEqual(readRunner(setup.spool(apply)), runner);
        assert.ok(readers.every(isAlive));
        assert.equal((await setup.outcomeOf(apply)).outcome?.result, 'applied');
      }
      await setup.until(() => setup.spooled().length === 0, 'an empty spool');
      assert.deepEqual(readers.filter(isAlive), process.getuid?.() === 0 ? readers : []);
    },
  );
