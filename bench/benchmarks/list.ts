/** The list of environments under load, compared with its raw query, in a small and a large organization. */

import type { Database } from '../../server/src/ground/database/open.ts';
import { connectTo } from '../measure/database.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { type LoadResult, putLoad, repeat } from '../measure/load.ts';
import { type Copies, copyEnvironment } from '../measure/many-environments.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const connections = 4;
const limit = 100;

/** Creates and deploys one environment. @returns its id */
export async function createFirst(service: BenchService): Promise<string> {
  const repository = await makeRepository(service.folder.repositories, 'one-resource', oneResource);
  const environmentId = await createEnvironment(service, repository, false);
  await deployAndWatch(service, environmentId);
  return environmentId;
}

/** Creates and deploys one environment, and copies it. */
export async function fill(service: BenchService, copies: Copies): Promise<void> {
  const environmentId = await createFirst(service);
  await using database = await connectTo(service);
  await copyEnvironment(database, environmentId, copies);
}

async function readList(url: string, headers: Record<string, string>): Promise<Buffer> {
  const response = await fetch(url, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  const list = JSON.parse(bytes.toString('utf8')) as unknown;
  if (response.status !== 200 || !Array.isArray(list) || list.length !== limit)
    throw new Error(`the list of environments is not one of ${limit}`);
  return bytes;
}

/** Minimum that the page needs: its rows, their newest deployments, and the total. */
const rawQuery = `select e.*, d.*, (select sum(environments) from environment_count where organization_id = $1)
  from (select * from environment where organization_id = $1
    order by created_at desc, id desc limit ${limit}) e
  left join deployment d on d.id = e.latest_deployment_id
  order by e.created_at desc, e.id desc`;

function putRawLoad({ pool }: Database, organizationId: string, milliseconds: number): Promise<LoadResult> {
  const query = { name: 'raw', text: rawQuery, values: [organizationId], rowMode: 'array' as const };
  return repeat(async () => void (await pool.query(query)), { parallel: connections, milliseconds });
}

interface ListRound {
  readonly ours: LoadResult;
  readonly raw: LoadResult;
}

function figuresOf(environments: number, rounds: readonly ListRound[]): Figure[] {
  const name = (text: string) => `${environments} environments: ${text}`;
  return [
    figure(
      name('throughput'),
      'requests/s',
      rounds.map(({ ours }) => ours.perSecond),
    ),
    figure(
      name('the raw query'),
      'requests/s',
      rounds.map(({ raw }) => raw.perSecond),
    ),
    figure(
      name("share of the raw query's rate"),
      '×',
      rounds.map(({ ours, raw }) => ours.perSecond / raw.perSecond),
    ),
    figure(
      name('latency'),
      'ms',
      rounds.flatMap(({ ours }) => ours.latencies),
    ),
  ];
}

export const listBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const sizes = isQuick ? [200, 1000] : [1000, 50_000];
  const deploymentsEach = isQuick ? 5 : 50;
  const rounds = isQuick ? 1 : 5;
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  const environmentId = await createFirst(service);
  await using database = await connectTo(service);
  const [organization] = await service.client.call('listOrganizations');
  const organizationId = organization?.id ?? '';
  const url = `${service.url}/api/environments?organizationId=${organizationId}&limit=${limit}`;
  const headers = {
    authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
  };
  const figures: Figure[] = [];
  let bytes = 0;
  let existing = 0;
  for (const environments of sizes) {
    await copyEnvironment(database, environmentId, {
      environments: environments - existing,
      deploymentsEach,
      after: existing,
    });
    existing = environments;
    bytes = (await readList(url, headers)).length;
    await putLoad({ url, headers, connections, milliseconds: 1000 });
    await putRawLoad(database, organizationId, 500);
    const measured: ListRound[] = [];
    for (let round = 0; round < rounds; round++) {
      const ours = await putLoad({ url, headers, connections, milliseconds: 2000 });
      measured.push({ ours, raw: await putRawLoad(database, organizationId, 1000) });
    }
    figures.push(...figuresOf(environments, measured));
  }
  return {
    figures,
    settings: {
      connections,
      deploymentsEach,
      limit,
      bytes,
      rounds,
      secondsPerRound: 2,
      client: 'one process on the same machine',
    },
  };
};
