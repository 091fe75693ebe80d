import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { basic } from '../../../testing/client.ts';
import { createIdle, deploy } from '../../../testing/environment.ts';

async function streamsOf(settings: Record<string, string>) {
  const app = await testApp(settings);
  const agent = await testAgent(app);
  const url = await app.listen();
  const { id } = await deploy(app, (await createIdle(app)).id);
  const job = await agent.claim();
  const deployment = `${url}/api/environments/deployments/${id}/events`;
  const organization = `${url}/api/organizations/${app.organizationId}/events`;
  const open = (address: string, key = app.admin) =>
    fetch(address, { headers: { authorization: basic(key) }, signal: AbortSignal.timeout(30_000) });
  return { app, agent, job, deployment, organization, open };
}

test('a user and a server have limits for open event streams', async () => {
  const { app, deployment, organization, open } = await streamsOf({
    ENVARIUM_USER_STREAM_LIMIT: '2',
    ENVARIUM_STREAM_LIMIT: '3',
  });
  const other = await app.addKey({ [app.organizationId]: 'Admin' });
  const first = await open(deployment);
  assert.equal((await open(organization)).status, 200);
  const refused = await open(deployment);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.match(await refused.text(), /ENVARIUM_USER_STREAM_LIMIT/);
  assert.equal((await open(deployment, other)).status, 200);
  assert.match(await (await open(deployment, other)).text(), /ENVARIUM_STREAM_LIMIT/);
  await first.body?.cancel();
  for (let status = 429; status !== 200; ) {
    const again = await open(deployment);
    ({ status } = again);
    if (status !== 200) await again.text();
  }
});

test("a deployment's stream ends after its reader's key was deleted", async () => {
  const { app, agent, job, deployment, open } = await streamsOf({});
  const reader = await app.addKey({ [app.organizationId]: 'Admin' });
  const stream = await open(deployment, reader);
  assert.equal(stream.status, 200);
  await app.database.pool.query('delete from api_key where id = $1', [reader.id]);
  app.advance(16);
  const text = stream.text();
  const event = {
    kind: 'step',
    at: new Date().toISOString(),
    step: 'git:clone',
    status: 'IN_PROGRESS',
  } as const;
  await agent.report(job, { events: [event] });
  assert.doesNotMatch(await text, /git:clone.*git:clone/s);
  assert.equal(app.logged.filter((line) => line.includes('event stream failed')).length, 0);
});
