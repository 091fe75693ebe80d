/** One deployment after another, alternated with the script in the same run. */
import { besideScript, runByHand } from '../measure/by-hand.ts';
import { type Cpu, cpuFigures, readCpu } from '../measure/cpu.ts';
import { createEnvironment, deployAndWatch, type Watched } from '../measure/deployments.ts';
import { type Bench, type BenchOptions, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository, oneResource, oneSecond } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';
import { commandCpu, ownShares, readTimelines } from '../measure/timeline.ts';

const warmUpRounds = 2;

interface DeployRound {
  readonly watched: Watched;
  readonly byHand: number;
  /** After both. */
  readonly cpu: Cpu;
}

/** Shared measurements of both benchmarks: the deployment and the script. */
function besideTheScript(rounds: readonly DeployRound[]) {
  return [
    figure(
      'request to final status',
      'ms',
      rounds.map(({ watched }) => watched.ended),
    ),
    figure(
      'the script',
      'ms',
      rounds.map(({ byHand }) => byHand),
    ),
  ];
}

interface Played {
  readonly cpuBefore: Cpu;
  readonly rounds: readonly DeployRound[];
}

async function playRounds(service: BenchService, repository: string, rounds: number): Promise<Played> {
  const played: DeployRound[] = [];
  // Made before: what is measured is a deployment, not the creation of its environment.
  const environmentIds: string[] = [];
  for (let index = 0; index < rounds + warmUpRounds; index++)
    environmentIds.push(await createEnvironment(service, repository, false));
  let cpuBefore = await readCpu(service);
  for (const [index, environmentId] of environmentIds.entries()) {
    const isScriptFirst = index % 2 === 0;
    const { ours: watched, byHand } = await besideScript(
      isScriptFirst,
      () => runByHand(service.folder.path, repository),
      () => deployAndWatch(service, environmentId),
    );
    const cpu = await readCpu(service);
    if (index >= warmUpRounds) played.push({ watched, byHand, cpu });
    else cpuBefore = cpu;
  }
  return { cpuBefore, rounds: played };
}

/** A configuration of one resource: what the service adds, as a difference. */
export const deployBench: Bench = async ({ isQuick }: BenchOptions): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  const { rounds, cpuBefore } = await playRounds(service, repository, isQuick ? 5 : 50);
  const timelines = await readTimelines(
    service,
    rounds.map(({ watched }) => watched.id),
  );
  return {
    figures: [
      ...besideTheScript(rounds),
      figure(
        'difference to the script',
        'ms',
        rounds.map(({ watched, byHand }) => watched.ended - byHand),
      ),
      figure(
        'tool and git',
        'ms',
        timelines.map(({ toolMilliseconds, gitMilliseconds }) => toolMilliseconds + gitMilliseconds),
      ),
      figure(
        'own time',
        'ms',
        timelines.map(({ ownMilliseconds }) => ownMilliseconds),
      ),
      figure(
        'request to first log line',
        'ms',
        rounds.map(({ watched }) => watched.firstLog),
      ),
      ...ownShares(timelines),
      ...cpuFigures(
        cpuBefore,
        rounds.map(({ cpu }, index) => ({
          after: cpu,
          commands: commandCpu(timelines[index] as (typeof timelines)[number]),
        })),
      ),
    ],
    settings: {
      configuration: 'one terraform_data',
      rounds: rounds.length,
      warmUpRounds,
      approval: 'none',
      environments: 'a new one each round',
    },
  };
};

/**
 * A configuration whose script takes a second or more, most of it waiting: what the service adds, as a ratio.
 */
export const ordinaryBench: Bench = async ({ isQuick }: BenchOptions): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-second', oneSecond);
  await using service = await startService(folder);
  const { rounds } = await playRounds(service, repository, isQuick ? 2 : 30);
  return {
    figures: [
      ...besideTheScript(rounds),
      figure(
        'ratio to the script',
        '×',
        rounds.map(({ watched, byHand }) => watched.ended / byHand),
      ),
    ],
    settings: {
      configuration: 'one terraform_data that waits 1 s',
      rounds: rounds.length,
      warmUpRounds,
      approval: 'none',
    },
  };
};
