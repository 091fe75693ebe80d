import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentId, type FakeReply, runAgainst } from '../../../testing/fake-service.ts';

const entry = {
  at: '2030-01-05T06:00:00.000Z',
  environmentId,
  environmentName: 'web',
  environmentStatus: 'ACTIVE',
  projectId: 'p1',
  projectName: 'shop',
  organizationId: 'o1',
};
const replies = (more: object): Record<string, FakeReply> => ({
  'GET /organizations': [{ id: 'o1', name: 'Acme' }],
  'GET /calendar': {
    from: '2030-01-05T00:00:00.000Z',
    to: '2030-01-12T00:00:00.000Z',
    entries: [],
    isComplete: true,
    ...more,
  },
});

test('what happens is listed with its schedule, and with what holds it', async () => {
  const entries = [
    {
      ...entry,
      kind: 'deploy',
      text: 'is deployed by its schedule',
      cron: '0 7 * * *',
      timeZone: 'Europe/Berlin',
    },
    { ...entry, kind: 'expiry', text: 'expires, and is destroyed', held: 'It is locked' },
  ];
  const { status, stdout } = await runAgainst(['calendar'], replies({ entries }));
  assert.equal(status, 0);
  assert.match(stdout, /web +is deployed by its schedule +0 7 \* \* \* Europe\/Berlin/);
  assert.match(stdout, /web +expires, and is destroyed – held: It is locked/);
});

test('an empty calendar says so, and a long one how it continues', async () => {
  const { stdout } = await runAgainst(['calendar'], replies({}));
  assert.match(stdout, /Nothing is scheduled/);
  const nextFrom = '2030-01-06T00:00:00.000Z';
  const long = await runAgainst(
    ['calendar'],
    replies({ entries: [{ ...entry, kind: 'deploy', text: 'is deployed' }], nextFrom }),
  );
  assert.match(long.stdout, /continue with --from 2030-01-06T00:00:00\.000Z/);
});

test('an invalid time is refused without a request', async () => {
  const { status, stderr } = await runAgainst(['calendar', '--from', 'soon'], replies({}));
  assert.equal(status, 2);
  assert.match(stderr, /--from must be a time such as/);
});
