/** One deployment after another, alternated with the script in the same run. */
import { runByHand } from './by-hand.ts';
import { type Cpu, cpuFigures, readCpu } from './cpu.ts';
import { connectTo, type Mark, processesOf } from './database.ts';
import { createEnvironment, deployAndWatch, type Watched } from './deployments.ts';
import { type Bench, type BenchOptions, type BenchResult, figure } from './figure.ts';
import { makeRepository, oneResource, oneSecond } from './repository.ts';
import { scratchFolder, type Service, startService } from './service.ts';
import { partsOf } from './timeline.ts';

const warmUpRounds = 2;

interface Round {
  readonly watched: Watched;
  readonly byHand: number;
  /** After both. */
  readonly cpu: Cpu;
}

/** What both benchmarks measure: the deployment and the script. */
function besideTheScript(rounds: readonly Round[]) {
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
  readonly rounds: readonly Round[];
}

async function playRounds(service: Service, repository: string, rounds: number): Promise<Played> {
  const played: Round[] = [];
  let cpuBefore = await readCpu(service);
  for (let index = 0; index < rounds + warmUpRounds; index++) {
    const environmentId = await createEnvironment(service, repository, false);
    const isScriptFirst = index % 2 === 0;
    const before = isScriptFirst ? await runByHand(service.folder.path, repository) : 0;
    const watched = await deployAndWatch(service, environmentId);
    const byHand = isScriptFirst ? before : await runByHand(service.folder.path, repository);
    const cpu = await readCpu(service);
    if (index >= warmUpRounds) played.push({ watched, byHand, cpu });
    else cpuBefore = cpu;
  }
  return { cpuBefore, rounds: played };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Processor time of a deployment's commands. */
function cpuOf(processes: readonly Mark[]) {
  const cpuWhere = (isGit: boolean) =>
    sum(processes.filter(({ program }) => (program === 'git') === isGit).map(({ cpu }) => cpu));
  return { tool: cpuWhere(false), git: cpuWhere(true) };
}

/** A configuration of one resource: what the service adds, as a difference. */
export const deployBench: Bench = async ({ isQuick }: BenchOptions): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  const { rounds, cpuBefore } = await playRounds(service, repository, isQuick ? 5 : 50);
  await using database = await connectTo(service);
  const processes = await Promise.all(rounds.map(({ watched }) => processesOf(database, watched.id)));
  const tools = processes.map((each) => sum(each.map(({ from, to }) => to - from)));
  const parts = await Promise.all(rounds.map(({ watched }) => partsOf(database, watched)));
  const names = Object.keys(parts[0] ?? {}) as (keyof (typeof parts)[number])[];
  return {
    figures: [
      ...besideTheScript(rounds),
      figure(
        'difference to the script',
        'ms',
        rounds.map(({ watched, byHand }) => watched.ended - byHand),
      ),
      figure("the deployment's tool and git processes", 'ms', tools),
      figure(
        "the service's own share",
        'ms',
        rounds.map(({ watched }, index) => watched.ended - (tools[index] ?? 0)),
      ),
      figure(
        'request to first log line',
        'ms',
        rounds.map(({ watched }) => watched.firstLog),
      ),
      ...names.map((name) =>
        figure(
          `share: ${name}`,
          'ms',
          parts.map((each) => each[name]),
        ),
      ),
      ...cpuFigures(
        cpuBefore,
        rounds.map(({ cpu }, index) => ({ after: cpu, commands: cpuOf(processes[index] ?? []) })),
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
