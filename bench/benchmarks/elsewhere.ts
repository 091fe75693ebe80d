/** From a person's approval to the first byte of the apply's log, when the agent that planned is gone. */
import { startAgent } from '../measure/agents.ts';
import type { Bench, BenchResult } from '../measure/figure.ts';
import { makeRepository, oneResource } from '../measure/repository.ts';
import { scratchFolder, startService } from '../measure/service.ts';
import { approvalFigures, approveOnce, planOnce } from './approval.ts';

const warmUpRounds = 1;

export const elsewhereBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  await using folder = await scratchFolder();
  const repository = await makeRepository(folder.repositories, 'one-resource', oneResource);
  await using service = await startService(folder, { settings: { ENVARIUM_BUILT_IN_AGENT: 'false' } });
  await using first = await startAgent(service, 1);
  await using second = await startAgent(service, 2);
  const { client } = service;
  const rounds = (isQuick ? 3 : 15) + warmUpRounds;
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const waiting = await planOnce(service, repository);
    const params = { id: waiting.id };
    const { agentId } = await client.call('getDeployment', { params });
    const planned = [first, second].find((agent) => agent.id === agentId);
    await planned?.stop();
    all.push(await approveOnce(service, waiting));
    const { agentId: applied } = await client.call('getDeployment', { params });
    if (!planned || applied === agentId) throw new Error('the apply ran on the agent that had planned');
    await planned.start();
  }
  const counted = all.slice(warmUpRounds);
  return {
    figures: approvalFigures(counted),
    settings: { configuration: 'one terraform_data', rounds: counted.length, warmUpRounds, agents: 2 },
  };
};
