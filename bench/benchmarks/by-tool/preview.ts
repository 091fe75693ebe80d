/** A preview of Pulumi with many resources, which the runner reads and compares with the plan that Pulumi saves. */
import { join } from 'node:path';
import { pulumiFolder } from '../../../agent/testing/pulumi/pulumi-folder.ts';
import { pathWith } from '../../../tools/toolbox/places.ts';
import { createEnvironment, deployAndWatch } from '../../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../../measure/figure.ts';
import { makeRepository } from '../../measure/repository.ts';
import { scratchFolder, startService } from '../../measure/service.ts';
import { readTimelines } from '../../measure/timeline.ts';

function projectOf(count: number): string {
  const resources = Array.from(
    { length: count },
    (_, index) => `  it-${index}:\n    type: pulumi:index:Stash\n    properties: {input: "text ${index}"}\n`,
  );
  return `name: many\nruntime: yaml\nresources:\n${resources.join('')}`;
}

export const previewBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const [count, rounds] = isQuick ? [50, 2] : [500, 10];
  await using folder = await scratchFolder();
  const files = { 'Pulumi.yaml': projectOf(count) };
  const repository = await makeRepository(folder.repositories, 'many', files);
  const settings = { PATH: pathWith(join(pulumiFolder(), 'pulumi')) };
  await using service = await startService(folder, { settings });
  const id = await createEnvironment(service, repository, false, { type: 'pulumi', workspaceName: 'many' });
  const ids: string[] = [];
  for (let round = 0; round < rounds; round++)
    ids.push((await deployAndWatch(service, id, { deploymentType: 'dryRun' })).id);
  const reading = (await readTimelines(service, ids)).map(({ phases }) =>
    phases
      .filter(({ phase }) => phase === 'plan' || phase === 'reading')
      .reduce((sum, { ownMilliseconds }) => sum + ownMilliseconds, 0),
  );
  return {
    figures: [figure('reading a preview', 'ms', reading)],
    settings: { resources: count, rounds, changes: 'all resources are new' },
  };
};
