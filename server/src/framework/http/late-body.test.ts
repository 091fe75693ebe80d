import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { basic } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, sql } = await startTests();
const port = Number(new URL(await app.listen()).port);
const [staying, demoted, deleted] = [
  await app.addKey({ [organizationId]: 'Admin' }),
  await app.addKey({ [organizationId]: 'Admin' }),
  await app.addKey({ [organizationId]: 'Admin' }),
];

/** Sends the head of a request, and its body when `between` is done. @returns the answer */
function slowly(head: readonly string[], body: string, between: () => Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    const length = `content-length: ${Buffer.byteLength(body)}`;
    socket.write([...head, 'host: x', 'connection: close', length, '', body.slice(0, 1)].join('\r\n'));
    between().then(() => socket.write(body.slice(1)), reject);
  });
}

test('the right is checked again where a body came late', async () => {
  const late = (key: typeof staying, change: () => Promise<unknown>) => {
    const head = [
      'POST /api/api-keys HTTP/1.1',
      `authorization: ${basic(key)}`,
      'content-type: application/json',
    ];
    return slowly(head, JSON.stringify({ organizationId, name: 'kept for later' }), async () => {
      // Well over the second after which a body is late: no event tells when the service checked the head.
      await delay(2500);
      await change();
    });
  };
  const params = { id: organizationId, userId: demoted.id };
  const answers = await Promise.all([
    late(staying, async () => undefined),
    late(demoted, () => ok('setMemberRole', { params, body: 'User' })),
    late(deleted, () => sql('delete from api_key where id = $1', deleted.id)),
  ]);
  assert.match(answers[0], /^HTTP\/1\.1 200/);
  assert.match(answers[1], /^HTTP\/1\.1 403[^]*EDIT_ORGANIZATION_SETTINGS/);
  assert.match(answers[2], /^HTTP\/1\.1 401/);
});
