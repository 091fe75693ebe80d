import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, projectId, ok } = tests;
const { keyFor, createActive, createEnvironment, deploy, deploymentOf, environmentOf, forgetWork } = tests;
const setPolicy = (skipRedundantDeployments: boolean) =>
  ok('updatePolicy', { body: { projectId, requiresApprovalDefault: true, skipRedundantDeployments } });

beforeEach(async () => {
  await forgetWork();
  await setPolicy(true);
});

/** An environment whose plan waits for a person. */
async function createWaiting() {
  const environment = await createEnvironment();
  await agent.finish(await agent.claim(), plannedOutcome());
  const { id } = environment;
  const waiting = environment.latestDeploymentLogId ?? '';
  return { id, next: () => ok('cancelDeployment', { id: waiting }) };
}

const shownOf = async (id: string) => {
  const { status, skippedFor } = await deploymentOf(id);
  return skippedFor === undefined ? status : `${status} for ${skippedFor}`;
};

test('deploys that a later one makes redundant are skipped when their turn comes, and name it', async () => {
  covers('Deployment', 'skippedFor');
  covers('updatePolicy', 'body.skipRedundantDeployments');
  // Again, although beforeEach does it: a claim drops its field only from requests inside of the test.
  await setPolicy(true);
  const { id, next } = await createWaiting();
  const deploys = [await deploy(id), await deploy(id), await deploy(id)];
  const task = await deploy(id, { deploymentType: 'dryRun' });
  for (const each of deploys) assert.equal(await shownOf(each.id), 'QUEUED');
  await next();
  const last = deploys[2]?.id ?? '';
  assert.deepEqual(await Promise.all([...deploys, task].map((each) => shownOf(each.id))), [
    `SKIPPED for ${last}`,
    `SKIPPED for ${last}`,
    'IN_PROGRESS',
    'QUEUED',
  ]);
  const skipped = await deploymentOf(deploys[0]?.id ?? '');
  assert.deepEqual([skipped.startedAt, typeof skipped.finishedAt], [null, 'string']);
  const steps = await ok('listSteps', { params: { deploymentLogId: skipped.id ?? '' } });
  assert.deepEqual(new Set(steps.map(({ status }) => status)), new Set(['SKIPPED']));
  assert.equal((await environmentOf(id)).latestDeploymentLogId, last);
});

test('deploys before a queued destroy are skipped for it, those after it are not, and destroys never', async () => {
  const { id, next } = await createWaiting();
  const before = await deploy(id);
  const destroy = await ok('destroyEnvironment', { id });
  const plan = await deploy(id, { deploymentType: 'prPlan' });
  const [after, last] = [await deploy(id), await deploy(id)];
  await next();
  // The destroy found nothing and is over: the deploys after it come next.
  assert.deepEqual(await Promise.all([before, destroy, plan, after, last].map((each) => shownOf(each.id))), [
    `SKIPPED for ${destroy.id}`,
    'SUCCESS',
    'IN_PROGRESS',
    `SKIPPED for ${last.id}`,
    'IN_PROGRESS',
  ]);
});

test('without the policy nothing is skipped', async () => {
  await setPolicy(false);
  const { id, next } = await createWaiting();
  const [first, second] = [await deploy(id), await deploy(id)];
  await next();
  assert.deepEqual([await shownOf(first.id), await shownOf(second.id)], ['IN_PROGRESS', 'QUEUED']);
});

test('a deploy with changes that wait for an approval is never skipped: they would be lost', async () => {
  const planner = await keyFor('Planner', { projectId }, []);
  const { id, next } = await createWaiting();
  const plain = await deploy(id);
  const proposing = await ok('deployEnvironment', {
    id,
    body: { configurationChanges: [{ name: 'SIZE', value: 'large' }] },
    as: planner,
  });
  const last = await deploy(id);
  await next();
  assert.deepEqual(await Promise.all([plain, proposing, last].map((each) => shownOf(each.id))), [
    `SKIPPED for ${last.id}`,
    'IN_PROGRESS',
    'QUEUED',
  ]);
});

test('lasting changes of a skipped deploy stay: they were stored with the request', async () => {
  const environment = await createActive();
  const running = await deploy(environment.id, { userRequiresApproval: true });
  const first = await deploy(environment.id, { configurationChanges: [{ name: 'SIZE', value: 'large' }] });
  const second = await deploy(environment.id);
  await ok('abortDeployment', { id: running.id });
  assert.deepEqual(
    [await shownOf(first.id), await shownOf(second.id)],
    [`SKIPPED for ${second.id}`, 'IN_PROGRESS'],
  );
  const shown = await deploymentOf(second.id);
  assert.deepEqual(fieldsOf(shown.variables, 'name', 'value'), [['SIZE', 'large']]);
});
