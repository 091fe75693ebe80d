import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { addPerson } from '../../../testing/person.ts';
import { connect } from '../../ground/database/open.ts';
import { auditRefusedCallers } from './audit-refused-callers.ts';

test('a failed sign-in of a member is in the trail of the organization, without the password', async () => {
  const app = await testApp();
  const { organizationId } = app;
  const email = 'ada@example.com';
  const id = await addPerson(app, email, { [organizationId]: 'User' });
  await refused(app, 'signIn', 401, { body: { email, password: 'planted and wrong' }, as: null });
  await auditRefusedCallers(app.context);
  const query = { organizationId, action: 'credentials.refused' };
  const { events } = await ok(app, 'listAuditEvents', { query });
  assert.deepEqual(fieldsOf(events, 'entity', 'entityId', 'payload'), [
    ['user', id, { addresses: ['127.0.0.1'], count: 1 }],
  ]);
  const { events: installation } = await ok(app, 'listInstallationAuditEvents', {
    query: { action: 'credentials.refused' },
  });
  assert.deepEqual(fieldsOf(installation, 'entity', 'entityId'), [['address', '127.0.0.1']]);
  assert.doesNotMatch(JSON.stringify([events, installation]), /planted/);
});

test('who was refused before an outage of the database is recorded after it, once', async () => {
  const app = await testApp();
  const { organizationId } = app;
  const email = 'ada@example.com';
  await addPerson(app, email, { [organizationId]: 'User' });
  await refused(app, 'signIn', 401, { body: { email, password: 'wrong' }, as: null });
  await using away = connect({ host: '127.0.0.1', port: 1 });
  await assert.rejects(auditRefusedCallers({ ...app.context, db: away.db }), /ECONNREFUSED/);
  const query = { action: 'credentials.refused' };
  for (let pass = 0; pass < 2; pass++) {
    await auditRefusedCallers(app.context);
    const { events } = await ok(app, 'listAuditEvents', { query: { organizationId, ...query } });
    const { events: installation } = await ok(app, 'listInstallationAuditEvents', { query });
    assert.deepEqual([events.length, installation.length], [1, 1]);
  }
});
