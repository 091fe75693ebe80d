import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { testAgent } from '../../../testing/agent.ts';
import { createActive } from '../../../testing/environment.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, sql, createBody, createIdle, deploy, environmentOf } = await startTests();

test('only what is sent changes', async () => {
  covers('Environment', 'updatedAt');
  const created = await createIdle();
  const params = { id: created.id };
  const changes: Record<string, unknown>[] = [
    { name: 'renamed' },
    { requiresApproval: false },
    { continuousDeployment: true },
    { pullRequestPlanDeployments: true },
    { autoDeployOnPathChangesOnly: false },
    { vcsCommandsAlias: 'net' },
    { vcsPrCommentsEnabled: true },
    { autoDeployByCustomGlob: '' },
    { terragruntWorkingDirectory: 'live' },
    { isRemoteBackend: true },
    { isRemoteApplyEnabled: true },
  ];
  for (const change of changes) {
    const before = await environmentOf(created.id);
    const { updatedAt: _, ...expected } = { ...before, ...change };
    const { updatedAt, ...after } = await ok('updateEnvironment', { params, body: change });
    assert.deepEqual(after, expected);
    assert.ok(Date.parse(updatedAt ?? '') >= Date.parse(before.updatedAt ?? ''));
  }
  assert.equal((await ok('updateEnvironment', { params, body: {} })).name, 'renamed');
});

test('the folder of an environment stays as long as it may have resources', async () => {
  const agent = await testAgent(app);
  const { id } = await createActive(app, agent, { terragruntWorkingDirectory: '/live/a' });
  const change = (terragruntWorkingDirectory: string) => ({ id, body: { terragruntWorkingDirectory } });
  assert.match(
    (await refused('updateEnvironment', 409, change('live/b'))).message,
    /^\/body\/terragruntWorkingDirectory cannot change from "\/live\/a" while the environment may have resources/,
  );
  const same = await ok('updateEnvironment', change('live/a'));
  assert.equal(same.terragruntWorkingDirectory, 'live/a', 'the same folder in other words');
  await deploy(id);
  await agent.plan();
  assert.match(
    (await refused('updateEnvironment', 409, change('live/b'))).message,
    /while the environment may|while its deploy .* is /,
  );
});

test('a working directory outside of the repository is refused', async () => {
  const body = { terragruntWorkingDirectory: 'live/../..' };
  const { id } = await createIdle();
  for (const refusal of [
    await refused('updateEnvironment', 400, { id, body }),
    await refused('createEnvironmentWithoutTemplate', 400, { body: createBody(body) }),
  ])
    assert.match(refusal.message, /^\/body\/terragruntWorkingDirectory is refused: path contains "\.\."/);
});

test('remote apply requires the remote backend and no approval', async () => {
  const created = await createIdle({
    requiresApproval: false,
    isRemoteBackend: true,
    isRemoteApplyEnabled: true,
  });
  const params = { id: created.id };
  for (const body of [{ requiresApproval: true }, { isRemoteBackend: false }]) {
    await refused('updateEnvironment', 400, /\/body\/isRemoteApplyEnabled/, { params, body });
  }
  await ok('updateEnvironment', { params, body: { isRemoteApplyEnabled: false, requiresApproval: true } });
  await refused('updateEnvironment', 400, { params, body: { isRemoteApplyEnabled: true } });
});

test('a lock is set and removed with its reason and user', async () => {
  covers('LockStatus', 'reason', 'updatedBy', 'updatedByUser', 'updatedAt');
  const colleague = await app.addKey({ [app.organizationId]: 'Admin' });
  const { id } = await createIdle();
  const set = (body: object, as = app.admin) => ok('setEnvironmentLock', { id, body, as });
  const locked = await set({ isLocked: true, reason: 'audit' }, colleague);
  assert.deepEqual(
    [locked.isLocked, locked.reason, locked.updatedBy, locked.updatedByUser?.user_id],
    [true, 'audit', colleague.id, colleague.id],
  );
  assert.deepEqual((await environmentOf(id)).lockStatus, {
    reason: 'audit',
    updatedBy: colleague.id,
    updatedByUser: locked.updatedByUser,
    updatedAt: locked.updatedAt,
  });
  assert.equal((await set({ isLocked: true })).reason, undefined);
  assert.deepEqual(
    [(await set({ isLocked: false, reason: 'done' })).isLocked, (await environmentOf(id)).isLocked],
    [false, false],
  );
  await refused('setEnvironmentLock', 400, { id, body: {} });
  await refused('setEnvironmentLock', 400, { id });
});

test('what changes nothing leaves no entry in the trail, and no event', async () => {
  const colleague = await app.addKey({ [app.organizationId]: 'Admin' });
  const { id } = await createIdle();
  const params = { id };
  const traces = async () => {
    const rows = await sql<{ traces: string }>(
      `select (select count(*) from audit_event where entity_id = $1)
        + (select count(*) from organization_event where data->>'environmentId' = $1) as traces`,
      id,
    );
    return Number(rows[0]?.traces);
  };
  const value = new Date(Date.now() + 3_600_000).toISOString();
  for (const change of [
    (as: typeof colleague) => ok('updateEnvironment', { params, body: { description: 'new' }, as }),
    (as: typeof colleague) => ok('updateEnvironmentTtl', { params, body: { type: 'DATE', value }, as }),
    (as: typeof colleague) => ok('setEnvironmentLock', { params, body: { isLocked: true }, as }),
    (as: typeof colleague) => ok('setEnvironmentLock', { params, body: { isLocked: false }, as }),
  ]) {
    const before = await traces();
    await change(app.admin);
    const changed = await traces();
    assert.ok(changed > before);
    const environment = await environmentOf(id);
    await change(colleague);
    assert.equal(await traces(), changed);
    assert.deepEqual(await environmentOf(id), environment, 'no one takes it over');
  }
  assert.deepEqual(await ok('updateEnvironment', { params, body: {} }), await environmentOf(id));
});

test('an environment is archived and restored', async () => {
  const { id } = await createIdle();
  assert.equal((await ok('updateEnvironment', { id, body: { isArchived: true } })).status, 'INACTIVE');
  assert.equal((await ok('updateEnvironment', { id, body: { isArchived: false } })).status, 'NEVER_DEPLOYED');
});
