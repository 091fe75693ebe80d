/** Environment discovery while its server is killed: each folder becomes an environment, once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MortalService } from './recovery/mortal-service.ts';
import { until } from './runs.ts';
import { makeRepository } from './service.ts';

const folders = 90;

describe('environment discovery', () => {
  const mortal = new MortalService({ ENVARIUM_BUILT_IN_AGENT: 'false' });

  test('is continued by the next server after the first is killed between two environments', async () => {
    const { projectId, organizationId } = mortal.home;
    const params = { projectId };
    const names = Array.from({ length: folders }, (_, number) => `prod/service-${number}`);
    const { path: repository } = await makeRepository(
      mortal.folder,
      'live',
      Object.fromEntries(names.map((name) => [`${name}/main.tf`, `output "name" { value = "${name}" }\n`])),
    );
    await mortal.client.call('setDiscovery', { params, body: { repository, globPattern: '**/main.tf' } });
    const environments = () =>
      mortal.client.call('listEnvironments', { query: { organizationId, projectId } });
    await until('the first environments', async () => (await environments()).length > 2);
    await mortal.kill('server');
    const before = await environments();
    assert.ok(before.length < folders, 'the server was killed in the middle');
    const scan = await until('the end of the scan', async () => {
      const [newest] = await mortal.client.call('listDiscoveryScans', { params });
      return newest?.finishedAt === undefined ? undefined : newest;
    });
    assert.deepEqual([scan.status, scan.created], ['SUCCESS', folders]);
    const after = await environments();
    assert.deepEqual(after.map(({ name }) => name).toSorted(), names.toSorted());
    for (const { id } of before) assert.ok(after.some((each) => each.id === id));
    const state = await mortal.client.call('getDiscoveryState', { params });
    assert.deepEqual(
      new Set(state.folders.map(({ environmentId }) => environmentId)),
      new Set(after.map(({ id }) => id)),
    );
  });
});
