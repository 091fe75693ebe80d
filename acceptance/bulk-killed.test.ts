/** A bulk operation while its server is killed: each environment gets its deployment, once. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createEnvironment, homeOf, until } from './runs.ts';
import { type RunningService, scratchFolder, startService } from './service.ts';

const environments = 60;

describe('a bulk operation', () => {
  let folder: string;
  let service: RunningService;
  const settings = { ENVARIUM_BOOTSTRAP_API_SECRET: 'b'.repeat(43), ENVARIUM_BUILT_IN_AGENT: 'false' };

  before(async () => {
    folder = await scratchFolder();
    service = await startService({ folder, settings });
  });
  after(() => service?.stop());

  test('is completed by the next server after the first is killed in the middle', async () => {
    const home = await homeOf(service.client);
    const ids: string[] = [];
    for (let number = 0; number < environments; number++) {
      const { id } = await createEnvironment(service.client, home, {
        name: `environment ${number}`,
        repository: 'https://git.example.com/network.git',
        preventAutoDeploy: true,
      });
      ids.push(id);
    }
    const startedOf = async () => {
      const each = await Promise.all(
        ids.map((id) => service.client.call('listDeployments', { params: { id } })),
      );
      return each.map((rows) => rows.filter(({ status }) => status !== 'NEVER_DEPLOYED').length);
    };
    const body = { environmentIds: ids, organizationId: home.organizationId };
    const cut = service.client.call('bulkDeploy', { body }).then(
      () => 'finished',
      () => 'cut off',
    );
    await until('the first deployments', async () => {
      const rows = await service.client.call('listDeployments', { params: { id: ids[2] ?? '' } });
      return rows.some(({ status }) => status !== 'NEVER_DEPLOYED');
    });
    await service.kill();
    assert.equal(await cut, 'cut off');
    service = await startService({ folder, settings });
    const before = await startedOf();
    assert.ok(before.includes(0), 'the server was killed in the middle');
    const { events } = await service.client.call('listAuditEvents', {
      query: { organizationId: home.organizationId, action: 'bulkOperation.started' },
    });
    const [started] = events;
    const operation = await until('the end of the operation', async () => {
      const now = await service.client.call('getBulkOperation', { params: { id: started?.entityId ?? '' } });
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
