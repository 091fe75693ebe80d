/** Cost of isolating runs: a service without it and one with it, in alternation. */
import { setTimeout as delay } from 'node:timers/promises';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { megabytesOf, processesOfService } from '../measure/processes.ts';
import { makeRepository, oneResource, oneSecond } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { readTimelines } from '../measure/timeline.ts';

const warmUpRounds = 2;
const sampleMilliseconds = 100;

interface IsolationRound {
  readonly ended: number;
  /** Milliseconds by phase and run. */
  readonly phases: Readonly<Record<string, number>>;
}

async function deployOnce(service: BenchService, repository: string): Promise<IsolationRound> {
  const watched = await deployAndWatch(service, await createEnvironment(service, repository, false));
  const [timeline] = await readTimelines(service, [watched.id]);
  const phases: Record<string, number> = {};
  for (const { phase, run, milliseconds } of timeline?.phases ?? []) {
    const name = run === undefined ? phase : `${phase} (${run})`;
    phases[name] = (phases[name] ?? 0) + milliseconds;
  }
  return { ended: watched.ended, phases };
}

/** The most that processes of sandboxes occupy while a deployment runs, in megabytes. */
async function sandboxMemory(service: BenchService, repository: string): Promise<number> {
  let most = 0;
  let isRunning = true;
  const run = deployOnce(service, repository).finally(() => (isRunning = false));
  while (isRunning) {
    const sandboxes = (await processesOfService(service)).filter(({ program }) => program === 'sandbox');
    const sizes = await Promise.all(sandboxes.map(({ pid }) => megabytesOf(pid)));
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    await delay(sampleMilliseconds);
  }
  await run;
  return most;
}

function differences(pairs: readonly { without: IsolationRound; isolated: IsolationRound }[]): Figure[] {
  const names = Object.keys(pairs[0]?.isolated.phases ?? {});
  return [
    figure(
      'without isolation',
      'ms',
      pairs.map(({ without }) => without.ended),
    ),
    figure(
      'with isolation',
      'ms',
      pairs.map(({ isolated }) => isolated.ended),
    ),
    figure(
      'difference',
      'ms',
      pairs.map(({ without, isolated }) => isolated.ended - without.ended),
    ),
    ...names.map((name) =>
      figure(
        `difference: ${name}`,
        'ms',
        pairs.map(({ without, isolated }) => (isolated.phases[name] ?? 0) - (without.phases[name] ?? 0)),
      ),
    ),
  ];
}

export const isolationBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 3 : 30;
  await using openFolder = await scratchFolder();
  await using closedFolder = await scratchFolder();
  const openRepository = await makeRepository(openFolder.repositories, 'one-resource', oneResource);
  const repository = await makeRepository(closedFolder.repositories, 'one-resource', oneResource);
  const waiting = await makeRepository(closedFolder.repositories, 'one-second', oneSecond);
  await using open = await startService(openFolder, { settings: { ENVARIUM_ISOLATION: 'off' } });
  await using closed = await startService(closedFolder);
  const pairs: { without: IsolationRound; isolated: IsolationRound }[] = [];
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    const isOpenFirst = round % 2 === 0;
    const first = isOpenFirst ? await deployOnce(open, openRepository) : null;
    const isolated = await deployOnce(closed, repository);
    const without = first ?? (await deployOnce(open, openRepository));
    if (round >= warmUpRounds) pairs.push({ without, isolated });
  }
  return {
    figures: [
      ...differences(pairs),
      figure('memory of the sandboxes of one run', 'MB', [await sandboxMemory(closed, waiting)]),
    ],
    settings: { configuration: 'one terraform_data', rounds, warmUpRounds, sampleMilliseconds },
  };
};
