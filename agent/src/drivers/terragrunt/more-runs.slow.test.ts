/** Other real runs of terragrunt: a part of the units, failures half-way, other types of deployments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { failureMessageOf } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';
import {
  createTerragrunt,
  moduleCode,
  type TerragruntSetup,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

const failing = `${moduleCode}
resource "terraform_data" "fails" {
  provisioner "local-exec" { command = "test -e /etc/no-such-file && echo $SECRET" }
}
`;
const units = {
  'modules/one/main.tf': moduleCode,
  'live/vpc/terragrunt.hcl': unitCode('net'),
  'live/app/terragrunt.hcl': unitCode('app on ${dependency.it.outputs.input}', 'vpc'),
  'live/db/terragrunt.hcl': '',
  'live/db/main.tf': moduleCode,
};

function unitsIn(setup: TerragruntSetup): string[] {
  return [...readUnitStates(setup.state() ?? Buffer.of()).units.keys()];
}

function expect(ran: Ran, result: string): void {
  assert.equal(ran.outcome.result, result, JSON.stringify(ran.outcome.error));
}

const variable = (name: string, value: string) => ({
  variables: { environment: [{ name, value, isSensitive: false }], terraform: [] },
});

test(
  'a unit that fails stops those that need it and no others, and the next deployment continues',
  withTerragrunt(),
  async (t) => {
    const setup = createTerragrunt(t, 'opentofu', {
      'live/vpc/terragrunt.hcl': '',
      'live/vpc/main.tf': failing,
      'live/db/terragrunt.hcl': '',
      'live/db/main.tf': moduleCode,
      'live/web/terragrunt.hcl': 'dependencies {\n  paths = ["../vpc"]\n}\n',
      'live/web/main.tf': moduleCode,
    });
    const failed = await setup.deploy();
    expect(failed, 'failed');
    const { message = '' } = failed.outcome.error ?? {};
    assert.match(message, /^unit vpc: Error: local-exec provisioner error/);
    assert.match(
      message,
      /1 of 3 units are applied: db\. Failed: vpc\. Not run: web\. The next deployment continues/,
    );
    assert.deepEqual(unitsIn(setup), ['db', 'vpc']);
    assert.ok(failed.outcome.resources?.some(({ moduleName }) => moduleName === 'vpc'));
    setup.commit({ 'live/vpc/main.tf': moduleCode });
    const planned = await setup.plan();
    assert.deepEqual(
      planned.outcome.plan?.resourceChanges.map(({ action, path }) => `${action} ${path}`),
      ['delete vpc/terraform_data.fails', 'create web/terraform_data.it'],
    );
    expect(await setup.apply(planned), 'applied');
    assert.deepEqual(unitsIn(setup), ['db', 'vpc', 'web']);
  },
);

test('a retry continues with the units that are not done', withTerragrunt(), async (t) => {
  const hook = `  before_hook "flaky" {
    commands = ["apply"]
    execute  = ["sh", "-c", "test -e ../tried || { touch ../tried; echo try again; exit 1; }"]
  }
`;
  const setup = createTerragrunt(t, 'opentofu', {
    ...units,
    'live/web/terragrunt.hcl': `${unitCode('web').replace('terraform {\n', `terraform {\n${hook}`)}
dependencies {
  paths = ["../vpc"]
}
`,
  });
  const applied = await setup.deploy({ retry: { times: 1, isReviewed: false } });
  expect(applied, 'applied');
  assert.match(applied.log('terragrunt:apply'), /Retry 1 of 1/);
  assert.deepEqual(unitsIn(setup), ['db', 'vpc', 'web']);
});

test('the module of a unit may be deep in the repository', withTerragrunt(), async (t) => {
  const module = 'infra/terraform/modules/aws/networking/vpc';
  const setup = createTerragrunt(t, 'opentofu', {
    [`${module}/main.tf`]: moduleCode,
    'live/vpc/terragrunt.hcl': `terraform {\n  source = "\${get_repo_root()}//${module}"\n}\n`,
  });
  expect(await setup.deploy(), 'applied');
});

test('a run can be limited to folders and to targets', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', units);
  const included = await setup.deploy(variable('ENVARIUM_TERRAGRUNT_RUN_ALL_INCLUDE_DIRS', 'v*, ./db/'));
  expect(included, 'applied');
  assert.deepEqual(unitsIn(setup), ['db', 'vpc']);
  const targeted = await setup.plan({ targets: ['app/terraform_data.it'] });
  expect(targeted, 'planned');
  assert.deepEqual(
    targeted.outcome.plan?.resourceChanges.map(({ path }) => path),
    ['app/terraform_data.it'],
  );
  const nothing = await setup.plan(variable('ENVARIUM_TERRAGRUNT_RUN_ALL_INCLUDE_DIRS', 'nowhere'));
  expect(nothing, 'failed');
  assert.match(failureMessageOf(nothing), /^No configuration files: path "live" of .* has no folder/);
});

test(
  'a unit whose inputs change in the same deployment waits for the next one',
  withTerragrunt('terraform'),
  async (t) => {
    const setup = createTerragrunt(t, 'terraform', units);
    expect(await setup.deploy(), 'applied');
    expect(await setup.deploy(), 'applied');
    setup.commit({ 'live/vpc/terragrunt.hcl': unitCode('net2') });
    const changed = await setup.plan();
    assert.deepEqual(changed.outcome.planSummary, { added: 0, changed: 1, destroyed: 0 });
    assert.match(
      changed.log('terragrunt:plan'),
      /Unit app is not applied with this plan: it was planned with outputs of vpc that this deployment changes/,
    );
    expect(await setup.apply(changed), 'applied');
    const second = await setup.deploy();
    expect(second, 'applied');
    assert.equal(second.outcome.outputs?.['app.input']?.value, 'app on net2');
  },
);

test(
  'a drift run names nothing if nothing has drifted, and a task sees the state of each unit',
  withTerragrunt(),
  async (t) => {
    const setup = createTerragrunt(t, 'opentofu', units);
    expect(await setup.deploy(), 'applied');
    expect(await setup.deploy(), 'applied');
    const drift = await setup.plan({ type: 'driftDetection' });
    expect(drift, 'planned');
    assert.deepEqual([drift.outcome.hasChanges ?? false, drift.outcome.plan?.resourceChanges], [false, []]);
    for (const type of ['prPlan', 'dryRun', 'remotePlan'] as const)
      expect(await setup.plan({ type }), 'planned');
    const task = await setup.plan({
      type: 'task',
      taskPayload: 'cd app && terragrunt state list\nterragrunt run -- state rm terraform_data.it',
    });
    expect(task, 'applied');
    assert.match(task.log('task:run'), /terraform_data\.it/);
    assert.equal(task.outcome.resourceCount, 2);
  },
);

test(
  'variables take precedence over inputs, in every form, and no plan shows a secret',
  withTerragrunt(),
  async (t) => {
    const code = `variable "input" {}
variable "list" { type = list(string) }
resource "terraform_data" "it" {
  input = var.input
}
resource "terraform_data" "list" {
  input = var.list
}
output "input" {
  value = terraform_data.it.output
}
output "list" {
  value = terraform_data.list.output
}
`;
    const setup = createTerragrunt(t, 'opentofu', {
      'live/a/terragrunt.hcl': 'inputs = {\n  input = "of the code"\n}\n',
      'live/a/main.tf': code,
    });
    const secret = 'a-very-secret-${value}';
    const applied = await setup.deploy({
      variables: {
        environment: [],
        terraform: [
          { name: 'input', value: secret, isSensitive: true },
          { name: 'list', value: '["x", "${y}"]', isSensitive: false, format: 'JSON' },
        ],
      },
      secrets: [secret],
    });
    expect(applied, 'applied');
    assert.equal(applied.outcome.outputs?.['a.input']?.value, secret);
    assert.deepEqual(applied.outcome.outputs?.['a.list']?.value, ['x', '${y}']);
  },
);
