/** Estimates of costs in runs, with the real infracost and a pricing service of our own. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { planOfMachines as plan, terraformThatShows } from '../../../testing/costs/plan-of-machines.ts';
import { startPricingService } from '../../../testing/costs/pricing-service.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, type Ran, type StartOptions, withTerraform } from '../../../testing/runner-setup.ts';
import { startToolMirror } from '../../../testing/tool-mirror.ts';
import { findProgram } from '../../processes/programs.ts';
import type { ToolchainOrder } from '../../toolchain/tool-mirror.ts';
import type { CostOrder } from './cost-order.ts';

const withBoth = { skip: withTerraform.skip || withToolbox('infracost').skip };

interface Wanted {
  readonly variables?: Readonly<Record<string, string>>;
  readonly costs?: CostOrder;
  readonly infracost?: string | null;
  readonly job?: Partial<Job>;
  readonly toolchain?: ToolchainOrder;
}

/** Runs that plan and estimate. */
function stage(t: TestContext, shown: object = plan) {
  const setup = createSetup(t, { 'main.tf': 'resource "terraform_data" "one" {}\n' });
  const terraform = terraformThatShows(setup.folder, findProgram('terraform') ?? '', shown);
  const start = ({
    variables = {},
    costs,
    infracost = toolboxProgram('infracost'),
    job = {},
    toolchain,
  }: Wanted = {}) => {
    const environment = Object.entries(variables).map(([name, value]) => ({
      name,
      value,
      isSensitive: false,
    }));
    const options: StartOptions = {
      toolPaths: { terraform, git: findProgram('git') ?? '', infracost: infracost ?? '' },
      order: { costs: { seconds: 20, ...costs }, ...(toolchain === undefined ? {} : { toolchain }) },
    };
    return setup.start(
      setup.job({ estimatesCosts: true, variables: { environment, terraform: [] }, ...job }),
      options,
    );
  };
  return { setup, start, run: (wanted: Wanted = {}): Promise<Ran> => start(wanted).ended };
}

const costStep = 'cost:estimation';

test('the costs of a plan are estimated, and what they were before', withBoth, async (t) => {
  const service = await startPricingService(t);
  const { setup, run } = stage(t);
  const { outcome, steps, log } = await run({
    costs: { seconds: 20, apiKey: 'agents-key', endpoint: service.url },
  });
  assert.equal(outcome.result, 'planned', JSON.stringify(outcome.error));
  assert.equal(steps()[costStep], 'SUCCESS', log(costStep));
  const { totalMonthlyCost, monthlyCostDiff, currency, projects } = outcome.costEstimation ?? {};
  // Of 730 hours, and of gigabytes, at 0.1 each.
  assert.deepEqual([totalMonthlyCost, monthlyCostDiff, currency], [151.8, 78, 'USD']);
  const [project] = projects ?? [];
  assert.equal(project?.diff?.totalMonthlyCost, '78');
  assert.equal(project?.pastBreakdown?.totalMonthlyCost, '73.8');
  assert.deepEqual(
    project?.breakdown?.resources?.map(({ name, resourceType, monthlyCost }) => [
      name,
      resourceType,
      monthlyCost,
    ]),
    [
      ['aws_instance.web', 'aws_instance', '78'],
      ['aws_instance.worker-s3cret', 'aws_instance', '73.8'],
    ],
  );
  assert.match(log(costStep), /^Costs per month: 151\.80 USD, 78\.00 more than before\.$/m);
  assert.match(log(costStep), /^ +78\.00 {2}aws_instance\.web$/m);
  // A kept tree holds nothing of the estimate.
  const left = readdirSync(setup.workFolder, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    left.filter((path) => /costs-|costs\.yml/.test(path)),
    [],
  );
});

test('only what prices need is sent, to the pricing service alone', withBoth, async (t) => {
  const service = await startPricingService(t);
  const { run } = stage(t);
  await run({
    costs: { seconds: 20, apiKey: 'agents-key', endpoint: service.url },
    variables: { SOMETHING_ELSE: 'planted-variable' },
  });
  assert.deepEqual(
    [...new Set(service.requests.map(({ path, key }) => `${path} ${key}`))],
    ['/graphql agents-key'],
    'no events are reported',
  );
  const sent = service.requests.map(({ body }) => body).join('\n');
  assert.match(sent, /m5\.large/);
  assert.doesNotMatch(sent, /planted|worker|aws_instance/);
});

test(
  'key and address of a run replace those of the agent, whose key goes nowhere else',
  withBoth,
  async (t) => {
    const [agents, runs] = [await startPricingService(t), await startPricingService(t)];
    const { run } = stage(t);
    const costs = { seconds: 20, apiKey: 'agents-key', endpoint: agents.url };
    const endpoint = { INFRACOST_PRICING_API_ENDPOINT: `${runs.url}/` };
    assert.ok(
      (await run({ costs, variables: { ...endpoint, INFRACOST_API_KEY: 'own-key' } })).outcome.costEstimation,
    );
    assert.ok((await run({ costs, variables: endpoint })).outcome.costEstimation);
    assert.ok(
      (await run({ costs, variables: { INFRACOST_API_KEY: 'own-key', INFRACOST_CURRENCY: 'EUR' } })).outcome
        .costEstimation,
    );
    assert.deepEqual([...new Set(runs.requests.map(({ key }) => key))], ['own-key', 'none']);
    assert.deepEqual([...new Set(agents.requests.map(({ key }) => key))], ['own-key']);
    assert.match(agents.requests.at(-1)?.body ?? '', /EUR/);
  },
);

