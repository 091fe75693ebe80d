/** A long queue and many agents that do nothing but claim and finish: how long a free agent waits for its job. */
import { randomUUID } from 'node:crypto';
import { createEnvironment } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const agentKey = 'ENVARIUM_DEFAULT';

interface ClaimedJob {
  readonly jobId: string;
  readonly attempt: number;
  readonly fence: number;
}

type Send = (path: string, message: object) => Promise<unknown>;

interface Registered {
  readonly send: Send;
  readonly epoch: number;
}

/** Registers an agent. @returns how it calls, and its epoch */
async function register(service: BenchService, secret: string): Promise<Registered> {
  const identity: Record<string, string> = {
    authorization: `Basic ${Buffer.from(`${agentKey}:${secret}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const send: Send = async (path, message) => {
    const response = await fetch(`${service.url}/agent/v1${path}`, {
      method: 'POST',
      headers: identity,
      body: JSON.stringify(message),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} returns ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const { agentId, epoch, token } = (await send('/register', {
    protocol: { major: 1, minor: 1 },
    agentVersion: 'bench',
    spoolId: randomUUID(),
    bootId: 'bench',
    hostname: 'bench',
    processId: 1,
    tools: ['terraform'],
    workFolder: '/srv/work',
    slots: 1,
    held: [],
  })) as { agentId: string; epoch: number; token: { token: string } };
  identity['authorization'] = `Bearer ${token.token}`;
  identity['x-envarium-agent'] = agentId;
  identity['x-envarium-epoch'] = String(epoch);
  return { send, epoch };
}

/**
 * Claims and ends jobs until the queue is empty, or until the most.
 * @returns the milliseconds from free to claimed, by job
 */
async function workThrough(
  { send, epoch }: Registered,
  most = Infinity,
): Promise<[jobId: string, milliseconds: number][]> {
  const waits: [string, number][] = [];
  while (waits.length < most) {
    const free = performance.now();
    const { job } = (await send('/claim', { epoch, waitSeconds: 0 })) as { job: ClaimedJob | null };
    if (job === null) return waits;
    waits.push([job.jobId, performance.now() - free]);
    await send(`/jobs/${job.jobId}/attempts/${job.attempt}/finish`, {
      fence: job.fence,
      outcome: { result: 'failed', finishedAt: new Date().toISOString(), error: { message: 'bench' } },
    });
  }
  return waits;
}

/** Jobs of each agent before the measurement: an agent claims for months, and for the first time only once. */
const warmUpJobs = 5;

export const claimBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const jobs = isQuick ? 50 : 1000;
  const agents = isQuick ? 5 : 20;
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder, { settings: { ENVARIUM_BUILT_IN_AGENT: 'false' } });
  for (let index = 0; index < jobs + warmUpJobs * agents; index++) {
    const id = await createEnvironment(service, repository, false);
    await service.client.call('deployEnvironment', { params: { id }, body: {} });
  }
  const { secret } = await service.client.call('createAgentSecret', { params: { agentKey }, body: {} });
  const free = await Promise.all(Array.from({ length: agents }, () => register(service, secret)));
  await Promise.all(free.map((agent) => workThrough(agent, warmUpJobs)));
  const start = performance.now();
  const all = await Promise.all(free.map((agent) => workThrough(agent)));
  const seconds = (performance.now() - start) / 1000;
  const waits = all.flat();
  const distinct = new Set(waits.map(([jobId]) => jobId)).size;
  if (waits.length !== jobs || distinct !== jobs)
    throw new Error(`${waits.length} claims of ${distinct} of ${jobs} jobs: each has to be claimed once`);
  return {
    figures: [
      figure(
        'from free to claimed',
        'ms',
        waits.map(([, milliseconds]) => milliseconds),
      ),
      figure('claimed and finished', 'per second', [jobs / seconds]),
    ],
    settings: { jobs, agents, warmUpJobs, client: 'all agents in one process on the same machine' },
  };
};
