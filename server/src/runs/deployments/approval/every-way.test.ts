/** Whatever a Deployer tries where a project and an organization's policy demand approvals: another person decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { demandTests, off } from '../../../../testing/demands.ts';
import { startPolicyTests } from '../../../../testing/guarded.ts';
import { fireTimers } from '../../schedules/fire-timers.ts';

const tests = await startPolicyTests();
const { app, agent, needsOpa, organizationId, ok, refused } = tests;
const { createActive, deploymentOf, environmentOf, newPolicy, assign } = tests;
const { projectIn, deployerIn, forbid, variableOf } = demandTests({ app, agent });

/** An active environment whose project and organization demand approvals. */
async function guardedEnvironment() {
  const projectId = await projectIn();
  const { id, blueprintId } = await createActive({ projectId });
  const template = blueprintId ?? assert.fail();
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  await forbid(projectId, true);
  const rule = 'pending contains "1 more" if count(input.approvers) == 0';
  await assign((await newPolicy(`package envarium\n${rule}`)).id, 'ORGANIZATION', organizationId);
  return { id, projectId, template, as: await deployerIn(projectId) };
}

const { id, projectId, template, as } = await guardedEnvironment();
const params = { id };
const inBulk = { environmentIds: [id], organizationId };

async function newest(): Promise<string> {
  return (await environmentOf(id)).latestDeploymentLogId ?? assert.fail();
}

async function finishPlan(): Promise<void> {
  const job = await agent.claim();
  await agent.putBlob(job, 'plan', 'plan');
  if (job.isPolicyInputWanted) await agent.putBlob(job, 'policy-input', '{"plan":{"resource_changes":[]}}');
  assert.equal(await agent.finish(job, plannedOutcome()), null, 'no apply follows');
  await app.carryOutEffects();
}

/** The newest plan of the environment waits, and the Deployer cannot approve it in whatever way. */
async function waitsForAnother(way: string): Promise<void> {
  const deploymentId = await newest();
  const { status, waitingFor } = await deploymentOf(deploymentId);
  assert.equal(status, 'WAITING_FOR_USER', way);
  assert.deepEqual(waitingFor?.approval?.excluded, [{ userId: as.id, reason: 'ownPlan' }], way);
  await refused('approveDeployment', 409, { id: deploymentId, as });
  await refused('resumeMcpEnvironment', 409, { params, as });
  const [item] = (await ok('bulkApprove', { body: inBulk, as })).data;
  assert.equal(item?.status, 'failed', way);
  assert.equal((await deploymentOf(deploymentId)).status, 'WAITING_FOR_USER', way);
  await ok('cancelDeployment', { id: deploymentId });
}

test('what would switch the approval off is refused', needsOpa, async () => {
  const policy = { scope: 'BLUEPRINT' as const, scopeId: template };
  const other = await projectIn();
  const refusals = [
    await refused('deployEnvironment', 403, { params, body: { userRequiresApproval: false }, as }),
    await refused('deployEnvironment', 403, { params, body: { configurationChanges: off }, as }),
    await refused('destroyEnvironment', 403, { params, query: { requiresApproval: 'false' }, as }),
    await refused('updateEnvironment', 403, { params, body: { requiresApproval: false }, as }),
    await refused('saveVariables', 403, { body: variableOf(id, 'false'), as }),
    await refused('saveVariables', 403, { body: variableOf(projectId, 'false', 'PROJECT'), as }),
    await refused('saveVariables', 403, { body: variableOf(template, 'false', 'BLUEPRINT'), as }),
    await refused('updatePolicy', 403, { body: { projectId, selfApprovalForbidden: false }, as }),
    await refused('moveEnvironment', 403, { params, body: { projectId: other }, as }),
    await refused('unassignApprovalPolicies', 403, { params: policy, as }),
  ];
  for (const { message } of refusals) assert.match(message, /needs the right/);
  const [item] = (await ok('bulkDeploy', { body: { ...inBulk, data: { userRequiresApproval: false } }, as }))
    .data;
  assert.match(item?.error ?? '', /needs the right EDIT_PROJECT_SETTINGS/);
});

test('each way to start an apply waits for another person', needsOpa, async () => {
  const started: Readonly<Record<string, () => Promise<unknown>>> = {
    deploy: () => ok('deployEnvironment', { params, as }),
    bulk: () => ok('bulkDeploy', { body: inBulk, as }),
    MCP: () => ok('startMcpDeployment', { params, as }),
    destroy: () => ok('destroyEnvironment', { params, as }),
    'destroys in bulk': () => ok('bulkDestroy', { body: inBulk, as }),
  };
  for (const [way, start] of Object.entries(started)) {
    await start();
    await finishPlan();
    await waitsForAnother(way);
  }
});

test('so does what a Deployer lets the service start', needsOpa, async () => {
  const strategy = {
    deploymentType: 'driftDetection',
    autoDriftRemediationStrategy: 'CODE_TO_CLOUD',
  } as const;
  await ok('deployEnvironment', { params, body: strategy, as });
  await finishPlan();
  await finishPlan();
  await waitsForAnother('the remediation of drift');
  const deploy = { cron: '*/5 * * * *', enabled: true };
  await ok('updateEnvironmentSchedule', { params, body: { deploy }, as });
  const { deploy: scheduled } = await ok('getEnvironmentSchedule', { params });
  const next = Date.parse(scheduled?.nextSchedule ?? '');
  app.advance(Math.ceil((next - app.context.now().getTime()) / 1000) + 1);
  await fireTimers(app.context);
  await finishPlan();
  await waitsForAnother('a schedule');
  await ok('updateEnvironmentSchedule', { params, body: { deploy: null } });
  await ok('updateEnvironmentTtl', { params, body: { type: 'HOURS', value: '1' }, as });
  app.advance(3601);
  await fireTimers(app.context);
  await finishPlan();
  await waitsForAnother('the end of a lifetime');
});

test(
  'a set that switches approvals off lifts nothing, and one that demands them stays',
  needsOpa,
  async () => {
    await ok('updateEnvironmentTtl', { params, body: { type: 'INFINITE' } });
    const setWith = async (value: string) => {
      const body = {
        name: `approvals ${value}`,
        scope: 'project' as const,
        scopeId: projectId,
        configurationProperties: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value, type: 0 as const }],
      };
      return (await ok('createConfigurationSet', { body })).id;
    };
    const scope = { scope: 'environment' as const, scopeId: id };
    const query = { setIds: await setWith('false') };
    await ok('assignConfigurationSets', { params: scope, query, as });
    await ok('deployEnvironment', { params, as });
    await finishPlan();
    await waitsForAnother('a set');
    const demanding = { setIds: await setWith('true') };
    await ok('assignConfigurationSets', { params: scope, query: demanding });
    await refused('unassignConfigurationSets', 403, /needs the right EDIT_PROJECT_SETTINGS/, {
      params: scope,
      query: demanding,
      as,
    });
    const changes = { configurationSetChanges: { unassign: [demanding.setIds] } };
    await refused('deployEnvironment', 403, { params, body: changes, as });
    await ok('unassignConfigurationSets', { params: scope, query: demanding });
    await ok('assignConfigurationSets', { params: scope, query: demanding, as });
    await ok('unassignConfigurationSets', { params: scope, query: demanding, as });
  },
);
