import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gitFolder } from '../../../testing/git-repository.ts';
import { startTests } from '../../../testing/start.ts';

const folder = gitFolder();
after(() => folder[Symbol.dispose]());
const { app, projectId, ok, sql } = await startTests({ ENVARIUM_GIT_LOCAL_PATHS: folder.path });

/** Changes of discovery that readers of the organization have heard of since the last call. */
async function heard(): Promise<unknown[]> {
  const rows = await sql(
    `delete from organization_event where name = 'changed' and data->>'entity' = 'discovery' returning data`,
  );
  return rows.map(({ data }) => data);
}

test('pages hear that a scan has begun, has read its folders and has ended, although the audit trail does not', async () => {
  const repository = folder.repository('live', { 'README.md': 'no code' });
  const params = { projectId };
  const body = { repository: repository.path, globPattern: '**/main.tf' };
  const { id } = await ok('setDiscovery', { params, body });
  await app.carryOutEffects();
  await heard();
  await ok('startDiscoveryScan', { params });
  assert.deepEqual(await heard(), [{ entity: 'discovery', id, projectId }]);
  await app.carryOutEffects();
  assert.deepEqual(await heard(), [
    { entity: 'discovery', id, projectId },
    { entity: 'discovery', id, projectId },
  ]);
  const [{ count } = { count: null }] = await sql(
    "select count(*)::integer from audit_event where action = 'discovery.scanned'",
  );
  assert.equal(count, 0);
});

test('pages hear that a scan has failed', async () => {
  const params = { projectId };
  const body = { repository: `${folder.path}/gone`, globPattern: '**/main.tf' };
  const { id } = await ok('setDiscovery', { params, body });
  await heard();
  await app.carryOutEffects();
  assert.deepEqual(await heard(), [{ entity: 'discovery', id, projectId }]);
});
