import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { plannedOutcome, sha256, stateFile, testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { createEnvironment } from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { readStateFacts } from './files/read-state.ts';

const { app, agent, call, ok, refused, sql, createActive, deploy, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());

async function applying() {
  const environment = await createEnvironment(app, { requiresApproval: false });
  const job = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(job);
  return {
    environment,
    job,
    versions: () => ok('listStateVersions', { id: environment.id }),
  };
}

const blobsOf = (environmentId: string) =>
  readdirSync(join(app.folder, 'blobs', 'states', environmentId)).length;

test('a state file is read for serial, lineage and what it manages', async () => {
  assert.deepEqual((await readStateFacts(Buffer.from(stateFile(3, ['a', 'b'])))).facts, {
    serial: 3,
    lineage: 'lineage',
    resourceCount: 2,
    toolVersion: '1.11.4',
  });
  const data = {
    version: 4,
    serial: 1,
    lineage: 'l',
    resources: [
      { mode: 'data', instances: [{}] },
      { mode: 'managed', instances: [{}, {}] },
      { mode: 'managed' },
    ],
  };
  assert.equal((await readStateFacts(Buffer.from(JSON.stringify(data)))).facts.resourceCount, 2);
  for (const text of [
    '',
    '{',
    '{}',
    'null',
    '[]',
    '{"version":3,"serial":1,"lineage":"l"}',
    '{"version":4,"serial":"1","lineage":"l"}',
  ]) {
    await assert.rejects(readStateFacts(Buffer.from(text)), Error, text);
  }
});

test('versions shipped while the tool runs are one listed version, always the newest, and one file', async () => {
  const { environment, job, versions } = await applying();
  const first = await agent.putState(job, stateFile(1, ['a'], job.environmentId), '');
  assert.equal(first.standing, 'current');
  for (const serial of [2, 3, 3])
    assert.deepEqual(await agent.putState(job, stateFile(serial, ['a', 'b'], job.environmentId), ''), first);
  const late = stateFile(1, ['a'], job.environmentId);
  assert.deepEqual(await agent.putState(job, late, '', 'running'), first);
  const listed = await versions();
  assert.deepEqual(fieldsOf(listed, 'id', 'serial', 'standing', 'resourceCount'), [
    [first.stateVersionId, 3, 'current', 2],
  ]);
  await app.carryOutEffects();
  assert.equal(blobsOf(environment.id), 1);
  assert.equal(
    (await ok('getStateVersion', { id: first.stateVersionId })).sha256,
    sha256(stateFile(3, ['a', 'b'], job.environmentId)),
  );
});

test('states shipped at once leave the newest and one file', async () => {
  const { environment, job, versions } = await applying();
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      agent.putState(job, stateFile(index + 1, ['a'], job.environmentId), '', 'running'),
    ),
  );
  assert.deepEqual(fieldOf(await versions(), 'serial'), [8]);
  await app.carryOutEffects();
  assert.equal(blobsOf(environment.id), 1);
});

test('what an attempt leaves at last is kept also with a lower serial or another lineage', async () => {
  const { environment, job, versions } = await applying();
  const first = await agent.putState(job, stateFile(11, ['a'], job.environmentId), '', 'running');
  const backup = stateFile(10, ['a', 'x'], job.environmentId);
  const last = await agent.putState(job, backup, '');
  assert.equal(last.standing, 'rescued');
  assert.deepEqual(await agent.putState(job, backup, ''), last, 'sent again');
  const other = await agent.putState(job, stateFile(3, ['y'], 'another lineage'), '', 'running');
  assert.equal(other.standing, 'rescued');
  const listed = (await versions()).map(({ id, serial, standing }) => [id, serial, standing]);
  assert.deepEqual(listed, [
    [other.stateVersionId, 3, 'rescued'],
    [last.stateVersionId, 10, 'rescued'],
    [first.stateVersionId, 11, 'current'],
  ]);
  await app.carryOutEffects();
  assert.equal(blobsOf(environment.id), 3);
});

