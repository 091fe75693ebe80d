/** A policy about costs: its amounts are those that the real infracost has estimated in the run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, withToolbox } from '../tools/toolbox/places.ts';
import { startPricedMachines, withoutPrices } from './priced-machines.ts';
import { createEnvironment, homeOf, untilStatus } from './runs.ts';
import { makeRepository, startService } from './service.ts';

const skip = withoutPrices || withToolbox('opa').skip;

test('a deployment that adds more than the policy allows waits, and without an estimate, too', {
  skip,
}, async (t) => {
  const { prices, settings } = await startPricedMachines(t, 'key');
  await using service = await startService({ settings: { ...settings, ENVARIUM_OPA: placeOf('opa') ?? '' } });
  const { client } = service;
  const home = await homeOf(client);
  const { organizationId, projectId } = home;
  await client.call('updatePolicy', { body: { projectId, includeCostEstimation: true } });
  const assign = async (maxCostIncrease: number) => {
    const { id: blueprintId } = await client.call('createApprovalPolicy', {
      body: {
        organizationId,
        name: `at most ${maxCostIncrease}`,
        repository: 'envarium://catalogue',
        path: 'monthly-cost-estimation',
        policyConfiguration: { maxCostIncrease },
      },
    });
    await client.call('assignApprovalPolicy', {
      body: { scope: 'PROJECT', scopeId: projectId, blueprintId },
    });
  };
  const repository = await makeRepository(service.folder, 'code', {
    'main.tf': 'resource "terraform_data" "one" {}\n',
  });
  const run = async (name: string, status: 'SUCCESS' | 'WAITING_FOR_USER') => {
    const { deploymentId } = await createEnvironment(client, home, { repository: repository.path, name });
    await untilStatus(client, deploymentId, status);
    const { policyVerdicts = [] } = await client.call('getDeployment', { params: { id: deploymentId } });
    return policyVerdicts.flatMap(({ messages }) => [...messages.pending, ...messages.allow]);
  };
  await assign(100);
  assert.deepEqual(await run('cheap', 'SUCCESS'), [
    "The deployment's costs are within the maximum, or were approved",
  ]);
  await assign(77);
  assert.match(
    (await run('dear', 'WAITING_FOR_USER')).join(),
    /costs 78 more each month, and 77 is the maximum/,
  );
  prices.mood = 'refuses';
  assert.match(
    (await run('unknown', 'WAITING_FOR_USER')).join(),
    /There is no estimate of the deployment's costs/,
  );
});
