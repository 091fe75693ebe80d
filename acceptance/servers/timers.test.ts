/** Timers of two servers on one PostgreSQL, one of which is killed while they are due. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEnvironment, homeOf, until } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { Installation } from './installation.ts';
import { skip } from './stories.ts';

const count = 150;
/** Enough to create them all before. */
const leadSeconds = 20;

test('each of many lifetimes that end at once is followed by one destroy, though a server is killed in the meantime', {
  skip,
  timeout: 180_000,
}, async () => {
  await using servers = await Installation.start();
  const survivor = servers.server(1).client;
  const home = await homeOf(survivor);
  const { path } = await makeRepository(servers.folder, 'ending', { 'main.tf': '' });
  const end = new Date(Date.now() + leadSeconds * 1000);
  const ids: string[] = [];
  // No agent is there: the first deployments wait, and the destroys behind them.
  for (let index = 0; index < count; index++) {
    const more = { repository: path, ttl: { type: 'DATE', value: end.toISOString() } } as const;
    ids.push((await createEnvironment(survivor, home, more)).id);
  }
  assert.ok(Date.now() < end.getTime(), 'all were created in time');

  const destroys = async () => {
    const found = new Map<string, Date[]>();
    for (const id of ids)
      for (const { type, trigger, queuedAt } of await survivor.call('listDeployments', { params: { id } }))
        if (type === 'destroy' && trigger === 'ttl')
          found.set(id, [...(found.get(id) ?? []), new Date(queuedAt ?? Number.NaN)]);
    return found;
  };
  const first = ids[0] ?? '';
  await until('the first destroys', async () => {
    const environments = await survivor.call('listEnvironments', { query: { limit: 100 } });
    return environments.some((each) => (each.queueLength ?? 0) > 0);
  });
  await servers.kill(0);
  await servers.startServer(0);
  await until('all destroys', async () => (await destroys()).size === count);

  const found = await destroys();
  const late = [...found.values()].map(([at]) => (at?.getTime() ?? 0) - end.getTime());
  assert.ok(Math.min(...late) >= 0, 'none came too early');
  assert.ok(Math.max(...late) < 30_000, `all came soon: ${Math.max(...late)} ms late`);
  // Date after all passes in progress: a further lifetime.
  const value = new Date(Date.now() + 2000).toISOString();
  await survivor.call('updateEnvironmentTtl', { params: { id: first }, body: { type: 'DATE', value } });
  await until('the next end', async () => {
    const { lifespanEndAt } = await survivor.call('getEnvironment', { params: { id: first } });
    return Date.parse(lifespanEndAt ?? '') + 3000 < Date.now();
  });
  assert.deepEqual(
    [...(await destroys()).values()].filter((each) => each.length !== 1),
    [],
    'none came twice',
  );
});
