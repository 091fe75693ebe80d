import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, call, ok, refused } = tests;
const { createActive, createIdle, createTemplate, deploy, deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

/** Deploys a new idle environment. @returns what the agent gets and what readers see */
async function run(body: unknown) {
  const { id } = await createIdle();
  const started = await ok('deployEnvironment', { id, body });
  return { started, job: await agent.claim(), environment: await environmentOf(id) };
}

test('a deployment is refused by the name of a variable whose expression would never end', async () => {
  const { id } = await createIdle({ configurationChanges: { name: 'ENDLESS', value: `${'a'.repeat(50)}!` } });
  const { organizationId, projectId } = app;
  const outer = {
    scope: 'PROJECT' as const,
    scopeId: projectId,
    organizationId,
    name: 'ENDLESS',
    type: 0 as const,
  };
  const [saved] = await ok('saveVariables', { body: [{ ...outer, regex: '^(a+)+$' }] });
  const { message } = await refused('deployEnvironment', 400, { id, body: {} });
  assert.equal(
    message,
    'Variable "ENDLESS" of scope ENVIRONMENT cannot be compared with ^(a+)+$: the expression takes too long on it: scope PROJECT requires it',
  );
  await ok('deleteVariable', { id: saved?.id ?? '' });
  await deploy(id);
});

test('the details of a deployment are returned, and reach its run', async () => {
  covers(
    'deployEnvironment',
    'body.comment',
    'body.triggerName',
    'body.targets',
    'body.gitUserData',
    'body.customServiceEnvironmentVariables',
    'reply',
  );
  covers(
    'Deployment',
    'comment',
    'triggerName',
    'targets',
    'gitUser',
    'gitAvatarUrl',
    'prNumber',
    'customServiceEnvironmentVariables',
    'environmentId',
    'id',
    'trigger',
  );
  covers('GitUserData', 'gitUser', 'gitAvatarUrl', 'prNumber');
  const custom = { prAuthor: 'ada', workspaceName: 'other', deploymentType: 'deploy' };
  const { started, job, environment } = await run({
    comment: 'why',
    triggerName: 'terraform-cli',
    targets: ['a.b', 'c.d'],
    gitUserData: { gitUser: 'ada', gitAvatarUrl: 'https://x/a.png', prNumber: '7' },
    customServiceEnvironmentVariables: custom,
  });
  for (const view of [started, await deploymentOf(started.id)]) {
    assert.deepEqual(
      [view.comment, view.triggerName, view.trigger, view.targets],
      ['why', 'terraform-cli', 'terraform-cli', ['a.b', 'c.d']],
    );
    assert.deepEqual([view.gitUser, view.gitAvatarUrl, view.prNumber], ['ada', 'https://x/a.png', '7']);
    const { customServiceEnvironmentVariables: shown } = view;
    assert.deepEqual(
      [{ ...shown, ...custom }, shown?.environmentId, shown?.prNumber],
      [shown, environment.id, '7'],
    );
    assert.equal(view.environmentId, environment.id);
  }
  assert.deepEqual(
    [job.targets, job.systemVariables.ENVARIUM_PR_AUTHOR, job.systemVariables.ENVARIUM_WORKSPACE_NAME],
    [['a.b', 'c.d'], 'ada', 'other'],
  );
  assert.deepEqual(
    [
      job.systemVariables.ENVARIUM_ENVIRONMENT_ID,
      job.systemVariables.ENVARIUM_DEPLOYMENT_LOG_ID,
      job.systemVariables.ENVARIUM_DEPLOYER_NAME,
    ],
    [environment.id, started.id, 'First admin key'],
  );
});

test('a deployment without details is a deploy by a user', async () => {
  const { started, job } = await run({});
  assert.deepEqual(
    [started.type, started.triggerName, started.isScheduledRun, started.comment, started.targets, job.type],
    ['deploy', 'user', false, undefined, undefined, 'deploy'],
  );
});

test('the wrapped form and targets as one string mean the same', async () => {
  covers('deployEnvironment', 'body.deployRequest');
  const { started, job } = await run({
    deployRequest: {
      comment: 'wrapped',
      targets: 'a.b, module.x["k,l"]',
      userRequiresApproval: false,
      configurationChanges: [{ name: 'A', value: '1' }],
      ttl: { type: 'INFINITE' },
    },
  });
  assert.deepEqual(
    [started.comment, job.targets, job.variables.environment.length],
    ['wrapped', ['a.b', 'module.x["k,l"]'], 1],
  );
});

test('a new revision, repository, name and lifetime apply to this run and all later ones', async () => {
  covers(
    'deployEnvironment',
    'body.blueprintRevision',
    'body.blueprintRepository',
    'body.blueprintId',
    'body.envName',
  );
  covers(
    'Deployment',
    'blueprintId',
    'blueprintName',
    'blueprintRepository',
    'blueprintRevision',
    'blueprintPath',
    'blueprintType',
  );
  const created = await createIdle();
  const template = await createTemplate({ path: 'live' });
  const body = {
    blueprintId: template.id,
    blueprintRevision: 'v2',
    blueprintRepository: 'https://git.example.com/other.git',
    envName: 'renamed',
    ttl: { type: 'HOURS', value: '1' },
  };
  const first = await deploy(created.id, body);
  assert.deepEqual(
    [first.blueprintRevision, first.blueprintRepository, first.blueprintId, first.blueprintType],
    ['v2', 'https://git.example.com/other.git', template.id, 'terraform'],
  );
  assert.deepEqual([first.blueprintName, first.blueprintPath], [template.name, 'live']);
  const job = await agent.claim();
  assert.deepEqual([job.source.repository, job.source.revision], ['https://git.example.com/other.git', 'v2']);
  await agent.finish(job, plannedOutcome({ result: 'failed' }));
  const later = await deploy(created.id);
  assert.deepEqual(
    [later.blueprintRevision, later.blueprintRepository],
    ['v2', 'https://git.example.com/other.git'],
  );
  const environment = await environmentOf(created.id);
  assert.equal(environment.name, 'renamed');
  assert.ok(Math.abs(Date.parse(environment.lifespanEndAt ?? '') - Date.now() - 3_600_000) < 60_000);
});

test('commands of a task are refused with another type, and nothing starts', async () => {
  const { id } = await createIdle();
  for (const body of [
    { taskPayload: 'ls' },
    ...['dryRun', 'deploy'].map((deploymentType) => ({ deploymentType, taskPayload: 'ls' })),
  ]) {
    const refusal = await refused('deployEnvironment', 400, { id, body });
    assert.match(
      refusal.message,
      /^\/body\/taskPayload applies only to deploymentType task, and this is a d/,
    );
  }
  assert.deepEqual(
    (await ok('listDeployments', { id })).filter(({ status }) => status !== 'NEVER_DEPLOYED'),
    [],
  );
});

test('a test of a module is stored and skipped at once, with the reason', async () => {
  const { id } = await createIdle();
  const { status: before } = await environmentOf(id);
  const body = { deploymentType: 'moduleTest' };
  const reply = await call('deployEnvironment', { id, body });
  assert.match(
    String(reply.headers['x-envarium-warning']),
    /^deploymentType moduleTest is stored but has no /,
  );
  const { type, status, error } = await deploymentOf(reply.json<{ id: string }>().id);
  assert.deepEqual([type, status], ['moduleTest', 'SKIPPED']);
  assert.match(error?.message ?? '', /did not run: modules and templates are not tested/);
  assert.equal((await environmentOf(id)).status, before);
});

test('a refused deployment names the field, and stores nothing of the request', async () => {
  const { id } = await createIdle();
  const refusals: [object, RegExp][] = [
    [{ deploymentType: 'task' }, /\/body\/taskPayload is required/],
    [{ deploymentType: 'task', taskPayload: ' \n' }, /\/body\/taskPayload is required/],
    [
      { deploymentType: 'task', taskPayload: 'x'.repeat(100_001) },
      /\/body\/taskPayload must NOT have more than 100000 characters/,
    ],
    [
      { deploymentType: 'task', taskPayload: 'ls', blueprintRevision: 'v2' },
      /\/body\/blueprintRevision does not apply/,
    ],
    [{ deploymentType: 'task', taskPayload: 'ls', targets: 'a.b' }, /\/body\/targets does not apply/],
    [{ deploymentType: 'remotePlan' }, /\/body\/sourceId is required/],
    [{ deploymentType: 'remotePlan', sourceId: 'nothing' }, /\/body\/sourceId does not match an upload/],
    [
      { deploymentType: 'prPlan', sourceId: 'x' },
      /\/body\/sourceId applies only to deploymentType remotePlan/,
    ],
    [{ deploymentType: 'destroy' }, /\/body\/deploymentType must be one of/],
    [{ blueprintId: 'other' }, /\/body\/blueprintId/],
    [{ blueprintRevision: '-x' }, /\/body\/blueprintRevision/],
    [{ blueprintRepository: 'ext::sh' }, /\/body\/blueprintRepository/],
    [{ blueprintRepository: 'https://a:planted@x/y.git' }, /\/body\/blueprintRepository/],
    [{ ttl: { type: 'HOURS', value: 'x' } }, /\/body\/ttl\/value/],
    [{ targets: [''] }, /\/body\/targets/],
    [
      { configurationSetChanges: { assign: [randomUUID()] } },
      /\/body\/configurationSetChanges\/assign\/0 does not match any configuration set/,
    ],
    [
      { configurationSetChanges: { unassign: [randomUUID()] } },
      /\/body\/configurationSetChanges\/unassign\/0 does not match a configuration set/,
    ],
    [{ upstreamEnvironmentId: randomUUID() }, /\/body\/upstreamEnvironmentId does not match an environment/],
    [{ upstreamEnvironmentId: 'x' }, /\/body\/upstreamEnvironmentId does not match an environment/],
    [{ workflowDeploymentId: randomUUID() }, /\/body\/workflowDeploymentId applies to workflow/],
    [
      { workflowDeploymentOptions: { node: 'net', operation: 'run-from-here' } },
      /\/body\/workflowDeploymentOptions applies to workflow/,
    ],
    [{ subEnvironments: { net: { revision: 'v1' } } }, /\/body\/subEnvironments applies to workflow/],
    [{ subEnvironmentAlias: 'net' }, /\/body\/subEnvironmentAlias applies to workflow/],
    [{ deployRequest: { comment: 7 } }, /\/body\/deployRequest\/comment/],
  ];
  for (const [more, message] of refusals) {
    const body =
      'deployRequest' in more
        ? more
        : { envName: 'renamed', configurationChanges: { name: 'A', value: 'x' }, ...more };
    const refusal = await refused('deployEnvironment', 400, { id, body });
    assert.match(refusal.message, message, JSON.stringify(more));
    assert.doesNotMatch(refusal.message, /planted/);
  }
  const environment = await environmentOf(id);
  assert.deepEqual(
    [environment.name, environment.lifespanEndAt, environment.status],
    ['network', null, 'NEVER_DEPLOYED'],
  );
  assert.equal(
    (await app.database.pool.query('select 1 from variable where scope_id = $1', [id])).rowCount,
    0,
  );
});

test('fields of a deployment are included and excluded by their paths', async () => {
  covers('getDeployment');
  covers('getDeployment', 'query.fields', 'query.exclude_fields', 'reply');
  const { started } = await run({ comment: 'c' });
  const get = (query: Record<string, string>) => ok('getDeployment', { id: started.id, query });
  assert.deepEqual(await get({ fields: 'id,startedByUser.user_id,nothing' }), {
    id: started.id,
    startedByUser: { user_id: 'admin' },
  });
  const left = await get({ exclude_fields: 'startedByUser.email,comment' });
  assert.deepEqual(
    [left.comment, left.startedByUser.email, left.startedByUser.user_id],
    [undefined, undefined, 'admin'],
  );
  assert.deepEqual(await get({ fields: 'id,status', exclude_fields: 'status' }), { id: started.id });
});

test('deployments are listed newest first, by type, status and time, in pages', async () => {
  const environment = await createActive();
  const params = { id: environment.id };
  const plan = await deploy(environment.id, { deploymentType: 'prPlan' });
  await ok('abortDeployment', { id: plan.id });
  const list = async (query: Record<string, string> = {}) => {
    const response = await call('listDeployments', { params, query });
    return {
      ids: response.json<{ id: string }[]>().map(({ id }) => id),
      total: response.headers['x-total-count'],
    };
  };
  const first = environment.latestDeploymentLogId;
  assert.deepEqual(await list(), { ids: [plan.id, first], total: '2' });
  assert.deepEqual(await list({ limit: '1', offset: '1' }), { ids: [first], total: '2' });
  assert.deepEqual(await list({ deploymentTypes: 'deploy,destroy' }), { ids: [first], total: '1' });
  assert.deepEqual(await list({ statuses: 'ABORTED' }), { ids: [plan.id], total: '1' });
  assert.deepEqual((await list({ fromDate: plan.queuedAt ?? '' })).ids, [plan.id]);
  assert.deepEqual((await list({ toDate: environment.latestDeploymentLog.queuedAt ?? '' })).ids, [first]);
  for (const query of [{ limit: '101' }, { limit: '0' }, { deploymentTypes: 'deploy,' }] as Record<
    string,
    string
  >[])
    await refused('listDeployments', 400, { params, query });
});

test('a destroy checks out the last deployed commit, unless the request specifies another', async () => {
  covers('Deployment', 'isScheduledRun');
  const environment = await createActive();
  const params = { id: environment.id };
  const byDefault = await ok('destroyEnvironment', { params });
  assert.equal(byDefault.blueprintRevision, 'c'.repeat(40));
  await ok('abortDeployment', { id: byDefault.id });
  const newest = await ok('destroyEnvironment', {
    params,
    query: { checkoutUpdatedCode: 'true', skipStateRefresh: 'true', isScheduledRun: 'true' },
    body: { comment: 'bye', triggerName: 'workflow' },
  });
  assert.deepEqual(
    [newest.blueprintRevision, newest.isScheduledRun, newest.comment, newest.triggerName],
    ['', true, 'bye', 'workflow'],
  );
  const job = await agent.claim();
  assert.deepEqual([job.type, job.skipStateRefresh, job.source.revision], ['destroy', true, undefined]);
  await agent.finish(job, plannedOutcome({ result: 'failed' }));
  assert.equal(
    (await ok('destroyEnvironment', { params, query: { revision: 'v1' } })).blueprintRevision,
    'v1',
  );
  await refused('destroyEnvironment', 400, { params, query: { revision: '--x' } });
  await refused('destroyEnvironment', 400, /\/body\/workflowDeploymentId applies to workflow/, {
    params,
    body: { workflowDeploymentId: randomUUID() },
  });
  await refused('destroyEnvironment', 400, { params, query: { skipStateRefresh: 'maybe' } });
});
