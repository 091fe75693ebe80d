import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { FinishRest } from '#protocol/messages/outcome.ts';
import { appliedOutcome, plannedOutcome, sha256, stateFile } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const { agent, sql, createEnvironment, deploymentOf, forgetWork } = await startAgentTests();

beforeEach(() => forgetWork());

const base64 = (text: string) => Buffer.from(text).toString('base64');

const blob = (name: 'plan' | 'tree', text: string) => ({ name, sha256: sha256(text), base64: base64(text) });

const report: NonNullable<FinishRest['report']> = {
  eventsFrom: 0,
  events: [
    { kind: 'step', at: '2026-01-01T00:00:00.000Z', step: 'git:clone', status: 'IN_PROGRESS' },
    { kind: 'step', at: '2026-01-01T00:00:01.000Z', step: 'git:clone', status: 'SUCCESS' },
  ],
  logs: [{ step: 'git:clone', offset: 0, base64: base64('cloned\n') }],
};

async function planning() {
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.claim();
  return { job, id: environment.latestDeploymentLogId ?? '' };
}

async function countOf(table: 'log_chunk' | 'attempt_blob' | 'state_version'): Promise<number> {
  const rows = await sql<{ count: number }>(`select count(*)::integer as count from ${table}`);
  return rows[0]?.count ?? 0;
}

test('an outcome brings the last report, the state and the blobs, which are stored once', async () => {
  const { job, id } = await planning();
  const before = { chunks: await countOf('log_chunk'), states: await countOf('state_version') };
  const planned = { fence: job.fence, outcome: plannedOutcome() };
  const rest = { report, blobs: [blob('plan', 'the plan'), blob('tree', 'the tree')] };
  const first = await agent.send('finish', job, { ...planned, rest });
  assert.equal(first.statusCode, 200, first.body);
  const again = await agent.send('finish', job, { ...planned, rest });
  assert.deepEqual(again.json(), first.json());
  assert.equal(await countOf('log_chunk'), before.chunks + 1);
  const next = first.json<{ next: typeof job }>().next;
  for (const name of ['plan', 'tree'] as const) {
    const read = await agent.send('getBlob', { ...next, blob: name, query: { fence: String(next.fence) } });
    assert.equal(read.body, `the ${name}`);
  }
  const steps = await sql(
    "select status, log_bytes from deployment_step where deployment_id = $1 and name = 'git:clone'",
    id,
  );
  assert.deepEqual(steps, [{ status: 'SUCCESS', log_bytes: 7 }]);
  await agent.mark(next);
  const state = stateFile(1, ['a'], next.environmentId);
  const applied = await agent.send('finish', next, {
    fence: next.fence,
    outcome: appliedOutcome(),
    rest: { state: { sha256: sha256(state), follows: '', base64: base64(state) } },
  });
  assert.deepEqual(applied.json(), { next: null });
  assert.equal(await countOf('state_version'), before.states + 1);
  const done = await deploymentOf(id);
  assert.equal(done.status, 'SUCCESS');
  assert.ok(done.stateVersionId);
});

test('an outcome is not taken while something of its rest cannot be stored', async () => {
  const { job } = await planning();
  const outcome = plannedOutcome();
  const cases: [FinishRest, number, RegExp][] = [
    [{ report: { ...report, eventsFrom: 3 } }, 409, /rest_incomplete/],
    [{ report: { ...report, logs: [{ ...report.logs[0]!, offset: 100 }] } }, 409, /rest_incomplete/],
    [{ blobs: [{ ...blob('plan', 'x'), sha256: sha256('y') }] }, 400, /sha256 does not match/],
    [
      { state: { sha256: sha256('{}'), follows: '', base64: base64('{}') } },
      400,
      /cannot be stored as a state/,
    ],
  ];
  for (const [rest, status, expected] of cases) {
    const refused = await agent.send('finish', job, { fence: job.fence, outcome, rest });
    assert.equal(refused.statusCode, status, refused.body);
    assert.match(refused.body, expected);
  }
  assert.ok(await agent.finish(job, outcome), 'it is still open');
});

test('a late outcome of a replaced attempt stores nothing of its rest', async () => {
  const { job } = await planning();
  await agent.finish(job, plannedOutcome());
  const before = await countOf('attempt_blob');
  const late = await agent.send('finish', job, {
    fence: job.fence,
    outcome: plannedOutcome({ hasChanges: false }),
    rest: { blobs: [blob('plan', 'another plan')] },
  });
  assert.deepEqual([late.statusCode, late.json<{ code: string }>().code], [409, 'fence_outdated']);
  assert.equal(await countOf('attempt_blob'), before);
});
