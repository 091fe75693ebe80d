import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentId, type FakeReply, fakeEnvironment, runAgainst } from '../../../testing/fake-service.ts';

const operation = (data: readonly object[], more: object = {}) => ({
  id: 'o-1',
  organizationId: 'o1',
  operation: 'deploy',
  createdBy: 'ada',
  createdAt: '2030-01-05T06:00:00.000Z',
  data,
  ...more,
});
const finishedAt = '2030-01-05T06:00:20.000Z';
const done = { environmentId, environmentName: 'web', status: 'success', deploymentId: 'd-1' };
const failed = { environmentId: 'e-2', environmentName: 'db', status: 'failed', error: 'It is locked' };
const replies = (more: Readonly<Record<string, FakeReply>>): Record<string, FakeReply> => ({
  [`GET /environments/${environmentId}`]: fakeEnvironment(),
  ...more,
});

test('the result of each environment is shown, and a refused one gives exit status 1', async () => {
  const { status, stdout, seen } = await runAgainst(
    ['bulk', 'deploy', environmentId, environmentId, '--comment', 'release', '--no-require-approval'],
    replies({ 'POST /bulk-operations/deploy': operation([done, failed], { finishedAt }) }),
  );
  assert.equal(status, 1);
  assert.match(stdout, /web +success +d-1/);
  assert.match(stdout, /db +failed +It is locked/);
  assert.deepEqual(seen.at(-1)?.body, {
    environmentIds: [environmentId, environmentId],
    organizationId: 'o1',
    data: { comment: 'release', userRequiresApproval: false },
  });
});

test('the command waits for what is pending', async () => {
  const pending = { ...done, status: 'pending', deploymentId: undefined };
  const { status, stdout } = await runAgainst(
    ['bulk', 'unlock', environmentId, '--json'],
    replies({
      'POST /bulk-operations/unlock': operation([pending]),
      'GET /bulk-operations/o-1': operation([done], { finishedAt }),
    }),
  );
  assert.equal(status, 0);
  assert.equal((JSON.parse(stdout) as { finishedAt: string }).finishedAt, finishedAt);
});

test('environments of two organizations are refused without a request', async () => {
  const other = '019366a0-0000-7000-8000-00000000000f';
  const elsewhere = fakeEnvironment({ id: other, name: 'far', organizationId: 'o2' });
  const { status, stderr, seen } = await runAgainst(
    ['bulk', 'lock', environmentId, other],
    replies({ [`GET /environments/${other}`]: elsewhere }),
  );
  assert.equal(status, 2);
  assert.match(stderr, /is in another organization than/);
  assert.ok(seen.every(({ call }) => call.startsWith('GET ')));
});
