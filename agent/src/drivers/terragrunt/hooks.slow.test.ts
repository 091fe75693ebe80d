/** Hooks, excluded, removed and generated units, and much output, with the real tool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { withTerraformAsRoot } from '../../../testing/runner-setup.ts';
import { createTerragrunt, moduleCode, withTerragrunt } from '../../../testing/units/terragrunt-setup.ts';

/** A unit whose hook runs a shell before or after a command. */
function withHook(kind: 'before_hook' | 'after_hook', command: string, script: string): string {
  return `terraform {
  ${kind} "it" {
    commands = ["${command}"]
    execute  = ["sh", "-c", ${JSON.stringify(script)}]
  }
}
`;
}

const asRoot = { skip: withTerragrunt().skip || withTerraformAsRoot.skip };
/** From the working folder of the unit \`app\` to the plans. */
const plans = '../../../../../../plan/tfplan';

test('a hook of the apply cannot change an approved plan', asRoot, async (t) => {
  const swap = `cp -f ${plans}/other/tfplan.tfplan ${plans}/app/tfplan.tfplan && echo swapped || echo "not swapped"`;
  const setup = createTerragrunt(t, 'opentofu', {
    'live/app/terragrunt.hcl': withHook('before_hook', 'apply', swap),
    'live/app/main.tf': moduleCode,
    'live/other/terragrunt.hcl': '',
    'live/other/main.tf': moduleCode.replace('"none"', '"other"'),
  });
  const applied = await expectResult('applied', setup.deploy());
  assert.match(applied.log('terragrunt:apply'), /not swapped/);
  assert.equal(applied.outcome.outputs?.['app.input']?.value, 'none');
});

test('what a hook of the plan makes of it is what people see', asRoot, async (t) => {
  const swap = `cp -f ${plans}/other/tfplan.tfplan ${plans}/app/tfplan.tfplan && echo swapped`;
  const setup = createTerragrunt(t, 'opentofu', {
    'live/app/terragrunt.hcl': `dependencies {\n  paths = ["../other"]\n}\n${withHook('after_hook', 'plan', swap)}`,
    'live/app/main.tf': moduleCode,
    'live/other/terragrunt.hcl': '',
    'live/other/main.tf': `${moduleCode}resource "terraform_data" "hidden" {}\n`,
  });
  const planned = await expectResult('planned', setup.plan());
  assert.match(planned.log('terragrunt:plan'), /swapped/);
  const paths = planned.outcome.plan?.resourceChanges.map(({ path }) => path);
  assert.ok(paths?.includes('app/terraform_data.hidden'), String(paths));
});

test(
  'an excluded unit has no part in a run, and a removed one keeps its state and is named',
  withTerragrunt(),
  async (t) => {
    const exclude = 'exclude {\n  if      = true\n  actions = ["all"]\n}\n';
    const setup = createTerragrunt(t, 'opentofu', {
      'live/app/terragrunt.hcl': '',
      'live/app/main.tf': moduleCode,
      'live/db/terragrunt.hcl': '',
      'live/db/main.tf': moduleCode,
      'live/off/terragrunt.hcl': exclude,
      'live/off/main.tf': moduleCode,
    });
    const unitsOf = () => [...readUnitStates(setup.state() ?? Buffer.of()).units.keys()];
    await expectResult('applied', setup.deploy());
    assert.deepEqual(unitsOf(), ['app', 'db']);
    setup.commit({
      'live/db/terragrunt.hcl': null,
      'live/db/main.tf': null,
      'live/app/main.tf': `${moduleCode}resource "terraform_data" "more" {}\n`,
    });
    const planned = await setup.plan();
    assert.match(
      planned.log('terragrunt:plan'),
      /Unit db is not part of this run, and its state still has resources/,
    );
    const applied = await setup.apply(planned);
    assert.deepEqual([applied.outcome.resourceCount, unitsOf()], [3, ['app', 'db']]);
  },
);

test('a unit that writes 50 MB has its plan, its end and its state', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', {
    'live/app/terragrunt.hcl': withHook('before_hook', 'plan', 'yes 0123456789 | head -c 50000000'),
    'live/app/main.tf': moduleCode,
  });
  const applied = await expectResult('applied', setup.deploy());
  assert.equal(applied.outcome.resourceCount, 1);
});

test(
  'the units of a stack are generated, planned and applied, elsewhere as well',
  withTerragrunt(),
  async (t) => {
    const unit = (name: string) =>
      `unit "${name}" {\n  source = "../catalog/one"\n  path   = "${name}"\n  values = { input = "of ${name}" }\n}\n`;
    const setup = createTerragrunt(t, 'opentofu', {
      'catalog/one/terragrunt.hcl': 'inputs = {\n  input = values.input\n}\n',
      'catalog/one/main.tf': moduleCode,
      'live/terragrunt.stack.hcl': unit('a') + unit('b'),
    });
    for (const onOtherMachine of [false, true]) {
      const applied = await expectResult('applied', setup.deploy({}, { onOtherMachine }));
      assert.equal(applied.outcome.outputs?.['.terragrunt-stack/b.input']?.value, 'of b');
      assert.equal(applied.outcome.resourceCount, 2);
    }
    const again = await setup.plan();
    assert.deepEqual(again.outcome.plan?.resourceChanges, []);
  },
);

test(
  'a unit whose state is gone is noticed, although others have left theirs',
  withTerragrunt(),
  async (t) => {
    const away = 'rm ../../../../../../state/db.tfstate';
    const setup = createTerragrunt(t, 'opentofu', {
      'live/app/terragrunt.hcl': '',
      'live/app/main.tf': moduleCode,
      'live/db/terragrunt.hcl': withHook('after_hook', 'apply', away),
      'live/db/main.tf': moduleCode,
    });
    const { outcome } = await expectResult('internal', setup.deploy());
    assert.match(outcome.error?.message ?? '', /reported changes but left no newer state/);
    assert.equal(setup.state()?.includes('"app":'), true);
  },
);

test('files that a unit generates are a part of its code, elsewhere as well', withTerragrunt(), async (t) => {
  const generate = (name: string, contents: string) =>
    `generate "${name}" {\n  path      = "${name}.tf"\n  if_exists = "overwrite"\n  contents  = <<EOF\n${contents}\nEOF\n}\n`;
  const setup = createTerragrunt(t, 'opentofu', {
    'live/root.hcl': generate('labels', 'output "unit" {\n  value = "${path_relative_to_include()}"\n}'),
    'live/app/terragrunt.hcl': `include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n${generate('more', 'resource "terraform_data" "more" {}')}`,
    'live/app/main.tf': moduleCode,
  });
  for (const onOtherMachine of [false, true]) {
    const applied = await expectResult('applied', setup.deploy({}, { onOtherMachine }));
    assert.equal(applied.outcome.outputs?.['app.unit']?.value, 'app');
    assert.equal(applied.outcome.resourceCount, 2);
  }
});
