import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf } from '../../../testing/driver-job.ts';
import type { DriverContext } from '../interface/driver.ts';
import { outputLines, planCapture, readUnitPlans } from './plan.ts';
import { unitsCapture } from './settings.ts';
import { reportCapture } from './unplanned-units.ts';

const secret = 'planted-secret';

/** The plan of `vpc`, which is created, and of a unit that needs its outputs. */
function planOfTwo(other: string) {
  const units = [
    { type: 'unit', path: 'vpc' },
    { type: 'unit', path: other, dependencies: ['vpc'] },
  ];
  const job = jobOf({
    tool: 'terragrunt',
    settings: { isTerragruntRunAll: true },
    level: { number: 1, units: [], done: [] },
    secrets: [secret],
  });
  const context = {
    job,
    configurationFolder: '/w',
    inspected: new Map([[unitsCapture, Buffer.from(JSON.stringify(units))]]),
    tree: { list: async () => [], text: async () => null },
  } as unknown as DriverContext;
  const create = { actions: ['create'], before: null, after: {}, after_unknown: {} };
  const plan = {
    format_version: '1.2',
    terraform_version: '1.11.4',
    resource_changes: [
      {
        address: 'terraform_data.it',
        mode: 'managed',
        type: 'terraform_data',
        name: 'it',
        provider_name: 'terraform.io/builtin/terraform',
        change: create,
      },
    ],
    output_changes: { id: create },
    configuration: {},
  };
  const index = [...units]
    .sort((one, two) => (one.path < two.path ? -1 : 1))
    .findIndex(({ path }) => path === 'vpc');
  const line = `* /w/vpc/terragrunt.hcl is a dependency of /w/${other}/terragrunt.hcl but detected no outputs. Either`;
  const report = [
    { Name: 'vpc', Result: 'succeeded' },
    { Name: other, Result: 'failed' },
  ];
  return readUnitPlans(
    context,
    new Map([
      [planCapture(index, 'plan'), Buffer.from(JSON.stringify(plan))],
      [outputLines, Buffer.from(line)],
      [reportCapture, Buffer.from(JSON.stringify(report))],
    ]),
  );
}

test('a unit that needs outputs of a new one follows in the same deployment', async () => {
  const { units, remarks } = await planOfTwo('app');
  assert.deepEqual(
    units?.map(({ unit, follows }) => [unit, follows]),
    [
      ['vpc', undefined],
      ['app', true],
    ],
  );
  assert.match(remarks?.join('\n') ?? '', /It is planned once this plan is applied\./);
});

test('a path with a secret leaves the agent in no list of units, and its unit waits', async () => {
  const { units, remarks } = await planOfTwo(`live/${secret}`);
  assert.equal(units, undefined);
  assert.match(remarks?.join('\n') ?? '', /Deploy again after this deployment has succeeded\./);
});
