/** Levels that a deployment in levels shows: while it runs, once it is over, and however it ends. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { settingsOfUnits } from '../../../testing/environment.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { expireApprovals } from './approval/expire-approvals.ts';

const { app, agent, ok, refused, createEnvironment, deploymentOf, forgetWork } = await startAgentTests();
await agent.register([], { tools: ['terragrunt'] });
beforeEach(() => forgetWork());

const kind = 'create terraform_data';
const made = (unit: string, version = '1.0.0') => ({
  unit,
  changes: { [kind]: 1 },
  providerVersions: { [`provider-of-${unit}`]: version },
  moduleVersions: { net: version },
});
const waits = { reason: 'it needs outputs', follows: true } as const;
const levels: { units: NonNullable<Outcome['units']>; plan: NonNullable<Outcome['plan']> }[] = [
  { units: [made('vpc'), { unit: 'app', ...waits }], plan: planOf('vpc') },
  { units: [made('app', '2.0.0')], plan: planOf('app') },
];

function planOf(unit: string) {
  const row: ResourceChange = {
    ...{ name: 'it', type: 'terraform_data', path: `${unit}/terraform_data.it`, providerName: 'p' },
    ...{ action: 'create', attributes: [] },
  };
  return { resourceChanges: [row], outputChanges: [] };
}

async function start(requiresApproval = false): Promise<string> {
  const environment = await createEnvironment({ ...settingsOfUnits, requiresApproval });
  return environment.latestDeploymentLogId ?? '';
}

const planned = (level: 1 | 2, more: Partial<Outcome> = {}) =>
  plannedOutcome({ ...levels[level - 1], ...more });

/** Stores the input of policies, as the agent ships it before the outcome. */
const ship = (job: Job, address: string) =>
  agent.putBlob(job, 'policy-input', JSON.stringify({ plan: { resource_changes: [{ address }] } }));

async function planLevel(level: 1 | 2, more: Partial<Outcome> = {}): Promise<Job | null> {
  const job = await agent.claim();
  await ship(job, `whole ${level}`);
  return agent.finish(job, planned(level, more));
}

/** @returns a deployment whose first level is applied */
async function atSecondLevel(more: Partial<Outcome> = {}): Promise<string> {
  const id = await start();
  await agent.apply((await planLevel(1)) ?? assert.fail('no apply'), ['a'], more);
  return id;
}

const addressesOf = async (id: string) => {
  const { resource_changes: rows } = await ok('getPlanJson', { id });
  return (rows as { address: string }[]).map(({ address }) => address);
};

const shownPlan = ({ plan, planSummary, planHash, isPlanEmpty, units }: Deployment) =>
  [plan, planSummary, planHash, isPlanEmpty, units].map((each) => each ?? null);

test('until a level is planned, the deployment shows no plan, also if that fails', async () => {
  const id = await atSecondLevel();
  const none = [null, null, null, null, null];
  const between = await deploymentOf(id);
  assert.deepEqual(shownPlan(between), none);
  assert.deepEqual(
    between.earlierLevels?.map((each) => [each.level, each.plan?.resourceChanges[0]?.path]),
    [[1, 'vpc/terraform_data.it']],
  );
  const job = await agent.claim();
  await ship(job, 'a plan that is not stored');
  await refused('getPlanJson', 404, { id });
  const finishedAt = new Date().toISOString();
  await agent.finish(job, { result: 'failed', finishedAt, error: { message: 'no such file' } });
  const failed = await deploymentOf(id);
  assert.equal(failed.status, 'FAILURE');
  assert.deepEqual(shownPlan(failed), none);
});

