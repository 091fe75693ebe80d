/** All units of a repository of terragrunt at once, alternated with terragrunt by hand. */
import { pathWith, toolboxProgram } from '../../../tools/toolbox/places.ts';
import { besideScript, deployUnitsByHand } from '../../measure/by-hand.ts';
import { createEnvironment, deployAndWatch } from '../../measure/deployments.ts';
import { type Bench, type BenchResult, figure } from '../../measure/figure.ts';
import { makeRepository, oneResource } from '../../measure/repository.ts';
import { scratchFolder, startService } from '../../measure/service.ts';

const warmUpRounds = 1;

/** Units of one built-in resource each, every tenth of which depends on the one before. */
function filesOf(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let index = 0; index < count; index++) {
    files[`unit-${index}/main.tf`] = oneResource;
    files[`unit-${index}/terragrunt.hcl`] =
      index % 10 === 9 ? `dependencies {\n  paths = ["../unit-${index - 1}"]\n}\n` : '';
  }
  return files;
}

export const unitsBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const [count, rounds] = isQuick ? [5, 2] : [50, 10];
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'units', filesOf(count));
  const path = pathWith(toolboxProgram('terragrunt'), toolboxProgram('opentofu'));
  await using service = await startService(folder, { settings: { PATH: path } });
  const played: { readonly ours: number; readonly byHand: number }[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const id = await createEnvironment(service, repository, false, {
      type: 'terragrunt',
      isTerragruntRunAll: true,
    });
    const ours = async () => (await deployAndWatch(service, id)).ended;
    const byHand = () => deployUnitsByHand(folder.path, repository, path);
    const one = await besideScript(round % 2 === 0, byHand, ours);
    if (round >= 0) played.push(one);
  }
  return {
    figures: [
      figure(
        'request to final status',
        'ms',
        played.map(({ ours }) => ours),
      ),
      figure(
        'terragrunt by hand',
        'ms',
        played.map(({ byHand }) => byHand),
      ),
      figure(
        'ratio to terragrunt by hand',
        '×',
        played.map(({ ours, byHand }) => ours / byHand),
      ),
    ],
    settings: { units: count, rounds, 'resources of each unit': 1 },
  };
};
