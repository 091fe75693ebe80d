/** The list of environments under load, compared with a bare server that returns the same bytes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectTo } from './database.ts';
import { createEnvironment, deployAndWatch } from './deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from './figure.ts';
import { type LoadResult, putLoad } from './load.ts';
import { type Copies, copyEnvironment } from './many-environments.ts';
import { makeRepository, oneResource } from './repository.ts';
import { scratchFolder, type Service, startService } from './service.ts';

const bareProgram = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
const connections = 8;
const limit = 100;

/** Creates and deploys one environment, and copies it. */
export async function fill(service: Service, copies: Copies): Promise<void> {
  const repository = await makeRepository(service.folder.repositories, 'one-resource', oneResource);
  const environmentId = await createEnvironment(service, repository, false);
  await deployAndWatch(service, environmentId);
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

async function startBare(file: string): Promise<AsyncDisposable & { url: string }> {
  const child = spawn(process.execPath, [bareProgram, file], { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
  const ended = once(child, 'exit');
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${String(port).trim()}/`,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

/** The load of one round: on the service with several connections and with one, and on the bare server. */
interface Round {
  readonly ours: LoadResult;
  readonly alone: LoadResult;
  readonly bare: LoadResult;
}

function figuresOf(measured: readonly Round[]): Figure[] {
  return [
    figure(
      `throughput, ${connections} connections`,
      'requests/s',
      measured.map(({ ours }) => ours.perSecond),
    ),
    figure(
      'throughput of the bare server',
      'requests/s',
      measured.map((each) => each.bare.perSecond),
    ),
    figure(
      'ratio to the bare server',
      '×',
      measured.map((each) => each.ours.perSecond / each.bare.perSecond),
    ),
    figure(
      `latency, ${connections} connections`,
      'ms',
      measured.flatMap(({ ours }) => ours.latencies),
    ),
    figure(
      'latency, 1 connection',
      'ms',
      measured.flatMap(({ alone }) => alone.latencies),
    ),
  ];
}

export const listBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const copies = { environments: 1000, deploymentsEach: 10 };
  const rounds = isQuick ? 1 : 5;
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  await fill(service, copies);
  const [organization] = await service.client.call('listOrganizations');
  const url = `${service.url}/api/environments?organizationId=${organization?.id}&limit=${limit}`;
  const headers = {
    authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
  };
  const bytes = await readList(url, headers);
  const file = join(folder.path, 'list.json');
  await writeFile(file, bytes);
  await using bare = await startBare(file);
  const load = (address: string, parallel: number, milliseconds: number) =>
    putLoad({ url: address, headers, connections: parallel, milliseconds });
  await Promise.all([load(url, connections, 1000), load(bare.url, connections, 1000)]);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const ours = await load(url, connections, 2000);
    const alone = await load(url, 1, 1000);
    const bareLoad = await load(bare.url, connections, 1000);
    measured.push({ ours, alone, bare: bareLoad });
  }
  return {
    figures: figuresOf(measured),
    settings: {
      ...copies,
      limit,
      bytes: bytes.length,
      rounds,
      secondsPerRound: 2,
      client: 'one process on the same machine',
    },
  };
};
