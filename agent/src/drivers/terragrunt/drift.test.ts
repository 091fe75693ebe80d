import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasDrift } from '#contract/deployments/plan-counts.ts';
import type { Job } from '#protocol/messages/job.ts';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import type { DriverContext } from '../interface/driver.ts';
import { outputLines, planCapture, readUnitPlans } from './plan.ts';
import { unitsCapture } from './settings.ts';
import { reportCapture } from './unplanned-units.ts';

const folder = '/w/live';
const found = [
  { type: 'unit', path: 'app', dependencies: ['vpc'] },
  { type: 'unit', path: 'vpc', dependencies: [] },
];

function contextOf(type: Job['type']): DriverContext {
  const settings = { terragruntTfBinary: 'opentofu', isTerragruntRunAll: true } as const;
  return {
    job: jobOf({ tool: 'terragrunt', type, settings }),
    configurationFolder: folder,
    stateFolder: null,
    planFile: '/w/plan',
    temporaryFolder: '/tmp',
    inspected: new Map([[unitsCapture, Buffer.from(JSON.stringify(found))]]),
    tree: treeFrom({
      'app/terragrunt.hcl': `dependency "vpc" {
  config_path = "../vpc"
}
inputs = { id = dependency.vpc.outputs.id }
`,
      'vpc/terragrunt.hcl': '',
    }),
  };
}

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const version = { format_version: '1.2', terraform_version: '1.11.4' };
const opened = {
  address: 'security_group.open',
  mode: 'managed',
  type: 'security_group',
  name: 'open',
  provider_name: 'p',
  change: { actions: ['update'], before: { port: 1 }, after: { port: 2 } },
};

/** An output of `vpc` changes, as if a computed attribute had settled. */
const vpc = (actions: string[]) => ({
  ...version,
  prior_state: { values: { outputs: { id: { value: 'x' } } } },
  output_changes: { id: { actions } },
});

const drifted = () => [
  [planCapture(0, 'plan'), bytes({ ...version, resource_changes: [opened] })] as const,
  [planCapture(0, 'refresh'), bytes({ ...version, resource_drift: [opened] })] as const,
];

/** `app` uses an output that `vpc` does not have yet. */
const missing = [
  [
    reportCapture,
    bytes([
      { Name: 'vpc', Result: 'succeeded' },
      { Name: 'app', Result: 'failed' },
    ]),
  ],
  [
    outputLines,
    Buffer.from(
      '10:00:00 ERROR [app] ./terragrunt.hcl:4: This object does not have an attribute named "id".',
    ),
  ],
] as const;

test('a unit has drifted, also if outputs that it uses change', async () => {
  const captures = new Map([...drifted(), [planCapture(1, 'plan'), bytes(vpc(['update']))]]);
  const { plan, planSummary, remarks } = await readUnitPlans(contextOf('driftDetection'), captures);
  assert.deepEqual(
    plan.resourceChanges.map(({ path, kind }) => [path, kind]),
    [['app/security_group.open', 'update']],
  );
  assert.deepEqual(planSummary, { added: 0, changed: 1, destroyed: 0 });
  assert.equal(hasDrift(planSummary), true);
  assert.equal(remarks, undefined);
  const deployed = await readUnitPlans(contextOf('dryRun'), captures);
  assert.deepEqual(deployed.planSummary, { added: 0, changed: 0, destroyed: 0, deferred: 1 });
});

test('a drift run without findings has seen all units', async () => {
  const captures = new Map([...missing, [planCapture(1, 'plan'), bytes(vpc(['create']))]]);
  await assert.rejects(
    readUnitPlans(contextOf('driftDetection'), captures),
    /^Error: Drift of unit app cannot be detected: it needs the outputs id of vpc, which do not exist yet\. Deploy the environment first\.$/,
  );
});

test('a drift run that has found drift names the units that it could not check', async () => {
  const changed = { ...vpc(['create']), resource_changes: [opened] };
  const captures = new Map([...missing, [planCapture(1, 'plan'), bytes(changed)]]);
  const { planSummary, remarks } = await readUnitPlans(contextOf('driftDetection'), captures);
  assert.equal(hasDrift(planSummary), true);
  assert.deepEqual(remarks, [
    'Drift of unit app cannot be detected: it needs the outputs id of vpc, which do not exist yet. Deploy the environment first.',
  ]);
});
