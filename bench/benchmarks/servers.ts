/**
 * The rate of deployments with one server and two agents, and with two servers and four agents on the same
 * PostgreSQL. Where the cores do not allow twice the rate, the shares of processor time show what uses them.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../server/src/ground/database/embedded.ts';
import { runOnServer } from '../../server/testing/database-server.ts';
import { startAgent } from '../measure/agents.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { type Process, type ProgramKind, processesBelow } from '../measure/processes.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const agentsPerServer = 2;

interface ServersRound {
  /** Deployments per second, from the first request to the last end. */
  readonly rate: number;
  /** Cores in use, on average. */
  readonly cores: number;
  /** Shares of the processor time. */
  readonly database: number;
  readonly servers: number;
  readonly runs: number;
}

function cpuOf(processes: readonly Process[], programs?: readonly ProgramKind[]): number {
  return processes
    .filter(({ program }) => programs?.includes(program) ?? true)
    .reduce((sum, { cpu, waitedCpu }) => sum + cpu + waitedCpu, 0);
}

async function measure(serverCount: number, count: number): Promise<ServersRound> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await scratchFolder());
  const place = join(folder.path, 'database');
  await mkdir(place);
  const database = stack.use(await EmbeddedPostgres.open(place));
  await runOnServer(database.address, 'create database envarium');
  const { host, user } = database.address;
  const settings = {
    DATABASE_URL: `postgres://${user}@localhost/envarium?host=${encodeURIComponent(host)}`,
    ENVARIUM_BLOB_DIR: join(folder.path, 'blobs'),
    ENVARIUM_SEALING_KEY_FILE: join(folder.path, 'sealing.key'),
    ENVARIUM_BOOTSTRAP_API_SECRET: randomBytes(32).toString('base64url'),
    ENVARIUM_BUILT_IN_AGENT: 'false',
  };
  const services: BenchService[] = [];
  const pids = [database.pid];
  for (let index = 0; index < serverCount; index++) {
    const own = { ...folder, data: join(folder.path, `data-${index}`) };
    const service = stack.use(await startService(own, { settings }));
    services.push(service);
    pids.push(service.pid);
  }
  for (let index = 0; index < serverCount * agentsPerServer; index++) {
    const agent = stack.use(await startAgent(services[index % serverCount] as BenchService, index + 1));
    pids.push(agent.pid());
  }
  const repository = await makeRepository(folder.repositories, 'one', oneResource);
  const deployMany = async (many: number): Promise<number> => {
    const started: (() => Promise<unknown>)[] = [];
    for (let index = 0; index < many; index++) {
      const service = services[index % serverCount] as BenchService;
      const id = await createEnvironment(service, repository, false);
      started.push(() => deployAndWatch(service, id));
    }
    const start = performance.now();
    await Promise.all(started.map((deploy) => deploy()));
    return performance.now() - start;
  };
  await deployMany(2 * agentsPerServer * serverCount);
  const before = await processesBelow(pids);
  const milliseconds = await deployMany(count);
  const after = await processesBelow(pids);
  const spent = (programs?: readonly ProgramKind[]) => cpuOf(after, programs) - cpuOf(before, programs);
  const all = spent();
  return {
    rate: (count / milliseconds) * 1000,
    cores: all / milliseconds,
    database: spent(['PostgreSQL']) / all,
    servers: spent(['server']) / all,
    runs: spent(['agent', 'runner', 'tool', 'git', 'sandbox']) / all,
  };
}

export const serversBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const count = isQuick ? 12 : 100;
  const rounds = isQuick ? 1 : 3;
  const pairs: { one: ServersRound; two: ServersRound }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ one: await measure(1, count), two: await measure(2, count) });
  const one = (name: keyof ServersRound) => pairs.map((pair) => pair.one[name]);
  const two = (name: keyof ServersRound) => pairs.map((pair) => pair.two[name]);
  const figures = [
    figure('one server, two agents: deployments', 'per second', one('rate')),
    figure('two servers, four agents: deployments', 'per second', two('rate')),
    figure(
      'two servers to one',
      '×',
      pairs.map((pair) => pair.two.rate / pair.one.rate),
    ),
    figure('one server: cores in use', '×', one('cores')),
    figure('two servers: cores in use', '×', two('cores')),
    figure('two servers: share of processor time in PostgreSQL', '×', two('database')),
    figure('two servers: share of processor time in servers', '×', two('servers')),
    figure('two servers: share of processor time in agents and runs', '×', two('runs')),
  ];
  return { figures, settings: { environments: count, rounds, slots: '2 per agent', approval: 'none' } };
};
