import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { changesOf } from './changes.ts';

const { organizationId, projectId, ok, sql, add, createIdle, deploy } = await startTests();

type Entry = { before: Record<string, unknown> | null; after: Record<string, unknown> | null; whole: string };

/** The last entry of an action. */
async function entryOf(action: string): Promise<Entry> {
  const rows = await sql<Entry>(
    'select before, after, e::text as whole from audit_event e where action = $1 order by number desc limit 1',
    action,
  );
  const [entry] = rows;
  assert.ok(entry, action);
  return entry;
}

const fingerprint = /^hmac:[0-9a-f]{8}:[0-9a-f]{32}$/;

test('only fields that differ are recorded, and nothing for what has no value', () => {
  const at = new Date(0);
  assert.deepEqual(changesOf({ a: 1, b: [1, { c: at }], d: null }, { a: 2, b: [1, { c: at }] }), {
    before: { a: 1 },
    after: { a: 2 },
  });
  assert.deepEqual(changesOf(null, { a: 1, b: null, c: false }), { after: { a: 1, c: false } });
  assert.deepEqual(changesOf({ a: 1, updatedAt: 1 }, null), { before: { a: 1 } });
  assert.deepEqual(changesOf({ a: 1 }, {}), { before: { a: 1 }, after: {} });
});

test('changes of settings are recorded with what was there before', async () => {
  const { id } = await createIdle({ name: 'first' });
  const params = { id };
  const { id: project } = await add('Project', 'P', { tags: ['x'] });
  const cases: [action: string, run: () => Promise<unknown>, before: unknown, after: unknown][] = [
    [
      'organization.policiesUpdated',
      () => ok('updateOrganizationPolicies', { id: organizationId, body: { maxTtl: '3-d' } }),
      { maxTtl: null },
      { maxTtl: '3-d' },
    ],
    [
      'project.updated',
      () => ok('updateProject', { id: project, body: { name: 'Q', tags: ['x'] } }),
      { name: 'P' },
      { name: 'Q' },
    ],
    [
      'project.moved',
      () => ok('moveProject', { id: project, body: { targetProjectId: projectId } }),
      { parentProjectId: null },
      { parentProjectId: projectId },
    ],
    [
      'environment.updated',
      () => ok('updateEnvironment', { params, body: { name: 'second', requiresApproval: true } }),
      { name: 'first' },
      { name: 'second' },
    ],
    [
      'environment.locked',
      () => ok('setEnvironmentLock', { params, body: { isLocked: true, reason: 'why' } }),
      { isLocked: false, reason: null },
      { isLocked: true, reason: 'why' },
    ],
    [
      'environment.driftScheduled',
      () => ok('updateDriftSchedule', { params, body: { enabled: true, cron: '0 5 * * *' } }),
      null,
      {
        driftDetection: { cron: '0 5 * * *', timeZone: 'UTC', isEnabled: true, autoDriftRemediation: null },
      },
    ],
    [
      'environment.moved',
      () => ok('moveEnvironment', { params, body: { projectId: project } }),
      { projectId },
      { projectId: project },
    ],
    [
      'state.accessChanged',
      () =>
        ok('setStateAccess', {
          params: { environmentId: id },
          body: { accessibleFromEntireOrganization: true },
        }),
      { accessibleFromEntireOrganization: false },
      { accessibleFromEntireOrganization: true },
    ],
  ];
  for (const [action, run, before, after] of cases) {
    await run();
    const entry = await entryOf(action);
    const { id: _, ...changed } = entry.after ?? {};
    assert.deepEqual([entry.before, changed], [before, after], action);
  }
});

test('secrets are recorded as fingerprints, which show that they changed', async () => {
  await add('GitToken', 't', { value: 'planted-1' });
  const token = await entryOf('gitToken.created');
  assert.match(String(token.after?.['value']), fingerprint);
  const pem = () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const [first, second] = [pem(), pem()];
  const { id } = await add('SshKey', 'k', { value: first });
  const created = await entryOf('sshKey.created');
  const seen: Entry[] = [token, created];
  for (const value of [first, second]) {
    await ok('updateSshKey', { id, body: { value } });
    seen.push(await entryOf('sshKey.updated'));
  }
  const [, , same, other] = seen;
  assert.deepEqual([same?.before, same?.after], [{}, {}], 'the same key again is not a change');
  assert.equal(other?.before?.['value'], created.after?.['value']);
  assert.match(String(other?.after?.['value']), fingerprint);
  assert.notEqual(other?.after?.['value'], other?.before?.['value']);
  await ok('deleteSshKey', { id });
  assert.equal((await entryOf('sshKey.deleted')).before?.['value'], other?.after?.['value']);
  for (const { whole } of seen) assert.doesNotMatch(whole, /planted|PRIVATE KEY/);
});

test('values of variables are recorded as fingerprints, sensitive or not', async () => {
  const { id } = await createIdle();
  const change = async (configurationChanges: object[]) => {
    const { id: deploymentId } = await deploy(id, { deploymentType: 'dryRun', configurationChanges });
    await ok('abortDeployment', { id: deploymentId });
    return entryOf('variables.changed');
  };
  const created = await change([
    { name: 'OPEN', value: 'planted-a' },
    { name: 'SECRET', value: 'planted-b', isSensitive: true },
  ]);
  const values = Object.values(created.after ?? {}) as Record<string, unknown>[];
  assert.deepEqual(fieldsOf(values, 'name', 'isSensitive'), [
    ['OPEN', false],
    ['SECRET', true],
  ]);
  for (const { value } of values) assert.match(String(value), fingerprint);
  const changed = await change([{ name: 'SECRET', value: 'planted-c' }]);
  const [before, after] = [changed.before, changed.after].map((side) => side?.['SECRET']) as object[];
  assert.deepEqual([Object.keys(before ?? {}), Object.keys(after ?? {})], [['value'], ['value']]);
  assert.notDeepEqual(before, after);
  for (const { whole } of [created, changed]) assert.doesNotMatch(whole, /planted/);
});

test('an entry whose secret can no longer be opened is still recorded', async () => {
  const { id } = await add('GitToken', 'u', { value: 'v' });
  await sql("update git_token set sealed_value = '\\x00' where id = $1", id);
  await ok('deleteGitToken', { id });
  assert.deepEqual((await entryOf('gitToken.deleted')).before, {
    name: 'u',
    type: 'GIT',
    hosts: [],
    projectIds: [],
  });
});
