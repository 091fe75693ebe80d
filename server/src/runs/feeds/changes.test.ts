/** Events for readers of an organization about everything that has lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#contract/client/client.ts';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import { stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import type { FirstKey } from '../../start/bootstrap.ts';
import { watchContact } from '../agents/watch-contact.ts';

const { app, agent, organizationId, projectId, send, ok, add, createIdle, deploy } = await startAgentTests();
const url = await app.listen();

/**
 * Changes that a reader receives while something is done, each as `entity id`; in between, everyone receives an
 * environment by which the end is known.
 */
async function heard(
  work: () => Promise<unknown>,
  { as = app.admin, inProject }: { as?: FirstKey; inProject?: string } = {},
): Promise<string[]> {
  const client = createClient({ url, key: as.id, secret: as.secret });
  const { id: before } = await createIdle({ name: 'before' });
  const announced: string[] = [];
  let hasBegun = false;
  const isChange = (event: OrganizationStreamEvent, id: string, change: string) =>
    event.event === 'environment' && event.data.environmentId === id && event.data.change === change;
  for await (const event of client.stream('streamOrganization', {
    params: { id: organizationId },
    query: { projectId: inProject },
  })) {
    if (event.event === 'ready') {
      await ok('setEnvironmentLock', { id: before, body: { isLocked: true } });
      await work();
      await ok('setEnvironmentLock', { id: before, body: { isLocked: false } });
    }
    hasBegun ||= isChange(event, before, 'locked');
    if (event.event === 'changed' && hasBegun) announced.push(`${event.data.entity} ${event.data.id}`);
    if (isChange(event, before, 'unlocked')) break;
  }
  return announced;
}

test('readers hear of what is created, changed and deleted, with the id of what it is', async () => {
  let expected: string[] = [];
  const announced = await heard(async () => {
    const project = await add('Project', 'shop');
    await ok('updateProject', { id: project.id, body: { name: 'store' } });
    const team = await add('Team', 'platform');
    const role = await add('Role', 'x', { permissions: [] });
    const body = { teamId: team.id, projectId: project.id, role: 'Viewer' };
    const assigned = await ok('assignTeamRole', { body });
    const key = await add('ApiKey', 'k', { permissions: { organizationRole: 'User' } });
    const invitation = await ok('createInvitation', { body: { organizationId, email: 'a@example.com' } });
    const set = await ok('createConfigurationSet', {
      body: { scope: 'organization', scopeId: organizationId, name: 'shared' },
    });
    const made = await add('Agent', 'outside');
    await ok('deleteTeam', { id: team.id });
    expected = [
      `project ${project.id}`,
      `project ${project.id}`,
      `team ${team.id}`,
      `role ${role.id}`,
      `roleAssignment ${assigned.id}`,
      `apiKey ${key.id}`,
      `invitation ${invitation.id}`,
      `configurationSet ${set.id}`,
      `agent ${made.id}`,
      `team ${team.id}`,
    ];
  });
  assert.deepEqual(announced, expected);
});

test('readers hear of variables by their scope', async () => {
  const { id: environmentId } = await createIdle({ name: 'configured' });
  const save = (body: object) => ok('saveVariables', { body: [{ name: 'A', value: '1', type: 0, ...body }] });
  const announced = await heard(async () => {
    await save({ scope: 'GLOBAL', organizationId });
    await save({ scope: 'PROJECT', scopeId: projectId, organizationId });
    await save({ scope: 'ENVIRONMENT', scopeId: environmentId, organizationId });
  });
  assert.deepEqual(announced, [
    `variable ${organizationId}`,
    `variable ${projectId}`,
    `variable ${environmentId}`,
  ]);
});

test('readers hear of a state that is imported, rolled back, locked, written and unlocked', async () => {
  const { id } = await createIdle({ name: 'stateful' });
  const importBody = (serial: number) => ({
    id,
    body: stateFile(serial, ['a'], id),
    headers: { 'content-type': 'application/json' },
  });
  const first = await ok('importState', importBody(1));
  const url = `/state/v1/environments/${id}`;
  const asTool = async (method: string, payload: string, query = '') => {
    const headers = { 'content-type': 'application/json' };
    const { statusCode } = await send({ method: method as 'POST', url: `${url}${query}`, headers, payload });
    assert.equal(statusCode, 200);
  };
  const announced = await heard(async () => {
    await ok('importState', importBody(2));
    await ok('rollBackState', { id: first.id });
    await asTool('LOCK', '{"ID":"lock"}');
    await asTool('POST', stateFile(4, ['b'], id), '?ID=lock');
    await asTool('UNLOCK', '{"ID":"lock"}');
  });
  assert.deepEqual(announced, Array(5).fill(`state ${id}`));
});

