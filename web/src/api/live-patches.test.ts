import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryClient } from '@tanstack/react-query';
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import { PatchedReads } from './live-patches.ts';

const environment = (id: string, deployment: string) => ({
  id,
  name: `environment ${id}`,
  status: 'ACTIVE',
  latestDeploymentLog: { id: deployment, status: 'SUCCESS', comment: 'kept' },
});

const planned = {
  id: '1',
  event: 'deployment',
  data: {
    projectId: 'p',
    environmentId: 'e1',
    deploymentLogId: 'd1',
    type: 'deploy',
    status: 'WAITING_FOR_USER',
    environmentStatus: 'WAITING_FOR_USER',
    waitingFor: { kind: 'approval', since: '2026-01-01T00:00:00.000Z', text: 'Waits' },
    startedAt: null,
    finishedAt: null,
  },
} as unknown as OrganizationStreamEvent;

test('a status reaches every list and page that shows the environment or the deployment', () => {
  const queries = new QueryClient();
  const reads = new PatchedReads(queries);
  const [own, other] = [environment('e1', 'd1'), environment('e2', 'd2')];
  queries.setQueryData(['listEnvironments', { query: {} }, 'page'], { rows: [other, own], total: 9 });
  queries.setQueryData(['listEnvironments', {}], [own]);
  queries.setQueryData(['getEnvironment', { params: { id: 'e1' } }], own);
  queries.setQueryData(['getDeployment', { params: { id: 'd1' } }], {
    id: 'd1',
    status: 'IN_PROGRESS',
    type: 'deploy',
  });
  reads.take(planned);
  const page = queries.getQueryData<{ rows: (typeof own)[]; total: number }>([
    'listEnvironments',
    { query: {} },
    'page',
  ]);
  assert.equal(page?.total, 9);
  assert.equal(page?.rows[0], other, 'a row that has not changed is the same object');
  for (const read of [
    page?.rows[1],
    queries.getQueryData<(typeof own)[]>(['listEnvironments', {}])?.[0],
    queries.getQueryData<typeof own>(['getEnvironment', { params: { id: 'e1' } }]),
  ])
    assert.deepEqual(
      [read?.status, read?.latestDeploymentLog.status, read?.latestDeploymentLog.comment],
      ['WAITING_FOR_USER', 'WAITING_FOR_USER', 'kept'],
    );
  const deployment = queries.getQueryData<{ status: string; type: string }>([
    'getDeployment',
    { params: { id: 'd1' } },
  ]);
  assert.deepEqual([deployment?.status, deployment?.type], ['WAITING_FOR_USER', 'deploy']);
});

test('an older deployment does not change what the newest one of the environment is', () => {
  const queries = new QueryClient();
  const reads = new PatchedReads(queries);
  queries.setQueryData(['getEnvironment', {}], environment('e1', 'd2'));
  reads.take(planned);
  const read = queries.getQueryData<ReturnType<typeof environment>>(['getEnvironment', {}]);
  assert.deepEqual([read?.status, read?.latestDeploymentLog.status], ['WAITING_FOR_USER', 'SUCCESS']);
});

test('what is edited keeps the version that was read, and what does not show it stays untouched', () => {
  const queries = new QueryClient();
  const reads = new PatchedReads(queries);
  const tagged = { data: environment('e1', 'd1'), etag: '"v1"' };
  const others = [environment('e3', 'd3')];
  queries.setQueryData(['getEnvironment', {}, 'tagged'], tagged);
  queries.setQueryData(['listEnvironments', {}], others);
  queries.setQueryData(['listProjects', {}], [{ id: 'e1', status: 'x' }]);
  reads.take(planned);
  assert.equal(queries.getQueryData(['getEnvironment', {}, 'tagged']), tagged);
  assert.equal(queries.getQueryData(['listEnvironments', {}]), others);
  assert.deepEqual(queries.getQueryData(['listProjects', {}]), [{ id: 'e1', status: 'x' }]);
});

test('a reading that began before the event does not bring the older status back', async () => {
  const queries = new QueryClient();
  const reads = new PatchedReads(queries);
  const queryKey = ['getEnvironment', {}];
  const statusOf = () => queries.getQueryData<ReturnType<typeof environment>>(queryKey)?.status;
  const answer = Promise.withResolvers<ReturnType<typeof environment>>();
  const reading = queries.fetchQuery({ queryKey, queryFn: () => answer.promise });
  reads.take(planned);
  answer.resolve(environment('e1', 'd1'));
  await reading;
  assert.equal(statusOf(), 'WAITING_FOR_USER');
  await queries.fetchQuery({ queryKey, queryFn: () => environment('e1', 'd1') });
  assert.equal(statusOf(), 'ACTIVE', 'a reading that began after it is newer');
});
