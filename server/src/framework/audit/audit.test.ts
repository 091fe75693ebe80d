import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, organizationId, call, ok, sql, add, createActive, createBody, createIdle, deploy } = tests;

async function trail(): Promise<
  { action: string; entity_id: string; request_id: string; actor_id: string; organization_id: string }[]
> {
  const rows = await sql(
    'select action, entity_id, request_id, actor_id, organization_id from audit_event order by number',
  );
  return rows;
}

test('each change records what was done, to what, by whom, and by which request', async () => {
  const environment = await createIdle();
  const params = { id: environment.id };
  const started = await deploy(environment.id);
  await agent.finish(await agent.claim(), plannedOutcome());
  const queued = await deploy(environment.id);
  const token = await add('GitToken', 't', { value: 'planted-value' });
  const changes: [action: string, entityId: string, run: () => Promise<unknown>][] = [
    [
      'deployment.cancelled',
      queued.id,
      () => ok('cancelDeployment', { id: queued.id, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'deployment.approved',
      started.id,
      () => ok('approveDeployment', { id: started.id, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'deployment.aborted',
      started.id,
      () => ok('abortDeployment', { id: started.id, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'environment.updated',
      environment.id,
      () => ok('updateEnvironment', { params, body: { name: 'n' }, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'environment.locked',
      environment.id,
      () => ok('setEnvironmentLock', { params, body: { isLocked: true }, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'environment.unlocked',
      environment.id,
      () => ok('setEnvironmentLock', { params, body: { isLocked: false }, headers: { 'x-request-id': 'r' } }),
    ],
    [
      'gitToken.deleted',
      token.id,
      () => ok('deleteGitToken', { id: token.id, headers: { 'x-request-id': 'r' } }),
    ],
  ];
  for (const [action, entityId, run] of changes) {
    const before = (await trail()).length;
    await run();
    const entries = (await trail()).slice(before).map(({ request_id, ...entry }) => {
      assert.match(request_id, /^[0-9a-f-]{36}$/, 'the id is not the one that the caller sent');
      return entry;
    });
    assert.deepEqual(entries, [
      { action, entity_id: entityId, actor_id: 'admin', organization_id: organizationId },
    ]);
  }
  const made = (await trail()).map(({ action }) => action);
  for (const action of [
    'organization.created',
    'environment.created',
    'deployment.started',
    'gitToken.created',
  ])
    assert.ok(made.includes(action), action);
  const rows = await sql<{ text: string }>('select a::text as text from audit_event a');
  assert.ok(rows.every(({ text }) => !text.includes('planted')));
});

test('a change whose audit row cannot be written is rolled back', async () => {
  const environment = await createActive();
  const params = { id: environment.id };
  const fingerprint = async () => {
    const rows = await sql(
      'select (select count(*) from project) p, (select count(*) from organization) o, (select count(*) from git_token) t, (select count(*) from agent_secret) s, (select count(*) from job) j, (select json_agg(e order by id) from environment e)::text e, (select json_agg(d order by id) from deployment d)::text d, (select count(*) from deployment_event) v, (select count(*) from template) m',
    );
    return JSON.stringify(rows[0]);
  };
  const before = await fingerprint();
  const events = (await trail()).length;
  await sql('alter table audit_event add constraint nothing check (false) not valid');
  const calls = [
    () => call('createEnvironmentWithoutTemplate', { body: createBody() }),
    () => call('deployEnvironment', { params }),
    () => call('destroyEnvironment', { params }),
    () => call('updateEnvironment', { params, body: { name: 'x' } }),
    () => call('setEnvironmentLock', { params, body: { isLocked: true } }),
    () => call('createProject', { body: { organizationId, name: 'x' } }),
    () => call('createOrganization', { body: { name: 'x' } }),
    () => call('createGitToken', { body: { organizationId, name: 'x', value: 'v' } }),
    () => call('createAgentSecret', { params: { agentKey: 'ENVARIUM_DEFAULT' } }),
  ];
  for (const each of calls) await assert.rejects(each(), /failed: .*nothing/);
  await sql('alter table audit_event drop constraint nothing');
  assert.equal(await fingerprint(), before);
  assert.equal((await trail()).length, events);
});

test('entries cannot be changed or removed, not even by the owner of the table', async () => {
  const before = (await trail()).length;
  for (const statement of [
    `update audit_event set actor_id = 'nobody'`,
    'delete from audit_event',
    'truncate audit_event',
  ])
    await assert.rejects(sql(statement), /cannot be changed or removed/);
  assert.equal((await trail()).length, before);
});

test('each registration of an agent records its secret, its host and its spool', async () => {
  const { spoolId, agentId } = agent;
  const [row] = await sql<{ actor_id: string; details: Record<string, unknown> }>(
    "select actor_id, details from audit_event where action = 'agent.registered' order by number limit 1",
  );
  const [secret] = await sql<{ id: string }>(
    "select id from agent_secret where agent_key = 'ENVARIUM_DEFAULT'",
  );
  assert.ok(secret);
  assert.deepEqual(row, {
    actor_id: 'ENVARIUM_DEFAULT',
    details: { agentId, epoch: 1, secretId: secret.id, hostname: 'host', spoolId, agentVersion: '0.1.0' },
  });
});