for (const [what, wanted, reason] of [
  ['no program', { infracost: null, costs: { seconds: 20, apiKey: 'k' } }, /^Skipped: .*infracost.*\.$/m],
  ['no key', {}, /^Skipped: there is no key for the prices: set the variable INFRACOST_API_KEY/m],
  [
    'no address',
    { variables: { INFRACOST_API_KEY: 'k', INFRACOST_PRICING_API_ENDPOINT: 'file:///etc/passwd' } },
    /^Skipped: the variable INFRACOST_PRICING_API_ENDPOINT must be an http:\/\/ or https:\/\/ address\.$/m,
  ],
  [
    'no currency',
    { variables: { INFRACOST_API_KEY: 'k', INFRACOST_CURRENCY: 'many' } },
    /^Skipped: the variable INFRACOST_CURRENCY must be the code of a currency, such as EUR\.$/m,
  ],
] as const)
  test(`${what}: the estimate is skipped with the reason, and the plan is there`, withBoth, async (t) => {
    const { outcome, steps, log } = await expectResult('planned', stage(t).run(wanted));
    assert.deepEqual([steps()['tf:plan'], steps()[costStep]], ['SUCCESS', 'SKIPPED'], log(costStep));
    assert.match(log(costStep), reason);
    assert.equal(outcome.costEstimation, undefined);
    assert.ok(outcome.approvedParts);
  });

for (const [mood, reason] of [
  ['refuses', /^Warning: infracost ended with exit code 1: Invalid API Key/m],
  ['nonsense', /^Warning: the pricing service has no price for any of the resources\.$/m],
  ['no prices', /^Warning: the pricing service has no price for any of the resources\.$/m],
  [
    'silence',
    /^Warning: infracost took longer than 2 seconds \(setting ENVARIUM_INFRACOST_TIME_LIMIT_SECONDS\)/m,
  ],
] as const)
  test(
    `a pricing service with ${mood} is a warning in the step, and the plan is there`,
    withBoth,
    async (t) => {
      const service = await startPricingService(t);
      service.mood = mood;
      const costs = { seconds: mood === 'silence' ? 2 : 20, apiKey: 'k', endpoint: service.url };
      const { outcome, steps, log } = await expectResult('planned', stage(t).run({ costs }));
      assert.deepEqual([steps()['tf:plan'], steps()[costStep]], ['SUCCESS', 'WARNING'], log(costStep));
      assert.match(log(costStep), reason);
      assert.equal(outcome.costEstimation, undefined);
    },
  );

test('an abort ends the estimate and the run', withBoth, async (t) => {
  const service = await startPricingService(t);
  service.mood = 'silence';
  const running = stage(t).start({ costs: { seconds: 60, apiKey: 'k', endpoint: service.url } });
  await running.until(() => service.requests.length > 0, 'a question for prices');
  running.abort('gently');
  const { outcome, steps } = await running.ended;
  assert.deepEqual([outcome.result, steps()[costStep]], ['aborted', 'CANCELLED']);
});

test('a plan without resources of a cloud costs nothing', withBoth, async (t) => {
  const service = await startPricingService(t);
  const empty = { ...plan, planned_values: { root_module: {} }, prior_state: undefined };
  const { outcome } = await stage(t, empty).run({ costs: { seconds: 20, endpoint: service.url } });
  assert.deepEqual(
    [outcome.costEstimation?.totalMonthlyCost, outcome.costEstimation?.monthlyCostDiff],
    [0, 0],
  );
});

test(
  'the program is downloaded where it is missing, in the version that its variable requests',
  withTerraform,
  async (t) => {
    const versions = ['0.10.40', '0.10.45', '0.11.0'];
    const mirror = await startToolMirror(
      'infracost',
      versions.map((version) => ({ version })),
    );
    t.after(() => mirror[Symbol.asyncDispose]());
    const { setup, run } = stage(t);
    const cacheFolder = join(setup.folder, 'cache');
    mkdirSync(cacheFolder, { mode: 0o755 });
    const toolchain = { cacheFolder, cacheBytes: 1e9, mirrors: { infracost: { url: mirror.url } } };
    const costs = { seconds: 20, apiKey: 'k' };
    const newest = await run({ infracost: null, costs, toolchain });
    assert.match(newest.log(costStep), /^infracost 0\.10\.45 \(\S+\/infracost, from the tool cache\)$/m);
    // Content of the mirror only shows its version.
    assert.match(newest.log(costStep), /^Warning: infracost ended with exit code 1\.$/m);
    const variables = { ENVARIUM_INFRACOST_VERSION: '0.10.40' };
    const wanted = await run({ infracost: null, costs, toolchain, variables });
    assert.match(wanted.log(costStep), /^infracost 0\.10\.40 /m);
  },
);

test('a job that does not ask for costs has no step for them', withTerraform, async (t) => {
  const { outcome, steps } = await stage(t).run({ job: { estimatesCosts: false } });
  assert.deepEqual([outcome.result, Object.hasOwn(steps(), costStep)], ['planned', false]);
});
