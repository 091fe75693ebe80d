import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deploymentId,
  environmentId,
  fakeDeployment,
  fakeEnvironment,
  fakeStream,
  runAgainst,
} from '../../testing/fake-service.ts';

const waitingFor = { kind: 'deployment', since: '2026-11-22T05:00:00Z', text: 'Queued behind the deploy 17' };
const queued = fakeDeployment({ status: 'QUEUED', waitingFor });
const replies = {
  'GET /environments': [fakeEnvironment()],
  [`POST /environments/${environmentId}/deployments`]: queued,
  [`GET /environments/deployments/${deploymentId}`]: fakeDeployment(),
};
const stream = `GET /environments/deployments/${deploymentId}/events`;
const queuedEvent = { event: 'status', data: { status: 'QUEUED', waitingFor } };

test('deploy --wait and drift print what a queued deployment waits for', async () => {
  for (const args of [
    ['deploy', 'web', '--wait'],
    ['drift', 'web'],
  ]) {
    const ended = fakeStream(queuedEvent, queuedEvent, { event: 'end', data: { status: 'SUCCESS' } });
    const { status, stderr } = await runAgainst(args, { ...replies, [stream]: ended });
    assert.equal(status, 0, stderr);
    assert.equal(
      stderr.split('Queued behind the deploy 17').length,
      2,
      `${args[0]} prints it once: ${stderr}`,
    );
  }
});

test('Ctrl-C advises to cancel a queued deployment, and to abort a running one', async () => {
  const interruptAt = 'Queued behind';
  const [waiting, running] = await Promise.all([
    runAgainst(
      ['deploy', 'web', '--wait'],
      { ...replies, [stream]: fakeStream(queuedEvent) },
      { interruptAt },
    ),
    runAgainst(
      ['deploy', 'web', '--wait'],
      {
        ...replies,
        [stream]: fakeStream(
          { event: 'status', data: { status: 'IN_PROGRESS' } },
          { event: 'status', data: { status: 'IN_PROGRESS', waitingFor } },
        ),
      },
      { interruptAt },
    ),
  ]);
  assert.deepEqual([waiting.status, running.status], [130, 130]);
  assert.match(waiting.stderr, /stays queued[^]*envarium cancel/);
  assert.doesNotMatch(waiting.stderr, /abort/);
  assert.match(running.stderr, /continues[^]*envarium abort/);
});

test('Ctrl-C interrupts every request, also one that waits for the service', async () => {
  const began = Date.now();
  const { status, stderr } = await runAgainst(
    ['deploy', 'web', '--wait'],
    {
      ...replies,
      [stream]: fakeStream({ event: 'status', data: { status: 'WAITING_FOR_USER' } }),
      [`GET /environments/deployments/${deploymentId}`]: (_, response) => {
        response.writeHead(429, { 'retry-after': '45' }).end('{}');
      },
    },
    { interruptAt: 'Rate limit' },
  );
  assert.equal(status, 130, stderr);
  assert.match(stderr, /Stopped following/);
  assert.ok(Date.now() - began < 30_000, 'it has not waited for the service');
});

test('a plan that would change nothing says so, and offers to cancel the deployment first', async () => {
  const empty = fakeDeployment({
    status: 'WAITING_FOR_USER',
    planSummary: { added: 0, changed: 0, destroyed: 0 },
    isPlanEmpty: true,
  });
  const waits = fakeStream({ event: 'status', data: { status: 'WAITING_FOR_USER' } });
  const { status, stdout } = await runAgainst(['deploy', 'web', '--wait'], {
    ...replies,
    [`GET /environments/deployments/${deploymentId}`]: empty,
    [stream]: waits,
  });
  assert.equal(status, 3);
  assert.match(stdout, /There is nothing to apply[^]*envarium cancel[^]*envarium approve/);
});

test('logs --step --follow shows the events of that step, and its exit status is that of the step', async () => {
  const running = fakeDeployment({ status: 'IN_PROGRESS' });
  const step = (name: string, status: string) => ({ event: 'step', data: { name, status } });
  const log = (name: string) => ({ event: 'log', data: { step: name, offset: 0, text: `${name}\n` } });
  for (const [end, expected] of [
    ['FAIL', 1],
    ['WARNING', 0],
    ['SKIPPED', 0],
  ] as const) {
    const endingReplies = {
      ...replies,
      [`GET /environments/deployments/${deploymentId}`]: running,
      [`GET /deployments/${deploymentId}/steps`]: [{ name: 'plan', status: 'IN_PROGRESS' }],
      [stream]: fakeStream(log('clone'), step('clone', 'SUCCESS'), log('plan'), step('plan', end)),
    };
    const args = ['logs', deploymentId, '--step', 'plan', '--follow'];
    const text = await runAgainst(args, endingReplies);
    assert.deepEqual([text.status, text.stdout], [expected, 'plan\n'], text.stderr);
    const { status, stdout } = await runAgainst([...args, '--json'], endingReplies);
    const events = stdout.trimEnd().split('\n');
    assert.equal(status, expected);
    assert.deepEqual(
      events.map((line) => (JSON.parse(line) as { event: string }).event),
      ['log', 'step', 'deployment'],
    );
    assert.doesNotMatch(stdout, /clone/);
  }
});

test('the duration of a deployment excludes its wait for approval', async () => {
  const done = fakeDeployment({
    startedAt: '2026-11-22T05:00:00Z',
    finishedAt: '2026-11-22T06:00:30Z',
    reviewers: [{ userId: 'u1', action: 'approved' }],
  });
  const steps = [
    { name: 'approval:wait', startedAt: '2026-11-22T05:00:10Z', completedAt: '2026-11-22T06:00:10Z' },
  ];
  const { stdout } = await runAgainst(['deployments', 'list', 'web'], {
    ...replies,
    [`GET /environments/${environmentId}/deployments`]: [done],
    [`GET /deployments/${deploymentId}/steps`]: steps,
  });
  assert.match(stdout, / 30\.0 s /);
});
