import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { auditRefusedCalls } from '../system/audit-refused-calls.ts';
import { testApp } from '../testing/app.ts';
import { refused } from '../testing/client.ts';

const app = await testApp();
const { organizationId } = app;

async function refusedCalls() {
  await auditRefusedCalls(app.context);
  const { rows } = await app.database.pool.query(
    "select actor_id, entity, entity_id, details from audit_event where action = 'call.refused' order by number",
  );
  return rows;
}

test('calls without the right are recorded once for each caller and operation, with their number', async () => {
  const reader = await app.addKey({ [organizationId]: 'Reader' });
  const body = { organizationId, name: 't', value: 'planted-value' };
  for (let time = 0; time < 3; time++) await refused(app, 'createGitToken', 403, { body, as: reader });
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  await refused(app, 'createAgentSecret', 403, { params, as: reader });
  await refused(app, 'getEnvironment', 404, { params: { id: randomUUID() }, as: reader });
  const rows = await refusedCalls();
  const [{ actor_id: actor }] = rows;
  assert.deepEqual(rows, [
    {
      actor_id: actor,
      // Refused before the body was read, which names the organization.
      entity: 'operation',
      entity_id: 'createGitToken',
      details: { operation: 'createGitToken', count: 3 },
    },
    {
      actor_id: actor,
      entity: 'agent',
      entity_id: 'ENVARIUM_DEFAULT',
      details: { operation: 'createAgentSecret', count: 1 },
    },
  ]);
  assert.notEqual(actor, 'admin');
  assert.deepEqual(await refusedCalls(), rows, 'a second pass records nothing twice');
});
