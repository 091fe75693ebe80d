/** From a person's approval to the first byte of the apply's log, as a reader of the event stream sees it. */
import { setTimeout as delay } from 'node:timers/promises';
import { createEnvironment, readUntil } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const warmUpRounds = 1;
/** A person is slower than the agent, which cleans up after the plan. */
const thinkMilliseconds = 300;

interface Approval {
  readonly answered: number;
  readonly firstByte: number;
  readonly firstApplyByte: number;
  readonly ended: number;
}

/** Deploys a new environment. @returns the deployment that waits for approval, and its event stream */
export async function planOnce(service: BenchService, repository: string) {
  const { client } = service;
  const environmentId = await createEnvironment(service, repository, true);
  const { id } = await client.call('deployEnvironment', { params: { id: environmentId }, body: {} });
  const stream = client.stream('streamDeployment', { params: { id } });
  await readUntil(stream, (event) => event.event === 'status' && event.data.status === 'WAITING_FOR_USER');
  return { id, stream };
}

/** Approves what waits, and reads the stream to its end. */
export async function approveOnce(
  { client }: BenchService,
  { id, stream }: Awaited<ReturnType<typeof planOnce>>,
): Promise<Approval> {
  const start = performance.now();
  const since = () => performance.now() - start;
  const approving = client.call('approveDeployment', { params: { id } }).then(since);
  let firstByte: number | undefined;
  await readUntil(stream, (event) => {
    if (event.event === 'log') firstByte ??= since();
    return event.event === 'log' && event.data.step === 'tf:apply';
  });
  const firstApplyByte = since();
  await readUntil(stream, (event) => event.event === 'end' && event.data.status === 'SUCCESS');
  return {
    answered: await approving,
    firstByte: firstByte ?? firstApplyByte,
    firstApplyByte,
    ended: since(),
  };
}

/** Measurements of an approval, wherever the apply runs. */
export function approvalFigures(approvals: readonly Approval[]) {
  const figureOf = (name: string, read: (each: Approval) => number) =>
    figure(name, 'ms', approvals.map(read));
  return [
    figureOf("approval to first byte of the apply's log", (each) => each.firstApplyByte),
    figureOf('approval to first byte of any step', (each) => each.firstByte),
    figureOf('approval to its response', (each) => each.answered),
    figureOf('approval to final status', (each) => each.ended),
  ];
}

export const approvalBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  const all: Approval[] = [];
  for (let index = 0; index < (isQuick ? 3 : 15) + warmUpRounds; index++) {
    const planned = await planOnce(service, repository);
    await delay(thinkMilliseconds);
    all.push(await approveOnce(service, planned));
  }
  const counted = all.slice(warmUpRounds);
  return {
    figures: approvalFigures(counted),
    settings: {
      configuration: 'one terraform_data',
      rounds: counted.length,
      warmUpRounds,
      thinkMilliseconds,
    },
  };
};