test('readers hear only of what they may list, and readers of a project only of that', async () => {
  const seen = await add('Project', 'seen');
  const hidden = await add('Project', 'hidden');
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId, role: 'Viewer' },
    { organizationId, projectId: seen.id, role: 'Viewer' },
  ]);
  const work = async () => {
    await ok('updateProject', { id: hidden.id, body: { description: 'x' } });
    await add('ApiKey', 'n', { permissions: { organizationRole: 'User' } });
    await ok('updateProject', { id: seen.id, body: { description: 'x' } });
    await ok('updateOrganization', { id: organizationId, body: { description: 'x' } });
  };
  assert.deepEqual(await heard(work, { as }), [`project ${seen.id}`, `organization ${organizationId}`]);
  const inProject = async () => {
    await work();
    await ok('updateProject', { id: projectId, body: { description: 'y' } });
  };
  assert.deepEqual(await heard(inProject, { inProject: projectId }), [`project ${projectId}`]);
});

test('readers hear of the registry what they may list of it', async () => {
  const as = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'VIEW_ENVIRONMENT'] });
  const work = async () => {
    await ok('createModule', {
      body: { organizationId, moduleName: 'net', moduleProvider: 'aws', repository: 'https://example.com/a' },
    });
    await ok('createProvider', { body: { organizationId, type: 'cloud' } });
    await ok('updateOrganization', { id: organizationId, body: { description: 'r' } });
  };
  assert.deepEqual(await heard(work, { as }), [`organization ${organizationId}`]);
});

test('who may read the audit trail hears of its new entries once they are linked', async () => {
  const list = () => ok('listAuditEvents', { query: { organizationId } });
  await list();
  const work = async () => {
    await ok('updateOrganization', { id: organizationId, body: { description: 'a' } });
    await list();
    await list();
  };
  const changed = `organization ${organizationId}`;
  assert.deepEqual(await heard(work), [changed, `auditTrail ${organizationId}`]);
  const as = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'VIEW_ENVIRONMENT'] });
  assert.deepEqual(await heard(work, { as }), [changed]);
});

test('a member without any environment hears of what it may list, and of its first project at once', async () => {
  const as = await app.addKey({ [organizationId]: 'User' });
  const project = await add('Project', 'first');
  const client = createClient({ url, key: as.id, secret: as.secret });
  const announced: string[] = [];
  for await (const event of client.stream('streamOrganization', { params: { id: organizationId } })) {
    if (event.event === 'ready') {
      await createIdle({ name: 'hidden', projectId: project.id });
      await ok('updateOrganization', { id: organizationId, body: { description: 'z' } });
    }
    announced.push(event.event === 'changed' ? event.data.entity : event.event);
    if (event.event !== 'changed') continue;
    if (event.data.entity === 'roleAssignment') break;
    if (event.data.entity !== 'organization') continue;
    app.advance(2);
    const body = { userId: as.id, role: 'Viewer', projectId: project.id };
    await ok('assignUserRole', { body });
  }
  assert.ok(!announced.includes('environment'), announced.join());
  assert.deepEqual(announced.slice(-2), ['organization', 'roleAssignment']);
});

test('readers hear when jobs have waited for so long that an agent may be degraded, and when they no longer do', async () => {
  const { id } = await createIdle({ requiresApproval: false });
  const pass = () => watchContact(app.context);
  await pass();
  await deploy(id);
  const ofAgents = async (work: () => Promise<unknown>) =>
    (await heard(work)).filter((each) => each === `agent ${organizationId}`);
  const waited = await ofAgents(async () => {
    await pass();
    app.advance(301);
    await agent.heartbeat([]);
    await pass();
    await pass();
  });
  assert.equal(waited.length, 1);
  const claimed = await ofAgents(async () => {
    await agent.claim();
    await pass();
  });
  assert.equal(claimed.length, 1);
});

test('readers hear when a process of an agent comes, falls silent and leaves', async () => {
  const other = agent.sibling();
  const id = (await ok('listAgents')).find(({ isDefault }) => isDefault)?.id ?? '';
  const pass = () => watchContact(app.context);
  await pass();
  const announced = await heard(async () => {
    await other.register();
    await pass();
    await pass();
    app.advance(30);
    await agent.heartbeat([]);
    await pass();
    await other.heartbeat([]);
    await pass();
    await other.goodbye();
    await pass();
  });
  const ofAgents = announced.filter((each) => each.startsWith('agent '));
  assert.ok(ofAgents.length >= 4, announced.join());
  assert.ok(
    ofAgents.every((each) => each === `agent ${id}`),
    announced.join(),
  );
});
