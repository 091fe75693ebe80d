/** One deployment after another, alternated with the script in the same run. */
import { runByHand } from './by-hand.ts';
import { connectTo, processesOf } from './database.ts';
import { createEnvironment, deployAndWatch, type Watched } from './deployments.ts';
import { type Bench, type BenchOptions, type BenchResult, figure } from './figure.ts';
import { makeRepository, oneResource, oneSecond } from './repository.ts';
import { scratchFolder, type Service, startService } from './service.ts';
import { partsOf } from './timeline.ts';

const warmUpRounds = 2;

interface Round {
  readonly watched: Watched;
  readonly byHand: number;
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

async function playRounds(service: Service, repository: string, rounds: number): Promise<Round[]> {
  const played: Round[] = [];
  for (let index = 0; index < rounds + warmUpRounds; index++) {
    const environmentId = await createEnvironment(service, repository, false);
    const isScriptFirst = index % 2 === 0;
    const before = isScriptFirst ? await runByHand(service.folder.path, repository) : 0;
    const watched = await deployAndWatch(service, environmentId);
    const byHand = isScriptFirst ? before : await runByHand(service.folder.path, repository);
    if (index >= warmUpRounds) played.push({ watched, byHand });
  }
  return played;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** A configuration of one resource: what the service adds, as a difference. */
export const deployBench: Bench = async ({ isQuick }: BenchOptions): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder);
  const rounds = await playRounds(service, repository, isQuick ? 5 : 20);
  await using database = await connectTo(service);
  const tools = await Promise.all(
    rounds.map(async ({ watched }) =>
      sum((await processesOf(database, watched.id)).map(({ from, to }) => to - from)),
    ),
  );
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
  const rounds = await playRounds(service, repository, isQuick ? 2 : 8);
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
