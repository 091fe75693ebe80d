import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testApp } from '../../../testing/app.ts';
import { basic, ok } from '../../../testing/client.ts';

const app = await testApp();
const { organizationId } = app;
const port = Number(new URL(await app.listen()).port);
// Somebody has to remain.
await app.addKey({ [organizationId]: 'Admin' });
const leaver = await app.addKey({ [organizationId]: 'Admin' });

/** Sends the head of a request, and its body when `meanwhile` is done. @returns the answer */
function slowly(head: readonly string[], body: string, meanwhile: () => Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    const length = `content-length: ${Buffer.byteLength(body)}`;
    socket.write([...head, 'host: x', 'connection: close', length, '', body.slice(0, 1)].join('\r\n'));
    meanwhile().then(() => socket.write(body.slice(1)), reject);
  });
}

test('the right is checked again where a body came late', async () => {
  const head = [
    'POST /api/api-keys HTTP/1.1',
    `authorization: ${basic(leaver)}`,
    'content-type: application/json',
  ];
  const body = JSON.stringify({ organizationId, name: 'kept for later' });
  const late = (change: () => Promise<unknown>) =>
    slowly(head, body, async () => {
      // Well over the second after which a body is late.
      await delay(2500);
      await change();
    });
  assert.match(await late(async () => {}), /^HTTP\/1\.1 200/);
  const params = { id: organizationId, userId: leaver.id };
  const demoted = await late(() => ok(app, 'setMemberRole', { params, body: 'User' }));
  assert.match(demoted, /^HTTP\/1\.1 403[^]*EDIT_ORGANIZATION_SETTINGS/);
  await ok(app, 'setMemberRole', { params, body: 'Admin' });
  const deleted = await late(() => app.database.pool.query('delete from api_key where id = $1', [leaver.id]));
  assert.match(deleted, /^HTTP\/1\.1 401/);
});