test('users with the right get the content as it was stored, and that is audited', async () => {
  const { job } = await applying();
  const state = stateFile(1, ['a'], job.environmentId);
  const { stateVersionId } = await agent.putState(job, state, '');
  const response = await call('getStateContent', { id: stateVersionId });
  assert.equal(response.body, state);
  assert.match(String(response.headers['content-disposition']), /^attachment/);
  const rows = await sql(
    "select actor_id from audit_event where action = 'state.read' and entity_id = $1",
    stateVersionId,
  );
  assert.deepEqual(rows, [{ actor_id: 'admin' }]);
  const fetched = await agent.send('getState', { ...job, query: { fence: String(job.fence) } });
  assert.equal(fetched.body, state);
});

test('a state that does not follow the current one is kept as rescued', async () => {
  const environment = await createActive();
  await deploy(environment.id);
  const next = (await agent.plan()) ?? assert.fail('no apply');
  const rescued = await agent.putState(
    next,
    stateFile(9, ['x'], 'another lineage'),
    next.state.current?.stateVersionId ?? '',
  );
  assert.equal(rescued.standing, 'rescued');
  assert.deepEqual(await agent.putState(next, stateFile(10, ['x'], 'another lineage'), ''), rescued);
  const listed = await ok('listStateVersions', { id: environment.id });
  assert.deepEqual(fieldsOf(listed, 'standing', 'serial'), [
    ['rescued', 10],
    ['current', 1],
  ]);
});

test('versions follow each other, and are listed in pages', async () => {
  const environment = await createActive();
  for (let round = 0; round < 2; round++) {
    await deploy(environment.id);
    await agent.run();
  }
  const response = await call('listStateVersions', { id: environment.id });
  const all = response.json<{ id: string; follows?: string; standing: string; serial: number }[]>();
  assert.deepEqual(fieldsOf(all, 'serial', 'standing'), [
    [3, 'current'],
    [2, 'superseded'],
    [1, 'superseded'],
  ]);
  assert.deepEqual(fieldOf(all, 'follows'), [all[1]?.id, all[2]?.id, undefined]);
  assert.equal(response.headers['x-total-count'], '3');
  const page = await ok('listStateVersions', { id: environment.id, query: { limit: '1', offset: '1' } });
  assert.deepEqual(fieldOf(page, 'id'), [all[1]?.id]);
  await refused('getStateVersion', 404, { id: environment.id });
});

test('the server refuses bytes that are not a state or do not match the checksum', async () => {
  const { job, versions } = await applying();
  const query = (sha: string) => ({ fence: String(job.fence), sha256: sha, follows: '', moment: 'final' });
  const garbage = await agent.send('putState', { ...job, query: query(sha256('garbage')) }, 'garbage');
  assert.deepEqual([garbage.statusCode, /cannot be stored as a state/.test(garbage.body)], [400, true]);
  const cut = await agent.send(
    'putState',
    { ...job, query: query(sha256(stateFile(1))) },
    stateFile(1).slice(0, 40),
  );
  assert.deepEqual([cut.statusCode, /sha256/.test(cut.body)], [400, true]);
  assert.deepEqual(await versions(), []);
  await agent.finish(job, plannedOutcome({ result: 'failed' }));
});

test('a state that is larger than the limit is refused with the name of the setting', async () => {
  const small = await testApp({ ENVARIUM_STATE_LIMIT_MB: '1' });
  const sender = await testAgent(small);
  await createEnvironment(small, { requiresApproval: false });
  const job = (await sender.plan()) ?? assert.fail('no apply');
  await sender.mark(job);
  const state = stateFile(1, ['a'], job.environmentId).padEnd(2_000_000);
  const query = { fence: String(job.fence), sha256: sha256(state), follows: '', moment: 'final' };
  const refusal = await sender.send('putState', { ...job, query }, state);
  assert.equal(refusal.statusCode, 413);
  assert.match(refusal.body, /larger than 1 MB, the limit set by ENVARIUM_STATE_LIMIT_MB/);
  assert.equal((await sender.putState(job, state.trimEnd(), '')).standing, 'current');
});
