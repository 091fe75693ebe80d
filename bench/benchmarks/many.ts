/** Many environments at once, five wide, alternated with the script under `xargs -P 5`. */

import { manyByHand } from '../measure/by-hand.ts';
import { createEnvironment, deployAndWatch } from '../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository, oneResource, oneSecond } from '../measure/repository.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

const width = 5;
const configurations = { 'one resource': oneResource, ordinary: oneSecond } as const;

/** @returns environments per second, from the first request to the last end */
async function deployMany(service: BenchService, repository: string, count: number): Promise<number> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await createEnvironment(service, repository, false));
  const start = performance.now();
  await Promise.all(ids.map((id) => deployAndWatch(service, id)));
  return (count / (performance.now() - start)) * 1000;
}

export const manyBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const count = isQuick ? 10 : 100;
  const rounds = isQuick ? 1 : 2;
  await using folder = await scratchFolder();
  await using service = await startService(folder, {
    settings: { ENVARIUM_AGENT_CONCURRENCY: String(width) },
  });
  const figures = [];
  for (const [name, configuration] of Object.entries(configurations)) {
    const repository = await makeRepository(folder.repositories, name.replace(' ', '-'), configuration);
    await deployMany(service, repository, width);
    const pairs: { ours: number; script: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const script = (count / (await manyByHand(folder.path, repository, { count, width }))) * 1000;
      pairs.push({ ours: await deployMany(service, repository, count), script });
    }
    figures.push(
      figure(
        `${name}: deployments`,
        'per second',
        pairs.map(({ ours }) => ours),
      ),
      figure(
        `${name}: the script`,
        'per second',
        pairs.map(({ script }) => script),
      ),
      figure(
        `${name}: share of the script's rate`,
        '×',
        pairs.map(({ ours, script }) => ours / script),
      ),
    );
  }
  return { figures, settings: { environments: count, width, rounds, approval: 'none' } };
};
