/**
 * Delay for people after a program is killed in the middle of an apply: from the restarted service's readiness to
 * what the run has logged since the kill, and from the end of an agent for good to its display as unreachable.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchAgent, startAgent } from '../measure/agents.ts';
import { createEnvironment, readUntil } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { processesOfService } from '../measure/processes.ts';
import { makeRepository } from '../measure/repository.ts';
import { type BenchService, type Folder, scratchFolder, startService } from '../measure/service.ts';

const lines = 80;
const pollMilliseconds = 50;
const patienceMilliseconds = 60_000;

/** Prints when each line was printed, in milliseconds since the epoch, for some seconds. */
const configuration = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "i=0; while [ $i -lt ${lines} ]; do date +printed-at=%s%3N; sleep 0.1; i=$((i+1)); done"
  }
}
`;

interface Apply {
  readonly id: string;
  /** Of the last event that was read. */
  readonly cursor: string;
}

/** Deploys, up to the first line that the resource prints. */
async function untilApply(service: BenchService, repository: string): Promise<Apply> {
  const { client } = service;
  const environmentId = await createEnvironment(service, repository, false);
  const { id } = await client.call('deployEnvironment', { params: { id: environmentId }, body: {} });
  const stream = client.stream('streamDeployment', { params: { id } });
  const event = await readUntil(
    stream,
    ({ event, data }) => event === 'log' && /printed-at=\d/.test(data.text ?? ''),
  );
  await stream.return();
  return { id, cursor: event.id };
}

/** @returns milliseconds from now to a line that was printed after the kill; waits for the end of the run */
async function untilContinued(
  { client }: BenchService,
  { id, cursor }: Apply,
  killedAt: number,
): Promise<number> {
  const start = performance.now();
  const stream = client.stream('streamDeployment', { params: { id }, lastEventId: cursor });
  await readUntil(stream, ({ event, data }) => {
    if (event !== 'log') return false;
    const printed = [...(data.text ?? '').matchAll(/printed-at=(\d+)/g)].map(([, at]) => Number(at));
    return printed.some((at) => at > killedAt);
  });
  const continued = performance.now() - start;
  await readUntil(stream, ({ event, data }) => event === 'end' && data.status === 'SUCCESS');
  return continued;
}

/** One kill of the service, alone or together with its agent. @returns the service that follows, and the time */
async function killService(
  folder: Folder,
  service: BenchService,
  repository: string,
  { withAgent }: { readonly withAgent: boolean },
): Promise<{ readonly service: BenchService; readonly continued: number }> {
  const apply = await untilApply(service, repository);
  const agents = withAgent
    ? (await processesOfService(service)).filter(({ program }) => program === 'agent')
    : [];
  const killedAt = Date.now();
  for (const pid of [...agents.map((agent) => agent.pid), service.pid]) process.kill(pid, 'SIGKILL');
  await service[Symbol.asyncDispose]();
  const next = await startService(folder, { settings: settingsOf(withAgent), follows: service });
  return { service: next, continued: await untilContinued(next, apply, killedAt) };
}

const settingsOf = (hasBuiltIn: boolean) => ({ ENVARIUM_BUILT_IN_AGENT: String(hasBuiltIn) });

/** @param withAgent whether the built-in agent is killed, too; otherwise a remote agent lives on */
async function measureKills(withAgent: boolean, rounds: number): Promise<number[]> {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'slow', configuration);
  let service = await startService(folder, { settings: settingsOf(withAgent) });
  let agent: BenchAgent | null = null;
  try {
    agent = withAgent ? null : await startAgent(service, 1);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { service: next, continued } = await killService(folder, service, repository, { withAgent });
      service = next;
      times.push(continued);
    }
    return times;
  } finally {
    await agent?.stop();
    await service[Symbol.asyncDispose]();
  }
}

/** @returns milliseconds from the end of a remote agent and its run to its display as unreachable */
async function measureLoss(rounds: number): Promise<number[]> {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'slow', configuration);
  await using service = await startService(folder, { settings: settingsOf(false) });
  const times: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const agent = await startAgent(service, round);
    const { id } = await untilApply(service, repository);
    await agent.kill();
    const start = performance.now();
    for (;;) {
      const [agents, { waitingFor }] = await Promise.all([
        service.client.call('listAgents'),
        service.client.call('getDeployment', { params: { id } }),
      ]);
      const isShown = agents.find((each) => each.id === agent.id)?.status !== 'ACTIVE';
      if (isShown && waitingFor?.kind === 'agent') break;
      if (performance.now() - start > patienceMilliseconds)
        throw new Error(`a lost agent is not shown as unreachable: ${JSON.stringify(waitingFor)}`);
      await delay(pollMilliseconds);
    }
    times.push(performance.now() - start);
  }
  return times;
}

export const recoveryBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 1 : 5;
  return {
    figures: [
      figure(
        'server killed, agent alive: ready to the log since the kill',
        'ms',
        await measureKills(false, rounds),
      ),
      figure(
        'server and agent killed: ready to the log since the kill',
        'ms',
        await measureKills(true, rounds),
      ),
      figure('remote agent lost for good: to its display', 'ms', await measureLoss(isQuick ? 1 : 3)),
    ],
    settings: { configuration: 'one resource that prints for 8 s', rounds, pollMilliseconds },
  };
};
