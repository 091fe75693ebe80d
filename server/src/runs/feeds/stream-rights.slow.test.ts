import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { basic } from '../../../testing/client.ts';
import { createIdle } from '../../../testing/environment.ts';

test('a reader that loses its role is disconnected at the next keep-alive, and gets nothing after it', {
  timeout: 60_000,
}, async () => {
  const app = await testApp();
  const url = await app.listen();
  const reader = await app.addKey({ [app.organizationId]: 'Admin' });
  const response = await fetch(`${url}/api/organizations/${app.organizationId}/events`, {
    headers: { authorization: basic(reader) },
  });
  const rest = response.text();
  await app.database.pool.query('delete from organization_member where user_id = $1', [reader.id]);
  const text = await rest;
  await createIdle(app, { name: 'unseen' });
  assert.match(text, /^id: \S+\nevent: ready\n/);
  assert.doesNotMatch(text, /event: environment/);
});
