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

const deploy = `POST /environments/${environmentId}/deployments`;
const approve = `PUT /environments/deployments/${deploymentId}`;
const waiting = fakeDeployment({ status: 'WAITING_FOR_USER', planHash: 'the-hash' });
const replies = {
  'GET /environments': [fakeEnvironment()],
  [deploy]: fakeDeployment({ status: 'IN_PROGRESS' }),
  [approve]: { id: deploymentId, status: 'IN_PROGRESS' },
  [`GET /environments/deployments/${deploymentId}`]: waiting,
  [`GET /environments/deployments/${deploymentId}/events`]: fakeStream(
    { event: 'status', data: { status: 'WAITING_FOR_USER' } },
    { event: 'end', data: { status: 'SUCCESS' } },
  ),
};

test('deploy --approve approves the plan that was made, and leaves the environment as it is', async () => {
  const { seen, stderr } = await runAgainst(['deploy', 'web', '--approve', '--wait'], replies);
  const bodyOf = (call: string) => seen.find((each) => each.call === call)?.body;
  assert.deepEqual(bodyOf(deploy), {}, stderr);
  assert.deepEqual(bodyOf(approve), { planHash: 'the-hash' });
  assert.doesNotMatch(stderr, /later deployments/i);
});

test('deploy --approve without --wait returns as soon as the plan is approved', async () => {
  const open = fakeStream({ event: 'status', data: { status: 'WAITING_FOR_USER' } });
  const { seen, status } = await runAgainst(['deploy', 'web', '--approve'], {
    ...replies,
    [`GET /environments/deployments/${deploymentId}/events`]: open,
  });
  assert.ok(seen.some(({ call }) => call === approve));
  assert.equal(status, 3, 'the fake deployment still waits');
});

test('deploy --approve without --wait returns as soon as the plan turns out to need no approval', async () => {
  const { seen, status } = await runAgainst(['deploy', 'web', '--approve'], {
    ...replies,
    [`GET /environments/deployments/${deploymentId}`]: fakeDeployment({ status: 'IN_PROGRESS' }),
    [`GET /environments/deployments/${deploymentId}/events`]: fakeStream(
      { event: 'step', data: { name: 'tf:plan', status: 'SUCCESS' } },
      { event: 'step', data: { name: 'approval:wait', status: 'SKIPPED' } },
      { event: 'status', data: { status: 'WAITING_FOR_USER' } },
    ),
  });
  assert.equal(status, 0);
  assert.ok(!seen.some(({ call }) => call === approve));
});

test('deploy --approve approves also where the environment does not demand it, and each plan once', async () => {
  const waits = { event: 'status', data: { status: 'WAITING_FOR_USER' } };
  const { seen, status, stderr } = await runAgainst(['deploy', 'web', '--approve', '--wait'], {
    ...replies,
    'GET /environments': [fakeEnvironment({ requiresApproval: false })],
    [`GET /environments/deployments/${deploymentId}/events`]: fakeStream(waits, waits),
  });
  assert.equal(seen.filter(({ call }) => call === approve).length, 1);
  assert.equal(status, 3, stderr);
});

test('deploy --approve waits for another user if the caller may not approve the plan', async () => {
  const { status, stderr } = await runAgainst(['deploy', 'web', '--approve', '--wait'], {
    ...replies,
    [approve]: (_, response) => {
      response.statusCode = 409;
      response.end(JSON.stringify({ code: 'conflict', message: 'You have approved this plan already' }));
    },
    [`GET /environments/deployments/${deploymentId}/events`]: fakeStream({
      event: 'status',
      data: { status: 'WAITING_FOR_USER' },
    }),
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /You have approved this plan already/);
});

test('deploy says which of its options change the environment for later deployments', async () => {
  const { stderr } = await runAgainst(
    ['deploy', 'web', '--no-require-approval', '--revision', 'v2'],
    replies,
  );
  assert.match(stderr, /"web" no longer requires approval: later deployments/);
  assert.match(stderr, /Later deployments of "web" use revision "v2" too/);
  const same = await runAgainst(['deploy', 'web', '--require-approval'], replies);
  assert.doesNotMatch(same.stderr, /requires approval/, 'nothing has changed');
});

test('destroy without a terminal asks nothing', async () => {
  const destroy = `POST /environments/${environmentId}/destroy`;
  const { status, seen, stderr } = await runAgainst(['destroy', 'web'], {
    ...replies,
    [destroy]: fakeDeployment({ type: 'destroy', status: 'IN_PROGRESS' }),
  });
  assert.equal(status, 0, stderr);
  assert.ok(seen.some(({ call }) => call === destroy));
});

test('destroy says whether its plan waits, and that later deployments follow', async () => {
  const destroy = `POST /environments/${environmentId}/destroy`;
  const { status, seen, stderr } = await runAgainst(['destroy', 'web', '--no-require-approval'], {
    ...replies,
    [destroy]: fakeDeployment({ type: 'destroy', status: 'IN_PROGRESS' }),
  });
  assert.equal(status, 0, stderr);
  assert.equal(seen.find(({ call }) => call === destroy)?.query['requiresApproval'], 'false');
  assert.match(stderr, /"web" no longer requires approval: later deployments/);
});
