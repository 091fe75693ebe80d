import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { AgentBench } from './agent-bench.ts';
import { withTerraform } from './runner/runner-bench.ts';

const simple = `
variable "size" { default = "one" }
resource "terraform_data" "first" { input = var.size }
output "size" { value = terraform_data.first.output }
`;

test('plans, goes straight on with the apply in the same tree, and leaves nothing behind', withTerraform, async (t) => {
  const bench = await AgentBench.create(t, { 'main.tf': simple });
  bench.server.handOver = (attempt, outcome) => (outcome.result === 'planned' ? bench.applyJob(attempt, true) : null);
  const agent = bench.startAgent();
  const job = bench.job({
    variables: { environment: [], terraform: [{ name: 'size', value: 'planted-secret', isSensitive: true }] },
    secrets: ['planted-secret'],
  });
  bench.server.enqueue(job);
  const planned = await bench.outcomeOf(job);
  assert.equal(planned.outcome?.result, 'planned', JSON.stringify(planned.outcome) + agent.log());
  assert.deepEqual([...planned.blobs.keys()].sort(), ['plan', 'tree']);
  const applied = await bench.outcomeOf({ jobId: 'job-2', attempt: 1 });
  assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));
  assert.equal(applied.outcome?.stateVersionId, 'state-of-job-2-1');
  assert.equal(applied.states.at(-1)?.query.moment, 'final');
  assert.match(applied.states.at(-1)?.bytes.toString() ?? '', /terraform_data/);
  assert.ok((applied.mark?.length ?? 0) >= 16);
  assert.match(applied.logs.get('tf:apply')?.toString() ?? '', /Apply complete|Creation complete/);
  assert.ok(applied.events.some((event) => event.kind === 'resource' && event.status === 'done'));
  for (const attempt of [planned, applied]) {
    const text = JSON.stringify(attempt.events) + [...attempt.logs.values()].join('') + JSON.stringify({ ...attempt.outcome });
    assert.doesNotMatch(text, /planted-secret/);
  }
  await bench.until(() => bench.spooled().length === 0, 'an empty spool');
  assert.deepEqual(
    readdirSync(bench.workFolder).filter((name) => !name.startsWith('.')),
    [],
  );
  assert.deepEqual(bench.server.problems, []);
  assert.doesNotMatch(agent.log(), /planted-secret|agent-secret/);
  assert.equal(await agent.kill('SIGTERM'), 0);
  assert.deepEqual(
    bench.server.goodbyes.map((one) => one.held),
    [[]],
  );
});