test('a deployment has changed something if one of its levels has, and shows the versions of all', async () => {
  const id = await atSecondLevel();
  await agent.apply(
    (await planLevel(2, {
      ...{ hasChanges: false, hasResourceChanges: false },
      ...{ providerVersions: { 'provider-of-app': '2.0.0' }, moduleVersions: { 'app/net': '2.0.0' } },
    })) ?? assert.fail('no apply'),
  );
  const { status, isPlanEmpty, planSummary, providerVersions, moduleVersions } = await deploymentOf(id);
  assert.deepEqual([status, isPlanEmpty, planSummary?.added], ['SUCCESS', false, 2]);
  assert.deepEqual(providerVersions, { 'provider-of-vpc': '1.0.0', 'provider-of-app': '2.0.0' });
  assert.deepEqual(moduleVersions, { 'vpc/net': '1.0.0', 'app/net': '2.0.0' });
});

test('what the apply of a level reported stays when the next one is planned', async () => {
  const step = 'terragrunt:apply';
  const failed = { step, severity: 'check', text: 'Warning: Check block assertion failed' } as const;
  const warning = { step, severity: 'warning', text: 'Warning: Deprecated attribute' } as const;
  const id = await atSecondLevel({ diagnostics: [failed] });
  await agent.apply((await planLevel(2, { diagnostics: [warning] })) ?? assert.fail('no apply'));
  const { status, diagnostics } = await deploymentOf(id);
  assert.equal(status, 'SUCCESS');
  assert.deepEqual(diagnostics, [failed, warning]);
});

test('the plan as a document is that of the level, and in the end that of all levels', async () => {
  const id = await start(true);
  await planLevel(1);
  assert.deepEqual(await addressesOf(id), ['whole 1']);
  await ok('approveDeployment', { id });
  await agent.apply(await agent.claim());
  await planLevel(2);
  assert.deepEqual(await addressesOf(id), ['whole 2']);
  await ok('approveDeployment', { id });
  await agent.apply(await agent.claim());
  assert.equal((await deploymentOf(id)).status, 'SUCCESS');
  assert.deepEqual(await addressesOf(id), ['vpc/terraform_data.it', 'app/terraform_data.it']);
});

const before = 'Applied before in this deployment: vpc. The next deployment continues with the rest.';

/** @returns status and error of a deployment, once something has happened to its second level */
async function endOf(happens: (id: string) => Promise<unknown>) {
  const id = await atSecondLevel();
  await happens(id);
  const { status, error } = await deploymentOf(id);
  return [status, error?.message];
}

/** The second level waits for a person: it changes more than what was approved. */
async function waitAtSecondLevel(): Promise<string> {
  const id = await start(true);
  await planLevel(1);
  await ok('approveDeployment', { id });
  await agent.apply(await agent.claim());
  await planLevel(2);
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
  return id;
}

test('a deployment that is aborted, refused or lost names what it has applied', async () => {
  const abort = (id: string) => ok('abortDeployment', { id });
  assert.deepEqual(await endOf(abort), ['ABORTED', `The run was aborted\n\n${before}`]);
  const finishedAt = new Date().toISOString();
  const aborted = await endOf(async (id) => {
    const job = await agent.claim();
    await abort(id);
    await agent.finish(job, { result: 'aborted', finishedAt });
  });
  assert.deepEqual(aborted, ['ABORTED', `The run was aborted\n\n${before}`]);
  const lost = await endOf(async () => {
    for (let tries = 0; tries < 3; tries += 1) {
      await agent.claim();
      app.advance(120);
      for (let list = 0; list < 2; list += 1) await agent.heartbeat([]);
    }
  });
  assert.equal(lost[0], 'INTERNAL_FAILURE');
  assert.match(String(lost[1]), /^The run was lost 3 times before it made any changes at level 2: /);
  assert.ok(lost[1]?.endsWith(`\n\n${before}`));
  const cancelled = await waitAtSecondLevel();
  await ok('cancelDeployment', { id: cancelled });
  assert.deepEqual((await deploymentOf(cancelled)).error, { message: before });
  const expired = await waitAtSecondLevel();
  app.advance(400 * 86_400);
  await expireApprovals(app.context);
  const { status, error } = await deploymentOf(expired);
  assert.equal(status, 'TIMEOUT');
  assert.ok(error?.message.endsWith(`\n\n${before}`));
});
