import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { remediateDrift } from './remediate-drift.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, call, ok, refused, sql } = tests;
const { keyFor, createActive, deploy, deploymentOf, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

const schedule = (id: string, autoDriftRemediation: 'DISABLED' | 'CODE_TO_CLOUD') =>
  ok('updateDriftSchedule', { id, body: { enabled: true, cron: '0 3 * * *', autoDriftRemediation } });

/** A drift run. @returns its id */
async function check(id: string, body: object = {}, isDrifted = true): Promise<string> {
  const { id: run } = await deploy(id, { deploymentType: 'driftDetection', ...body });
  const planSummary = { added: 0, changed: isDrifted ? 1 : 0, destroyed: 0 };
  const found = { planSummary, hasChanges: isDrifted, hasResourceChanges: isDrifted };
  await agent.finish(await agent.claim(), plannedOutcome(found));
  await app.carryOutEffects();
  return run;
}

const triggersOf = async (id: string) => (await ok('listDeployments', { id })).map((row) => row.trigger);

test('CODE_TO_CLOUD deploys the newest code after drift was found, with all rules of approval', async () => {
  covers('Deployment', 'remediation', 'trigger');
  const { id } = await createActive();
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  await schedule(id, 'CODE_TO_CLOUD');
  const run = await check(id);
  const { remediation } = await deploymentOf(run);
  const made = await deploymentOf((await environmentOf(id)).latestDeploymentLogId ?? '');
  assert.deepEqual(remediation, { strategy: 'CODE_TO_CLOUD', deploymentId: made.id });
  assert.deepEqual(
    [made.type, made.trigger, made.triggerName, made.causedBy, made.status],
    ['deploy', 'driftRemediation', undefined, run, 'IN_PROGRESS'],
  );
  const next = await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal(next, null, 'the plan waits for a person');
});

test('a drift run without drift starts nothing, and DISABLED leaves it to people', async () => {
  const { id } = await createActive();
  await schedule(id, 'CODE_TO_CLOUD');
  await check(id, {}, false);
  await schedule(id, 'DISABLED');
  const run = await check(id);
  assert.equal((await deploymentOf(run)).remediation, undefined);
  assert.deepEqual(await triggersOf(id), ['user', 'user', 'user']);
  assert.equal((await deploy(id)).type, 'deploy');
});

test('a single run has a strategy of its own, which counts instead', async () => {
  covers('deployEnvironment', 'body.autoDriftRemediationStrategy');
  covers('Deployment', 'autoDriftRemediationStrategy');
  const { id } = await createActive();
  const run = await check(id, { autoDriftRemediationStrategy: 'CODE_TO_CLOUD' });
  const shown = await deploymentOf(run);
  assert.deepEqual(
    [shown.autoDriftRemediationStrategy, shown.remediation?.strategy],
    ['CODE_TO_CLOUD', 'CODE_TO_CLOUD'],
  );
  assert.deepEqual((await triggersOf(id))[0], 'driftRemediation');
  const other = await createActive();
  await schedule(other.id, 'CODE_TO_CLOUD');
  await check(other.id, { autoDriftRemediationStrategy: 'DISABLED' });
  assert.deepEqual(await triggersOf(other.id), ['user', 'user']);
});

test('a drift run has one remediation, whatever dies in between', async () => {
  const { id } = await createActive();
  await schedule(id, 'CODE_TO_CLOUD');
  const run = await check(id);
  const again = () =>
    remediateDrift.carryOut(app.context, { deploymentId: run }, new AbortController().signal);
  await Promise.all([again(), again()]);
  assert.deepEqual(await triggersOf(id), ['driftRemediation', 'user', 'user']);
  const claim = 'update deployment set caused_by = $1 where environment_id = $2 and caused_by is null';
  await assert.rejects(sql(claim, run, id), /deployment_caused_once/);
});

test('where nothing is started, the drift run says why', async () => {
  const { id } = await createActive();
  await schedule(id, 'CODE_TO_CLOUD');
  const { id: run } = await deploy(id, { deploymentType: 'driftDetection' });
  const job = await agent.claim();
  await ok('setEnvironmentLock', { id, body: { isLocked: true, reason: 'audit' } });
  await agent.finish(job, plannedOutcome());
  await app.carryOutEffects();
  assert.deepEqual((await deploymentOf(run)).remediation, {
    strategy: 'CODE_TO_CLOUD',
    reason: 'The environment is locked: audit',
  });
  const ending = await createActive({ ttl: { type: 'HOURS', value: '1' } });
  await schedule(ending.id, 'CODE_TO_CLOUD');
  const { id: last } = await deploy(ending.id, { deploymentType: 'driftDetection' });
  await agent.finish(await agent.claim(), plannedOutcome());
  app.advance(3601);
  await app.carryOutEffects();
  assert.match((await deploymentOf(last)).remediation?.reason ?? '', /^The environment expired at /);
});

test('strategies that open pull requests are stored wherever they are set, with a warning, and nothing follows', async () => {
  const { id } = await createActive();
  for (const strategy of ['CLOUD_TO_CODE', 'SMART_REMEDIATION'] as const) {
    const policy = { projectId, autoDriftRemediation: strategy };
    const scheduled = { cron: '0 4 * * *', enabled: false, autoDriftRemediation: strategy };
    const single = { deploymentType: 'driftDetection', autoDriftRemediationStrategy: strategy };
    for (const [name, input] of [
      ['updatePolicy', { body: policy }],
      ['updateDriftSchedule', { id, body: scheduled }],
      ['deployEnvironment', { id, body: single }],
    ] as const) {
      const { statusCode, headers, body } = await call(name, input);
      assert.equal(statusCode, 200, body);
      const warning = `${strategy} is stored but has no effect yet: pull requests cannot be opened`;
      assert.ok(String(headers['x-envarium-warning']).includes(warning), name);
    }
    assert.equal((await ok('getPolicy', { query: { projectId } })).autoDriftRemediation, strategy);
    const stored = await ok('getDriftSchedule', { id });
    assert.equal(stored.autoDriftRemediation, strategy);
    await agent.finish(await agent.claim(), plannedOutcome());
    await app.carryOutEffects();
    const [run] = await ok('listDeployments', { id });
    const { remediation, autoDriftRemediationStrategy } = await deploymentOf(run?.id ?? '');
    assert.equal(autoDriftRemediationStrategy, strategy);
    assert.match(remediation?.reason ?? '', /opens pull requests, which is not possible yet/);
  }
  for (const strategy of ['CODE_TO_CLOUD', 'DISABLED']) {
    const body = { cron: '0 4 * * *', enabled: false, autoDriftRemediation: strategy };
    const { headers } = await call('updateDriftSchedule', { id, body });
    assert.equal(headers['x-envarium-warning'], undefined);
  }
  await ok('updatePolicy', { body: { projectId, autoDriftRemediation: 'DISABLED' } });
  const deployWith = { id, body: { autoDriftRemediationStrategy: 'CODE_TO_CLOUD' } } as const;
  assert.match(
    (await refused('deployEnvironment', 400, deployWith)).message,
    /\/body\/autoDriftRemediationStrategy applies only to deploymentType driftDetection/,
  );
});

test('who may not apply cannot make a drift run that applies', async () => {
  const { id } = await createActive();
  const planner = await keyFor('Planner', { projectId }, []);
  const editor = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'] });
  const run = { deploymentType: 'driftDetection', autoDriftRemediationStrategy: 'CODE_TO_CLOUD' } as const;
  await refused('deployEnvironment', 403, { id, body: run, as: planner });
  const setting = { enabled: true, cron: '0 3 * * *', autoDriftRemediation: 'CODE_TO_CLOUD' } as const;
  await refused('updateDriftSchedule', 403, { id, body: setting, as: editor });
  await ok('updateDriftSchedule', { id, body: { ...setting, autoDriftRemediation: 'DISABLED' }, as: editor });
});
