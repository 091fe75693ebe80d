import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, stateFile } from '../../../../testing/agent.ts';
import { startAgentTests } from '../../../../testing/start.ts';
import { removeLeftovers } from './sweep-blobs.ts';

const { app, agent, ok, sql, createActive, createEnvironment, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());
const root = join(app.folder, 'blobs');
const files = () =>
  (existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    : []
  ).map((each) => join(each.parentPath, each.name));

/** Too large to be kept in a row. */
const file = (text: string) => text.padEnd(100_000, '.');

/** Number of stored blobs of a job. */
async function rowsOf(jobId: string): Promise<number> {
  const { rowCount } = await app.database.pool.query('select from attempt_blob where job_id = $1', [jobId]);
  return rowCount ?? 0;
}

async function planned() {
  const environment = await createEnvironment();
  const job = await agent.claim();
  await agent.putBlob(job, 'plan', file('the plan file'));
  await agent.putBlob(job, 'tree', file('first'));
  await agent.putBlob(job, 'tree', file('the tree'));
  await agent.finish(job, plannedOutcome());
  return { id: environment.latestDeploymentLogId ?? '', job };
}

test('the apply gets the last files of its plan, and they are removed after the deployment', async () => {
  const before = files().length;
  const { id, job } = await planned();
  await app.carryOutEffects();
  assert.equal(files().length, before + 2);
  await ok('approveDeployment', { id });
  await app.carryOutEffects();
  const apply = await agent.claim();
  for (const [blob, content] of [
    ['plan', 'the plan file'],
    ['tree', 'the tree'],
  ] as const) {
    assert.equal(
      (await agent.send('getBlob', { ...apply, blob, query: { fence: String(apply.fence) } })).body,
      file(content),
    );
  }
  await agent.apply(apply);
  await app.carryOutEffects();
  assert.equal(files().length, before + 1, 'only the state is left');
  assert.equal(await rowsOf(job.jobId), 0);
});

test('a small file of a plan is kept, replaced and removed with its row', async () => {
  const before = files().length;
  const environment = await createEnvironment();
  const id = environment.latestDeploymentLogId ?? '';
  const job = await agent.claim();
  await agent.putBlob(job, 'tree', 'first');
  await agent.putBlob(job, 'tree', 'the tree');
  await agent.finish(job, plannedOutcome());
  await ok('approveDeployment', { id });
  const apply = await agent.claim();
  const read = () => agent.send('getBlob', { ...apply, blob: 'tree', query: { fence: String(apply.fence) } });
  assert.equal((await read()).body, 'the tree');
  assert.equal(files().length, before);
  const rows = await sql<{ blob: { sealed: string } }>(
    "select blob from attempt_blob where name = 'tree' and job_id = $1",
    job.jobId,
  );
  assert.equal(Buffer.from(rows[0]?.blob.sealed ?? '', 'base64').includes('the tree'), false);
  await agent.apply(apply);
  assert.equal(await rowsOf(job.jobId), 0);
});

test('the files of a refused or timed-out plan are removed', async () => {
  const before = files().length;
  const [refusedPlan] = [await planned()];
  await ok('cancelDeployment', { id: refusedPlan.id });
  await app.carryOutEffects();
  assert.equal(files().length, before);
});

test('a blob with a wrong checksum is refused and not kept', async () => {
  await createEnvironment();
  const job = await agent.claim();
  const before = files().length;
  const response = await agent.send(
    'putBlob',
    { ...job, blob: 'plan', query: { fence: String(job.fence), sha256: 'f'.repeat(64) } },
    file('x'),
  );
  assert.deepEqual([response.statusCode, files().length], [400, before]);
});

test('unused files are removed after a while, and used ones stay', async () => {
  const environment = await createActive();
  const {
    job: { jobId },
  } = await planned();
  const foreign = await app.context.blobs.put(
    ['states', randomUUID()],
    Buffer.from('of an environment of another database'),
  );
  await app.carryOutEffects();
  const named = files();
  const orphan = await app.context.blobs.put(['runs', jobId, 'left'], Buffer.from('by a crash'));
  const unfinished = join(root, 'runs', jobId, 'left', 'half.new');
  writeFileSync(unfinished, 'half');
  await removeLeftovers(app.context);
  assert.equal(files().length, named.length + 2);
  app.advance(3 * 3600);
  await removeLeftovers(app.context);
  assert.deepEqual(files().toSorted(), named.toSorted());
  await removeLeftovers(app.context);
  assert.ok(!existsSync(join(root, 'runs', jobId, 'left')));
  for (const blob of [orphan, foreign]) await app.context.blobs.remove(blob);
  assert.equal((await ok('listStateVersions', { id: environment.id })).length, 1);
  await agent.register();
  await createEnvironment();
  const job = await agent.claim();
  assert.equal((await agent.putState(job, stateFile(1), '')).standing, 'current');
});
