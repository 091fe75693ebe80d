/** Time to read the variables of a repository, from the clone to the reply. */
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { makeRepository } from '../measure/repository.ts';
import { scratchFolder, startService } from '../measure/service.ts';

const variables = 50;

function code(): string {
  const blocks = Array.from({ length: variables }, (_, index) => {
    const value = index % 5 === 0 ? '["a", "b"]' : `"value ${index}"`;
    const type = index % 5 === 0 ? 'list(string)' : 'string';
    return `variable "name_${index}" {\n  type = ${type}\n  default = ${value}\n  description = "Number ${index}"\n}\n`;
  });
  return blocks.join('\n');
}

export const repositoryVariablesBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 5 : 40;
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'variables', code());
  await using service = await startService(folder);
  const times: number[] = [];
  for (let round = -3; round < rounds; round++) {
    const start = performance.now();
    const found = await service.client.call('listVariablesFromRepository', { query: { repository } });
    if (found.length !== variables) throw new Error(`${found.length} variables were found`);
    if (round >= 0) times.push(performance.now() - start);
  }
  return {
    figures: [figure(`variables of a local repository with ${variables} of them`, 'ms', times)],
    settings: { rounds, variables },
  };
};
