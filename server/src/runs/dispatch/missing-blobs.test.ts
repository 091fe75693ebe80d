import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, ok, refused, sql, createActive, createEnvironment, deploy } = await startAgentTests();

test('an agent that requests a lost blob is refused immediately, with the name of the missing file', async () => {
  const environment = await createEnvironment();
  const job = await agent.claim();
  // Too large to be kept in a row.
  const plan = 'the plan file'.padEnd(100_000, '.');
  await agent.putBlob(job, 'plan', plan);
  await agent.putBlob(job, 'tree', '');
  await agent.finish(job, plannedOutcome());
  await ok('approveDeployment', { id: environment.latestDeploymentLogId ?? '' });
  const apply = await agent.claim();
  const fetch = (blob: string) =>
    agent.send('getBlob', { ...apply, blob, query: { fence: String(apply.fence) } });
  assert.deepEqual([(await fetch('plan')).body, (await fetch('tree')).body], [plan, '']);
  rmSync(join(app.folder, 'blobs', 'runs', job.jobId), { recursive: true });
  const lost = await fetch('plan');
  assert.equal(lost.statusCode, 404, lost.body);
  assert.match(lost.json().message, /its file is missing/);
  await agent.finish(apply, {
    result: 'internal',
    finishedAt: new Date().toISOString(),
    error: { message: 'lost' },
  });
});

test('a run does not wait for a state that was lost or changed on disk', async () => {
  const environment = await createActive();
  await deploy(environment.id);
  const job = await agent.claim();
  const fetch = () => agent.send('getState', { ...job, query: { fence: String(job.fence) } });
  assert.match((await fetch()).body, /"version":4/);
  const rows = await sql<{ id: string }>(
    `select blob ->> 'id' as id from state_version where environment_id = $1`,
    environment.id,
  );
  const file = join(app.folder, 'blobs', rows[0]?.id ?? '');
  writeFileSync(file, 'not what was sealed');
  assert.equal((await fetch()).statusCode, 404);
  rmSync(file);
  assert.equal((await fetch()).statusCode, 404);
  const [version] = await ok('listStateVersions', { id: environment.id });
  await refused('getStateContent', 404, /its file is missing/, { id: version?.id ?? '' });
});
