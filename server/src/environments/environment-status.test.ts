import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { createActive, createEnvironment, environmentOf } from '../testing/environment.ts';

const app = await testApp();
const agent = await testAgent(app);

test('an environment is created, then in progress, then active', async () => {
  const environment = await createActive(app, agent);
  assert.equal(environment.status, 'CREATED');
  assert.equal((await environmentOf(app, environment.id)).status, 'ACTIVE');
  const other = await createEnvironment(app);
  assert.equal((await environmentOf(app, other.id)).status, 'DEPLOY_IN_PROGRESS');
});
