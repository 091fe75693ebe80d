import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { basic } from '../../../../testing/client.ts';
import { createIdle, deploy } from '../../../../testing/environment.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { announceStop, closeApp } from './stop.ts';

async function listening() {
  const test = await testApp();
  const url = new URL(await test.listen());
  const open = async () => {
    const socket = connect(Number(url.port), '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  return { ...test, url, open };
}

test('a server that is to stop says so, still answers, and closes the connection of each answer', async () => {
  const { app, context, url, admin, stopping } = await listening();
  const get = async (path: string) => {
    const response = await fetch(new URL(path, url), { headers: { authorization: basic(admin) } });
    return [response.status, response.headers.get('connection'), await response.text()] as const;
  };
  assert.deepEqual((await get('/readyz')).slice(0, 2), [200, 'keep-alive']);
  announceStop(context);
  const [status, , reason] = await get('/readyz');
  assert.equal(status, 503);
  assert.match(reason, /This server is stopping/);
  assert.deepEqual((await get('/healthz')).slice(0, 2), [200, 'close']);
  assert.deepEqual((await get('/api/organizations')).slice(0, 2), [200, 'close']);
  stopping.abort();
  await closeApp(app);
  await assert.rejects(get('/healthz'));
});

test('a request that was begun is answered before the server closes, and what only waits ends', async () => {
  const served = await listening();
  const { app, url, admin, stopping, organizationId } = served;
  const authorization = basic(admin);
  const agent = await testAgent(served);
  const environment = await createIdle(served);
  const deployment = await deploy(served, environment.id);
  await agent.claim();
  const claim = agent.claimAny(25);
  const streams = [
    `/api/environments/deployments/${deployment.id}/events`,
    `/api/organizations/${organizationId}/events`,
  ];
  const followed = await Promise.all(
    streams.map((path) => fetch(new URL(path, url), { headers: { authorization } })),
  );
  assert.deepEqual(fieldOf(followed, 'status'), [200, 200]);
  const unused = await served.open();
  const socket = await served.open();
  const body = JSON.stringify({ name: 'late', organizationId });
  const head = ['POST /api/projects HTTP/1.1', 'host: x', `authorization: ${authorization}`];
  const received = new Promise((resolve) => app.server.once('request', resolve));
  socket.write(
    [...head, 'content-type: application/json', `content-length: ${body.length}`, '', body.slice(0, 5)].join(
      '\r\n',
    ),
  );
  await received;
  stopping.abort();
  const closed = closeApp(app);
  await once(unused.resume(), 'close');
  const texts = await Promise.all(followed.map((response) => response.text()));
  assert.ok(texts.every((each) => !each.includes('event: end')));
  assert.equal(await claim, null);
  socket.write(body.slice(5));
  assert.match(await text(socket), /^HTTP\/1\.1 200 /);
  await closed;
});
