/** Costs of several units, with the real terragrunt and infracost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { startPricingService } from '../../../testing/costs/pricing-service.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  createTerragrunt,
  moduleCode,
  terragruntPaths,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

const withAll = { skip: withTerragrunt().skip || withToolbox('infracost').skip };

test('the plans of all units are estimated together, each under its path', withAll, async (t) => {
  const prices = await startPricingService(t);
  const setup = createTerragrunt(t, 'opentofu', {
    'live/vpc/terragrunt.hcl': '',
    'live/vpc/main.tf': moduleCode,
    'live/app one/terragrunt.hcl': '',
    'live/app one/main.tf': moduleCode,
  });
  const planned = await setup.plan(
    { estimatesCosts: true },
    {
      toolPaths: { ...terragruntPaths, infracost: toolboxProgram('infracost') ?? '' },
      order: { costs: { seconds: 20, apiKey: 'key', endpoint: prices.url } },
    },
  );
  assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome.error));
  const { totalMonthlyCost, projects = [] } = planned.outcome.costEstimation ?? {};
  assert.equal(totalMonthlyCost, 0, planned.log('cost:estimation'));
  assert.deepEqual(projects.map(({ name }) => name).toSorted(), ['app one', 'vpc']);
  await expectResult('applied', setup.apply(planned));
});
