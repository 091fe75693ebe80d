/** Options that would do nothing are refused, and an empty text clears what it says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentId, type FakeReply, fakeEnvironment, runAgainst } from '../../testing/fake-service.ts';

const template = {
  id: 't1',
  name: 'network',
  type: 'terraform',
  repository: 'https://git.example.com/network.git',
  tokenId: 'k1',
  sshKeys: [{ id: 's1', name: 'deploy' }],
};
const policy = { ...template, id: 'p1', name: 'cost' };
const replies: Readonly<Record<string, FakeReply>> = {
  'GET /organizations': [{ id: 'o1', name: 'Envarium' }],
  'GET /environments': [fakeEnvironment()],
  'GET /blueprints': [template],
  'PUT /blueprints/t1': template,
  'GET /approval-policies': [{ policy }],
  'PUT /approval-policy': policy,
  'GET /approval-policies/configuration-schema': {},
  [`GET /scheduling/environments/${environmentId}`]: {},
  [`GET /scheduling/drift-detection/environments/${environmentId}`]: { enabled: false, cron: '' },
};

test('an empty token and an empty ssh key are cleared', async () => {
  for (const [args, call] of [
    [['templates', 'edit', 'network'], 'PUT /blueprints/t1'],
    [['approval-policies', 'update', 'cost'], 'PUT /approval-policy'],
  ] as const) {
    const { seen, stderr } = await runAgainst([...args, '--git-token', '', '--ssh-key', ''], replies);
    const body = seen.find((each) => each.call === call)?.body as Record<string, unknown> | undefined;
    assert.ok(body, stderr);
    assert.equal('tokenId' in body, false);
    assert.deepEqual(body.sshKeys, []);
    assert.equal(body.repository, template.repository);
  }
});

test('a schedule is stopped together with a time zone for the other one', async () => {
  const schedule = `/scheduling/environments/${environmentId}`;
  const { seen, status, stderr } = await runAgainst(
    ['environment', 'schedule', 'web', '--no-deploy', '--time-zone', 'Europe/Berlin'],
    {
      ...replies,
      [`GET ${schedule}`]: { deploy: { cron: '0 5 * * *', enabled: true, timeZone: 'UTC' } },
      [`PUT ${schedule}`]: {},
    },
  );
  assert.equal(status, 0, stderr);
  assert.deepEqual(seen.find(({ call }) => call === `PUT ${schedule}`)?.body, {});
});

test('options that would do nothing are refused, and nothing is sent', async () => {
  for (const [args, message] of [
    [['templates', 'edit', 'network', '--retry-regex', 'timeout'], /^--retry-regex: .*--retry-deploy/m],
    [['environment', 'schedule', 'web', '--time-zone', 'Europe/Berlin'], /^--time-zone: .*--deploy/m],
    [['environment', 'drift-schedule', 'web', '--time-zone', 'Europe/Berlin'], /--cron is required/],
    [['variables', 'list', '--deployment', 'd1', '--project', 'Shop'], /Specify --deployment alone/],
    [['state', 'access', 'web', '--clear', '--project', 'Shop'], /'--clear' cannot be used with/],
  ] as const) {
    const { status, stderr, seen } = await runAgainst(args, replies);
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, message);
    assert.deepEqual(
      seen.filter(({ call }) => !call.startsWith('GET ')),
      [],
    );
  }
});
