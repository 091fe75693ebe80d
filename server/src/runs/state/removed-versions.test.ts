import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { removeOldVersions } from './sweep-versions.ts';

const tests = await startAgentTests({
  ENVARIUM_STATE_VERSIONS_KEPT: '10',
  ENVARIUM_STATE_VERSION_DAYS: '30',
});
const { app, agent, ok, refused, sql, createActive, createEnvironment, deploy, forgetWork } = tests;
beforeEach(() => forgetWork());

const versionsOf = (id: string) => ok('listStateVersions', { id });
const serialsOf = async (id: string) => (await versionsOf(id)).map(({ serial }) => serial);
const filesOf = (id: string) => readdirSync(join(app.folder, 'blobs/states', id)).length;

async function audited(action: string, environmentId: string) {
  const rows = await sql(
    'select actor_id, details from audit_event where action = $1 and entity_id = $2',
    action,
    environmentId,
  );
  return rows;
}

/** An environment whose first state was replaced this often. */
async function withVersions(count: number): Promise<string> {
  const { id } = await createActive();
  for (let serial = 2; serial <= count + 1; serial++)
    await ok('importState', {
      id,
      query: { acceptOtherLineage: 'true' },
      body: stateFile(serial, ['a'], id),
    });
  return id;
}

test('old superseded versions are removed with their files, except for the newest ones', async () => {
  const id = await withVersions(13);
  const all = await serialsOf(id);
  assert.equal(all.length, 14);
  app.advance(29 * 86_400);
  await removeOldVersions(app.context);
  assert.deepEqual(await serialsOf(id), all, 'none is old enough');
  app.advance(2 * 86_400);
  await removeOldVersions(app.context);
  await app.carryOutEffects();
  assert.deepEqual(await serialsOf(id), all.slice(0, 10));
  assert.equal((await versionsOf(id))[0]?.standing, 'current');
  assert.equal(filesOf(id), 10);
  assert.deepEqual(await audited('state.versionsRemoved', id), [
    { actor_id: 'envarium', details: { versions: 4 } },
  ]);
  const oldest = (await versionsOf(id)).at(-1);
  assert.equal(oldest?.follows, undefined, 'it names no version that was removed');
});

test('a version that an open deployment was planned on is kept', async () => {
  const { id } = await createActive();
  await deploy(id, { userRequiresApproval: true });
  await agent.plan();
  const [planned] = await versionsOf(id);
  // Changes to the state are refused in the meantime, so that its versions are written here.
  await sql(`update state_version set standing = 'superseded' where environment_id = $1`, id);
  await sql(
    `insert into state_version (id, environment_id, origin, serial, lineage, sha256, bytes, standing, blob, created_at, updated_at)
     select gen_random_uuid(), environment_id, 'http', serial + place, lineage, sha256, bytes, 'superseded', blob, created_at, updated_at
     from state_version, generate_series(1, 12) as place where environment_id = $1`,
    id,
  );
  app.advance(31 * 86_400);
  await removeOldVersions(app.context);
  const left = await versionsOf(id);
  assert.equal(left.length, 11);
  assert.ok(left.some((version) => version.id === planned?.id));
});

/** The id of a rescued version of a new environment. */
async function rescue(): Promise<{ environmentId: string; id: string }> {
  const { id: environmentId } = await createEnvironment({ requiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  // Its attempt was never allowed to change anything.
  const { stateVersionId: id, standing } = await agent.putState(job, stateFile(1, ['a'], environmentId), '');
  assert.equal(standing, 'rescued');
  return { environmentId, id };
}

test('a rescued version is deleted with its file by a person with the right, and the trail records it', async () => {
  const { environmentId, id } = await rescue();
  const reader = await app.addKey({ [app.organizationId]: 'User' });
  await refused('deleteStateVersion', 403, { id, as: reader });
  assert.deepEqual(await ok('deleteStateVersion', { id }), { id });
  await app.carryOutEffects();
  assert.equal(filesOf(environmentId), 0);
  assert.deepEqual(await versionsOf(environmentId), []);
  await refused('deleteStateVersion', 404, { id });
  const [entry] = await audited('state.versionDeleted', environmentId);
  assert.equal(entry.actor_id, 'admin');
  assert.equal(entry.details.stateVersionId, id);
});

test('only rescued versions are deleted by a person, and withheld ones only by the operator', async () => {
  const { id: environmentId } = await createActive();
  const [current] = await versionsOf(environmentId);
  const params = { id: current?.id ?? '' };
  await refused('deleteStateVersion', 409, /is the current state/, { params });
  await ok('clearState', { id: environmentId });
  await refused('deleteStateVersion', 409, /VERSION_DAYS/, { params });
  await forgetWork();
  const { id } = await rescue();
  await sql('update state_version set is_withheld = true where id = $1', id);
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  await refused('deleteStateVersion', 403, { id, as: admin });
  await ok('deleteStateVersion', { id });
});
