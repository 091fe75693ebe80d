/** A deployment of many resources with many readers of its event stream: each counts bytes and lag. */
import { setTimeout as delay } from 'node:timers/promises';
import { createEnvironment } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { megabytesOf, processesOfService } from '../measure/processes.ts';
import { makeRepository, manyResources } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { percentile } from '../measure/statistics.ts';

const applyStep = 'tf:apply';
const sampleMilliseconds = 500;

interface FollowerResult {
  /** Bytes that came twice or not at all. */
  readonly wrongBytes: number;
  readonly bytes: number;
  /** Of each line that says when it was printed, in milliseconds. */
  readonly lags: readonly number[];
}

/** Follows a deployment to its end. */
async function follow({ client }: BenchService, id: string): Promise<FollowerResult> {
  const next = new Map<string, number>();
  const lags: number[] = [];
  let wrongBytes = 0;
  let rest = '';
  for await (const event of client.stream('streamDeployment', { params: { id } })) {
    if (event.event !== 'log') continue;
    const { step, offset, bytes, text = '' } = event.data;
    wrongBytes += Math.abs(offset - (next.get(step) ?? 0));
    next.set(step, offset + bytes);
    if (step !== applyStep) continue;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const printed = /printed-at=(\d+)/.exec(line)?.[1];
      if (printed !== undefined) lags.push(Date.now() - Number(printed));
    }
  }
  return { wrongBytes, bytes: [...next.values()].reduce((sum, value) => sum + value, 0), lags };
}

async function serverMemory(service: BenchService): Promise<number> {
  const servers = (await processesOfService(service)).filter(({ program }) => program === 'server');
  const sizes = await Promise.all(servers.map(({ pid }) => megabytesOf(pid)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export const followersBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const resources = isQuick ? 100 : 1000;
  const followers = isQuick ? 10 : 50;
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'many', manyResources(resources));
  await using service = await startService(folder);
  const before = await serverMemory(service);
  const environmentId = await createEnvironment(service, repository, false);
  const { id } = await service.client.call('deployEnvironment', { params: { id: environmentId }, body: {} });
  const all = Promise.all(Array.from({ length: followers }, () => follow(service, id)));
  const growth: number[] = [];
  let isRunning = true;
  const ended = all.finally(() => (isRunning = false));
  while (isRunning) {
    growth.push((await serverMemory(service)) - before);
    await delay(sampleMilliseconds);
  }
  const readers = await ended;
  const { status } = await service.client.call('getDeployment', { params: { id } });
  if (status !== 'SUCCESS') throw new Error(`the deployment ended with ${status}`);
  const most = Math.max(...readers.map(({ bytes }) => bytes));
  return {
    figures: [
      figure(
        'lag of a line',
        'ms',
        readers.flatMap(({ lags }) => lags),
      ),
      figure(
        'lag of the last line of a reader',
        'ms',
        readers.map(({ lags }) => lags.at(-1) ?? Infinity),
      ),
      figure(
        'p99 of the lag of each reader',
        'ms',
        readers.map(({ lags }) => percentile(lags, 0.99)),
      ),
      figure(
        'bytes lost or doubled',
        'bytes',
        readers.map(({ wrongBytes, bytes }) => wrongBytes + most - bytes),
      ),
      figure('growth of the server', 'MB', growth),
    ],
    settings: {
      resources,
      followers,
      bytesEach: most,
      client: 'all readers in one process on the same machine',
    },
  };
};
