import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, organizationId, ok, refused, createActive, deploy, forgetWork } = await startAgentTests();

beforeEach(() => forgetWork());

const latest = async (id: string) => (await ok('listDeployments', { id }))[0];
const rerun = (id: string) => ok('rerunDeployment', { id });
const refuse = async (status: number, id: string, more: object = {}) =>
  (await refused('rerunDeployment', status, { id, ...more })).message;
const commit = 'e'.repeat(40);

/** A plan that has ended. */
async function planned(environmentId: string, body: object = {}): Promise<string> {
  const { id } = await deploy(environmentId, { deploymentType: 'prPlan', ...body });
  await agent.finish(await agent.claim(), plannedOutcome({ commit }));
  return id;
}

test('a plan runs again at the commit that it had, with its targets and its facts', async () => {
  const { id } = await createActive();
  const plan = await planned(id, {
    blueprintRevision: 'feature',
    targets: ['a.b'],
    comment: 'first',
    gitUserData: { gitUser: 'ada', prNumber: '7' },
    customServiceEnvironmentVariables: { prAuthor: 'ada', vcsAccessToken: 'token-of-the-run' },
  });
  assert.equal(await rerun(plan), null);
  const again = await latest(id);
  assert.notEqual(again?.id, plan);
  assert.deepEqual(
    [again?.type, again?.blueprintRevision, again?.targets, again?.comment, again?.prNumber, again?.gitUser],
    ['prPlan', 'feature', ['a.b'], 'first', '7', 'ada'],
  );
  assert.equal(again?.customServiceEnvironmentVariables?.prAuthor, 'ada');
  const job = await agent.claim();
  assert.match(JSON.stringify(job), new RegExp(commit), 'the agent checks out that commit');
  assert.match(JSON.stringify(job), /token-of-the-run/);
});

test('only plans that have ended run again, and only with the template that they ran', async () => {
  const { id, latestDeploymentLogId } = await createActive();
  assert.match(await refuse(409, latestDeploymentLogId ?? ''), /This is a deploy: only plans/);
  const { id: running } = await deploy(id, { deploymentType: 'dryRun' });
  assert.match(await refuse(409, running), /This dryRun is IN_PROGRESS/);
  await agent.finish(await agent.claim(), plannedOutcome());
  const { id: templateId } = await ok('createTemplate', {
    body: {
      organizationId,
      name: 'other',
      type: 'terraform',
      repository: 'https://git.example.com/other.git',
      projectIds: [app.projectId],
    },
  });
  await ok('setEnvironmentTemplate', { id, body: { blueprintId: templateId } });
  assert.match(await refuse(409, running), /has used another template since/);
});

test('a plan runs again in its folder with its settings, and a drift detection in the folder of today', async () => {
  await agent.register([], { tools: ['terraform', 'opentofu', 'terragrunt'] });
  const { id, blueprintId } = await createActive({ path: 'live' });
  const plan = await planned(id);
  const drift = await planned(id, { deploymentType: 'driftDetection' });
  const code = { type: 'terraform', repository: 'https://git.example.com/network.git' };
  const change = (templateId: string, more: object) =>
    ok('updateTemplate', { id: templateId, body: { ...code, ...more } });
  await change(blueprintId, { path: 'other' });
  /** Input of the agent for the next plan. */
  const next = async () => {
    const { source, settings, ...job } = await agent.claim();
    await agent.finish(job, plannedOutcome({ commit }));
    return [source.revision, source.path, settings];
  };
  await rerun(plan);
  assert.deepEqual(await next(), [commit, 'live', undefined]);
  await rerun(drift);
  assert.deepEqual(await next(), [undefined, 'other', undefined]);
  await change(blueprintId, { type: 'opentofu', opentofuVersion: '1.10.0', path: 'live' });
  assert.match(await refuse(409, plan), /This prPlan ran terraform, and environment .* now uses opentofu/);
  const units = { type: 'terragrunt', terragruntVersion: '1.1.3', terragruntTfBinary: 'terraform' };
  const { id: ofUnits, blueprintId: unitsId } = await createActive({
    ...units,
    terragruntWorkingDirectory: 'eu',
    path: 'units',
    isTerragruntRunAll: true,
  });
  const planOfUnits = await planned(ofUnits);
  await change(unitsId, { ...units, path: 'elsewhere', isTerragruntRunAll: false });
  await rerun(planOfUnits);
  const settings = { terragruntTfBinary: 'terraform', isTerragruntRunAll: true };
  assert.deepEqual(await next(), [commit, 'units/eu', settings]);
});

test('a drift detection runs again on the code of today, and one that applies changes needs RUN_APPLY', async () => {
  const { id } = await createActive();
  const planner = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT', 'RUN_PLAN'] });
  const looking = await planned(id, { deploymentType: 'driftDetection' });
  assert.equal(await ok('rerunDeployment', { id: looking, as: planner }), null);
  const job = await agent.claim();
  assert.doesNotMatch(JSON.stringify(job), new RegExp(commit));
  await agent.finish(job, plannedOutcome());
  const ending = await planned(id, {
    deploymentType: 'driftDetection',
    autoDriftRemediationStrategy: 'CODE_TO_CLOUD',
  });
  assert.match(await refuse(403, ending, { as: planner }), /RUN_APPLY/);
  await rerun(ending);
  assert.equal((await latest(id))?.autoDriftRemediationStrategy, 'CODE_TO_CLOUD');
});

test('proposed changes are not repeated, and a foreign repository needs its right', async () => {
  const { id } = await createActive();
  const planner = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT', 'RUN_PLAN'] });
  const change = { name: 'size', value: 'huge', type: 1 };
  const { id: proposing } = await ok('deployEnvironment', {
    id,
    body: { deploymentType: 'prPlan', configurationChanges: [change] },
    as: planner,
  });
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.match(await refuse(409, proposing), /proposed changes .* not repeated/);
  const moved = await planned(id, { blueprintRepository: 'https://git.example.com/fork.git' });
  assert.match(await refuse(403, moved, { as: planner }), /EDIT_VCS_ENVIRONMENT/);
  await rerun(moved);
  assert.equal((await latest(id))?.blueprintRepository, 'https://git.example.com/fork.git');
});
