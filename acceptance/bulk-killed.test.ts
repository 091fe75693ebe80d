/** A bulk operation while its server is killed: each environment gets its deployment, once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MortalService } from './recovery/mortal-service.ts';
import { createEnvironment, until } from './runs.ts';

const environments = 60;

describe('a bulk operation', () => {
  const mortal = new MortalService({ ENVARIUM_BUILT_IN_AGENT: 'false' });

  test('is completed by the next server after the first is killed in the middle', async () => {
    const { home } = mortal;
    const ids: string[] = [];
    for (let number = 0; number < environments; number++) {
      const { id } = await createEnvironment(mortal.client, home, {
        name: `environment ${number}`,
        repository: 'https://git.example.com/network.git',
        preventAutoDeploy: true,
      });
      ids.push(id);
    }
    const startedOf = async () => {
      const each = await Promise.all(
        ids.map((id) => mortal.client.call('listDeployments', { params: { id } })),
      );
      return each.map((rows) => rows.filter(({ status }) => status !== 'NEVER_DEPLOYED').length);
    };
    const body = { environmentIds: ids, organizationId: home.organizationId };
    const cut = mortal.client.call('bulkDeploy', { body }).then(
      () => 'finished',
      () => 'cut off',
    );
    await until('the first deployments', async () => {
      const rows = await mortal.client.call('listDeployments', { params: { id: ids[2] ?? '' } });
      return rows.some(({ status }) => status !== 'NEVER_DEPLOYED');
    });
    await mortal.kill('server');
    assert.equal(await cut, 'cut off');
    const before = await startedOf();
    assert.ok(before.includes(0), 'the server was killed in the middle');
    const { events } = await mortal.client.call('listAuditEvents', {
      query: { organizationId: home.organizationId, action: 'bulkOperation.started' },
    });
    const [started] = events;
    const operation = await until('the end of the operation', async () => {
      const now = await mortal.client.call('getBulkOperation', { params: { id: started?.entityId ?? '' } });
      return now.finishedAt === undefined ? undefined : now;
    });
    assert.deepEqual(
      operation.data.map(({ status }) => status),
      ids.map(() => 'success'),
    );
    assert.deepEqual(
      await startedOf(),
      ids.map(() => 1),
    );
  });
});
