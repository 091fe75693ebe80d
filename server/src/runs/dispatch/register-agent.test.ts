import assert from 'node:assert/strict';
import { test } from 'node:test';
import { protocolVersion } from '#protocol/messages/agent.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { testAgent, testIsolation } from '../../../testing/agent.ts';
import { basic } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';

const { app, createEnvironment } = await startTests();

test('a spool and its runs stay with the key that registered them', async () => {
  const agent = await testAgent(app);
  await createEnvironment();
  const job = await agent.claim();
  const other = { id: 'other-agent', secret: newKeySecret() };
  await app.context.db
    .insertInto('agent')
    .values({
      agent_key: other.id,
      id: app.context.newId(),
      organization_id: app.organizationId,
      name: 'other',
      created_by: 'admin',
    })
    .execute();
  await app.context.db
    .insertInto('agent_secret')
    .values({
      id: app.context.newId(),
      agent_key: other.id,
      secret_hmac: app.context.keyHash.hash(other.secret),
      created_by: 'admin',
    })
    .execute();
  const body = {
    protocol: protocolVersion,
    agentVersion: '0.1.0',
    spoolId: agent.spoolId,
    bootId: 'boot',
    hostname: 'elsewhere',
    processId: 1,
    tools: ['terraform'],
    workFolder: '/srv/work',
    slots: 1,
    isolation: testIsolation,
    held: [],
  };
  const { method, path } = protocolRoutes.register;
  const headers = { authorization: basic(other), 'content-type': 'application/json' };
  const refused = await app.app.inject({
    method,
    url: `${protocolBase}${path}`,
    headers,
    payload: JSON.stringify(body),
  });
  assert.deepEqual([refused.statusCode, refused.json<{ code: string }>().code], [409, 'spool_taken']);
  assert.match(
    refused.body,
    /belongs to another agent key: start this agent with that key, or with another folder in ENVARIUM_SPOOL_DIR/,
  );
  const { abort, unwanted } = await agent.heartbeat([job]);
  assert.deepEqual([abort, unwanted], [[], []], 'the first one continues as before');
  await agent.register([job]);
});
