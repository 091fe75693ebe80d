/** Units whose dependencies have neither outputs nor mocks, with the real tool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createTerragrunt,
  moduleCode,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

/** A unit of the module without mocks. */
const unmocked = (input: string, needs: string) =>
  unitCode(input, needs).replaceAll(/^ *mock_outputs.*\n/gm, '');

const chain = {
  'modules/one/main.tf': moduleCode,
  'live/vpc/terragrunt.hcl': unitCode('net'),
  'live/app/terragrunt.hcl': unmocked('app on ${dependency.it.outputs.input}', 'vpc'),
  'live/web/terragrunt.hcl': unmocked('web on ${dependency.it.outputs.input}', 'app'),
};

test('a unit that needs outputs of a new unit without mocks waits for it', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', chain);
  const planned = await expectResult('planned', setup.plan());
  assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
  const log = planned.log('terragrunt:plan');
  assert.match(log, /Unit app .*: it needs outputs of vpc, which do not exist yet/);
  assert.match(log, /Unit web .*: it needs app, which this deployment does not apply/);
  await expectResult('applied', setup.apply(planned));
  const next = await setup.plan();
  assert.deepEqual(
    next.outcome.plan?.resourceChanges.map(({ path }) => path),
    ['app/terraform_data.it'],
  );
});

test('a unit that needs a new output of a unit waits for it', withTerragrunt('terraform'), async (t) => {
  const setup = createTerragrunt(t, 'terraform', {
    'modules/one/main.tf': moduleCode,
    'live/vpc/terragrunt.hcl': '',
    'live/vpc/main.tf': moduleCode,
  });
  await expectResult('applied', setup.deploy());
  setup.commit({
    'live/vpc/main.tf': `${moduleCode}output "more" {\n  value = "more"\n}\n`,
    'live/app/terragrunt.hcl': unmocked('${dependency.it.outputs.more}', 'vpc'),
  });
  const planned = await expectResult('planned', setup.plan());
  assert.match(planned.log('terragrunt:plan'), /it needs the outputs more of vpc, which do not exist yet/);
});

test('a unit that uses an output that no unit creates fails', withTerragrunt(), async (t) => {
  const db = { 'live/db/terragrunt.hcl': '', 'live/db/main.tf': moduleCode };
  const setup = createTerragrunt(t, 'opentofu', { 'modules/one/main.tf': moduleCode, ...db });
  await expectResult('applied', setup.deploy());
  setup.commit({ 'live/app/terragrunt.hcl': unmocked('${dependency.it.outputs.nothing}', 'db') });
  const { outcome } = await expectResult('failed', setup.plan());
  assert.match(
    outcome.error?.message ?? '',
    /^Unit app uses "nothing", which is an output of none of .*\(db\)/,
  );
});

test('a unit that waits for outputs hides no failure of another one', withTerragrunt(), async (t) => {
  const db = { 'live/db/terragrunt.hcl': '', 'live/db/main.tf': 'resource "x" {' };
  const { outcome } = await expectResult(
    'failed',
    createTerragrunt(t, 'opentofu', { ...chain, ...db }).plan(),
  );
  assert.match(outcome.error?.message ?? '', /^unit db: Error: /);
});

test('nothing waits for a unit that the run does not have', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', chain);
  const ran = await setup.plan({
    variables: {
      environment: [{ name: 'ENVARIUM_TERRAGRUNT_RUN_ALL_INCLUDE_DIRS', value: 'app', isSensitive: false }],
      terraform: [],
    },
  });
  assert.match(
    failureMessageOf(ran),
    /Nothing of this plan can be applied: deploy the units that it needs first \(vpc\), or include them/,
  );
});
