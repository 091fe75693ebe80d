/** The usual deployment: of an existing environment, with another value of a variable, and with another commit, too. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { besideScript, redeployByHand } from '../measure/by-hand.ts';
import { createEnvironment, deployAndWatch, type Watched } from '../measure/deployments.ts';
import { type Bench, type BenchOptions, type BenchResult, type Figure, figure } from '../measure/figure.ts';
import { commitValue, makeRepository, oneVariable, textVariable } from '../measure/repository.ts';
import { type BenchService, isolation, scratchFolder, startService } from '../measure/service.ts';
import { readTimelines } from '../measure/timeline.ts';

const warmUpRounds = 2;

interface RedeployRound {
  readonly watched: Watched;
  /** Milliseconds of the script. */
  readonly byHand: number;
}

async function figuresOf(
  service: BenchService,
  kind: string,
  rounds: readonly RedeployRound[],
): Promise<Figure[]> {
  const timelines = await readTimelines(
    service,
    rounds.map(({ watched }) => watched.id),
  );
  const values = {
    'request to final status': rounds.map(({ watched }) => watched.ended),
    'the script': rounds.map(({ byHand }) => byHand),
    'difference to the script': rounds.map(({ watched, byHand }) => watched.ended - byHand),
    'own time': timelines.map(({ ownMilliseconds }) => ownMilliseconds),
  };
  return Object.entries(values).map(([name, milliseconds]) => figure(`${kind}: ${name}`, 'ms', milliseconds));
}

/** Deploys another value, then another value and commit, in turn in one environment, each in turn with the script. */
export const redeployBench: Bench = async ({ isQuick }: BenchOptions): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-variable', oneVariable);
  await using service = await startService(folder);
  const states = join(folder.path, 'states-by-hand');
  await mkdir(states);
  const environmentId = await createEnvironment(service, repository, false);
  const play = async (text: string, isScriptFirst: boolean): Promise<RedeployRound> => {
    const { ours: watched, byHand } = await besideScript(
      isScriptFirst,
      () => redeployByHand(folder.path, repository, states, text),
      () => deployAndWatch(service, environmentId, { configurationChanges: textVariable(text) }),
    );
    return { watched, byHand };
  };
  const rounds = isQuick ? 3 : 20;
  const withValue: RedeployRound[] = [];
  const withCommit: RedeployRound[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const isScriptFirst = round % 2 === 0;
    const first = await play(`value ${round}`, isScriptFirst);
    await commitValue(repository, `round ${round}`);
    const second = await play(`value and commit ${round}`, isScriptFirst);
    if (round < 0) continue;
    withValue.push(first);
    withCommit.push(second);
  }
  return {
    figures: [
      ...(await figuresOf(service, 'another value', withValue)),
      ...(await figuresOf(service, 'another value and commit', withCommit)),
    ],
    settings: {
      configuration: 'one terraform_data with a variable',
      rounds,
      warmUpRounds,
      approval: 'none',
      environments: 'one',
      isolation,
    },
  };
};
