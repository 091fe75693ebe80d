import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { watchContact } from '../agents/watch-contact.ts';

const tests = await startAgentTests({ ENVARIUM_LOG_LEVEL: 'info' });
const { app, agent, ok, createActive, createEnvironment, deploy } = tests;

interface Line {
  readonly msg: string;
  readonly level: number;
  readonly deploymentId?: string;
  readonly [field: string]: unknown;
}

const lines = (message: string): Line[] =>
  app.logged.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);

test('the log has one line for each move of a deployment, and one for the person who approves it', async () => {
  const environment = await createEnvironment();
  const id = environment.latestDeploymentLogId ?? '';
  await agent.plan();
  await ok('approveDeployment', { id });
  await agent.apply(await agent.claim());
  const moves = lines('deployment moved').filter(({ deploymentId }) => deploymentId === id);
  assert.deepEqual(fieldsOf(moves, 'from', 'to', 'level'), [
    [null, 'IN_PROGRESS', 30],
    ['IN_PROGRESS', 'WAITING_FOR_USER', 30],
    ['WAITING_FOR_USER', 'IN_PROGRESS', 30],
    ['IN_PROGRESS', 'SUCCESS', 30],
  ]);
  assert.deepEqual(
    [moves[0]?.['environmentId'], moves[0]?.['projectId'], moves[0]?.['type']],
    [environment.id, app.projectId, 'deploy'],
  );
  const approved = lines('audit entry recorded').filter(({ action }) => action === 'deployment.approved');
  assert.deepEqual(fieldsOf(approved, 'entityId', 'userId'), [[id, 'admin']]);
});

test('the log says when an agent registers, loses contact, is back and stops', async () => {
  const other = agent.sibling();
  await other.register();
  await watchContact(app.context);
  app.advance(30);
  await agent.heartbeat([]);
  await watchContact(app.context);
  await watchContact(app.context);
  await other.heartbeat([]);
  await watchContact(app.context);
  await other.goodbye();
  const messages = app.logged
    .map((line) => JSON.parse(line) as { msg: string; agentId?: string })
    .filter(({ agentId }) => agentId === other.agentId)
    .map(({ msg }) => msg);
  assert.deepEqual(messages, [
    'agent registered',
    'agent lost contact',
    'agent is in contact again',
    'agent stopped',
  ]);
});

test('a request that is refused logs no move', async () => {
  const { id } = await createActive();
  await ok('setEnvironmentLock', { id, body: { isLocked: true } });
  const before = lines('deployment moved').length;
  await assert.rejects(deploy(id));
  assert.equal(lines('deployment moved').length, before);
});
