import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { mcpListedFields, mcpLogKilobytes } from '#contract/mcp/shapes.ts';
import type { OperationName } from '#contract/operations.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, organizationId, projectId, send, ok, refused, add, createActive } = tests;
const { createEnvironment, createIdle, deploy, deploymentOf, environmentOf, forgetWork } = tests;
beforeEach(() => forgetWork());

const about = (id: string) => ({ id });
const stepEvent = (name: string, status: 'IN_PROGRESS' | 'SUCCESS' | 'FAIL'): RunEvent => ({
  kind: 'step',
  at: new Date().toISOString(),
  step: name,
  status,
});

/** An environment whose first plan waits for approval. */
async function waiting() {
  const environment = await createEnvironment({ requiresApproval: true });
  await agent.plan();
  return environment;
}

/** A plan that fails, with what its step says. */
async function failPlan(job: Job, log: string | Buffer) {
  const bytes = Buffer.from(log);
  await agent.report(job, { events: [stepEvent('tf:plan', 'IN_PROGRESS')] });
  for (let offset = 0; offset < bytes.length; offset += 300_000)
    await agent.report(job, {
      eventsFrom: 1,
      logs: [{ step: 'tf:plan', offset, base64: bytes.toString('base64', offset, offset + 300_000) }],
    });
  await agent.report(job, { eventsFrom: 1, events: [stepEvent('tf:plan', 'FAIL')] });
  await agent.finish(
    job,
    plannedOutcome({
      result: 'failed',
      error: { message: 'Unsupported argument' },
      failedCommand: 'terraform plan',
      diagnostics: [{ severity: 'error', step: 'tf:plan', text: 'Unsupported argument' }],
    }),
  );
}

const messagesOf = (log: { readonly events: readonly { readonly message: string }[] } | null) =>
  log?.events.map(({ message }) => message);

test('projects and environments are those that other clients read', async () => {
  const query = { organizationId };
  assert.deepEqual(await ok('listMcpProjects', { query }), await ok('listProjects', { query }));
  const { id, name } = await createActive({ name: 'listed' });
  assert.deepEqual(await ok('getMcpEnvironment', about(id)), await environmentOf(id));
  const [found, ...others] = await ok('listMcpEnvironments', {
    query: { organizationId, projectId, name, limit: '1' },
  });
  assert.deepEqual(others, []);
  const { resources: _, latestDeploymentLog: latest, ...whole } = await environmentOf(id);
  const { resources: _all, plan: _plan, variables: _variables, ...shown } = latest;
  assert.deepEqual(found, { ...whole, latestDeploymentLog: shown });
  const page = { query: { limit: '1', offset: '1000' } };
  assert.deepEqual(await ok('listMcpEnvironments', page), []);
});

test('a caller sees projects and environments within its own rights', async () => {
  const { id } = await createIdle();
  const outsider = await app.addKey();
  assert.deepEqual(await ok('listMcpProjects', { as: outsider }), []);
  assert.deepEqual(await ok('listMcpEnvironments', { as: outsider }), []);
  const other = await app.addKey();
  await ok('createOrganization', { body: { name: 'Another' }, as: other });
  for (const name of ['listMcpProjects', 'listMcpEnvironments'] as const) {
    const { message } = await refused(name, 400, { query: { organizationId }, as: other });
    assert.match(message, /^\/query\/organizationId does not match any organization/);
  }
  await refused('getMcpEnvironment', 404, { ...about(id), as: other });
});

test('a deployment starts with revision and comment, and is queued behind another one', async () => {
  const { id } = await createIdle();
  const body = { revision: 'release', comment: 'by an MCP server' };
  const started = await ok('startMcpDeployment', { ...about(id), body });
  const { type, status, blueprintRevision, comment } = await deploymentOf(started.id);
  assert.deepEqual(
    [type, status, blueprintRevision, comment],
    ['deploy', 'IN_PROGRESS', 'release', 'by an MCP server'],
  );
  assert.equal((await agent.claim()).deploymentId, started.id);
  const next = await ok('startMcpDeployment', about(id));
  assert.deepEqual([next.status, next.blueprintRevision, next.comment], ['QUEUED', 'release', undefined]);
  const nulls = { revision: null, comment: null };
  assert.equal((await ok('startMcpDeployment', { ...about(id), body: nulls })).status, 'QUEUED');
});

test('a start refuses what it does not have, and never lifts an approval', async () => {
  const { id } = await createIdle({ requiresApproval: true });
  for (const [body, message] of [
    [{ userRequiresApproval: false }, /userRequiresApproval/],
    [{ deploymentType: 'task' }, /deploymentType/],
    [{ revision: 7 }, /^\/body\/revision must be string/],
    [{ comment: 'x'.repeat(4001) }, /^\/body\/comment must NOT have more than 4000 characters/],
    ['[]', /^\/body must be object/],
    ['{', /^\/body is not valid JSON/],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    await refused('startMcpDeployment', 400, message, { ...about(id), body, headers });
  }
  assert.equal((await environmentOf(id)).status, 'NEVER_DEPLOYED');
  await ok('startMcpDeployment', about(id));
  await agent.plan();
  assert.equal((await environmentOf(id)).status, 'WAITING_FOR_USER');
});

test('resume applies the plan that waits, cancel ends it, and abort stops what runs', async () => {
  const resumed = await waiting();
  const latest = resumed.latestDeploymentLogId ?? '';
  assert.deepEqual(await ok('resumeMcpEnvironment', about(resumed.id)), {
    id: latest,
    status: 'IN_PROGRESS',
  });
  assert.equal((await agent.claim()).deploymentId, latest);
  assert.deepEqual((await deploymentOf(latest)).reviewers, [{ userId: resumed.userId, action: 'approved' }]);
  const aborted = await ok('abortMcpEnvironment', about(resumed.id));
  assert.deepEqual(aborted, { id: latest, status: 'ABORTING' });
  const cancelled = await waiting();
  const { status } = await ok('cancelMcpEnvironment', about(cancelled.id));
  assert.equal(status, 'CANCELLED');
  assert.equal((await deploymentOf(cancelled.latestDeploymentLogId ?? '')).status, 'CANCELLED');
  const { events } = await ok('listAuditEvents', { query: { organizationId } });
  const actions = events.map(({ actionName }) => actionName);
  for (const action of ['approved', 'aborted', 'cancelled'])
    assert.ok(actions.includes(`deployment.${action}`), action);
});

test('what waits is decided about, although another deployment is queued after it', async () => {
  const { id, latestDeploymentLogId } = await waiting();
  const queued = await deploy(id);
  assert.equal(queued.status, 'QUEUED');
  const cancelled = await ok('cancelMcpEnvironment', about(id));
  assert.equal(cancelled.id, latestDeploymentLogId);
  assert.equal((await deploymentOf(queued.id)).status, 'IN_PROGRESS');
});

test('an action that the latest deployment does not allow is a 409 that names its status', async () => {
  const waits = await waiting();
  const idle = await createIdle();
  const running = await createEnvironment();
  for (const [name, { id }, message] of [
    ['resumeMcpEnvironment', idle, /^The deployment is NEVER_DEPLOYED: only deployments awaiting approval/],
    ['cancelMcpEnvironment', idle, /^The deployment is NEVER_DEPLOYED/],
    ['abortMcpEnvironment', idle, /^The deployment is NEVER_DEPLOYED: only running deployments/],
    ['resumeMcpEnvironment', running, /^The deployment is IN_PROGRESS/],
    ['cancelMcpEnvironment', running, /^The deployment is IN_PROGRESS.*abort it instead/],
    ['abortMcpEnvironment', waits, /^The deployment is WAITING_FOR_USER.*cancel it instead/],
  ] as const)
    assert.match((await refused(name, 409, about(id))).message, message, name);
});

test('the rules of approvals hold', async () => {
  const { id: ruled } = await add('Project', 'ruled');
  await ok('updatePolicy', { body: { projectId: ruled, selfApprovalForbidden: true } });
  const own = await createEnvironment({ projectId: ruled, requiresApproval: true });
  await agent.plan();
  await refused('resumeMcpEnvironment', 409, /own/, about(own.id));
  const planner = await app.addKey({ [organizationId]: ['VIEW_ENVIRONMENT', 'RUN_PLAN'] });
  await refused('resumeMcpEnvironment', 403, /RUN_APPLY/, { ...about(own.id), as: planner });
  await ok('cancelMcpEnvironment', { ...about(own.id), as: planner });
});

test('deployments are listed newest first, in pages, with exactly the fields that are promised', async () => {
  const { id } = await createActive();
  for (let count = 0; count < 11; count++) await deploy(id);
  const first = await ok('listMcpDeployments', { ...about(id), query: { offset: '0' } });
  assert.deepEqual([first.deployments.length, first.hasMore], [10, true]);
  const all = await ok('listMcpDeployments', { ...about(id), query: { limit: '25' } });
  assert.deepEqual([all.deployments.length, all.hasMore], [12, false]);
  const rest = await ok('listMcpDeployments', { ...about(id), query: { offset: '10' } });
  assert.deepEqual([...first.deployments, ...rest.deployments], all.deployments);
  assert.equal(rest.hasMore, false);
  const exact = await ok('listMcpDeployments', { ...about(id), query: { limit: '12' } });
  assert.equal(exact.hasMore, false);
  const whole = await ok('listDeployments', about(id));
  const promised: readonly string[] = mcpListedFields;
  const parts = whole.map((each) =>
    Object.fromEntries(Object.entries(each).filter(([name]) => promised.includes(name))),
  );
  assert.deepEqual(all.deployments, parts);
  const ended = await ok('listMcpDeployments', { ...about(id), query: { statuses: 'SUCCESS,FAILURE' } });
  assert.deepEqual(
    ended.deployments.map(({ status, planSummary }) => [status, planSummary?.added]),
    [['SUCCESS', 1]],
  );
  for (const [query, message] of [
    [{ limit: '26' }, /^\/query\/limit must be <= 25/],
    [{ limit: '0' }, /^\/query\/limit must be >= 1/],
    [{ offset: '-1' }, /^\/query\/offset/],
    [{ statuses: 'DONE' }, /^\/query\/statuses/],
  ] as const)
    await refused('listMcpDeployments', 400, message, { ...about(id), query });
});

test('the error analysis names the failed step, with its lines and the error', async () => {
  const environment = await createEnvironment();
  const job = await agent.claim();
  await failPlan(job, 'Planning ...\nError: Unsupported argument\n  on main.tf line 7\n');
  const analysis = await ok('getMcpErrorAnalysis', about(environment.id));
  assert.deepEqual(
    [analysis.deploymentLogId, analysis.type, analysis.status, analysis.failedCommand],
    [environment.latestDeploymentLogId, 'deploy', 'FAILURE', 'terraform plan'],
  );
  assert.equal(analysis.error?.message, 'Unsupported argument');
  assert.deepEqual([analysis.failedStep?.name, analysis.failedStep?.status], ['tf:plan', 'FAIL']);
  assert.deepEqual([analysis.log?.stepName, analysis.log?.truncated], ['tf:plan', false]);
  assert.deepEqual(messagesOf(analysis.log), [
    'Planning ...',
    'Error: Unsupported argument',
    '  on main.tf line 7',
  ]);
  assert.deepEqual(fieldOf(analysis.diagnostics, 'text'), ['Unsupported argument']);
});

test('without an error, the analysis has no step and no log', async () => {
  for (const { id } of [await createActive(), await createIdle()]) {
    const { error, failedStep, log } = await ok('getMcpErrorAnalysis', about(id));
    assert.deepEqual({ error, failedStep, log }, { error: null, failedStep: null, log: null });
  }
});

test('a deployment has its steps, and the log of the failed or the requested one', async () => {
  const environment = await createEnvironment();
  const params = { deploymentLogId: environment.latestDeploymentLogId ?? '' };
  const job = await agent.claim();
  const running = await ok('getMcpDeployment', { params });
  assert.equal(running.log, null);
  assert.deepEqual(running.steps, await ok('listSteps', { params }));
  for (const [stepName, message] of [
    ['tf:plan', /^\/query\/stepName names the step "tf:plan", which has not started/],
    ['tf:nothing', /^\/query\/stepName is not a step of this deployment\. Its steps: git:clone, /],
  ] as const)
    await refused('getMcpDeployment', 400, message, { params, query: { stepName } });
  const git = [stepEvent('git:clone', 'IN_PROGRESS'), stepEvent('git:clone', 'SUCCESS')];
  await agent.report(job, {
    events: git,
    logs: [{ step: 'git:clone', offset: 0, base64: Buffer.from('cloned').toString('base64') }],
  });
  const cloned = await ok('getMcpDeployment', { params, query: { stepName: 'git:clone' } });
  assert.deepEqual([messagesOf(cloned.log), cloned.log?.truncated], [['cloned'], false]);
  await agent.report(job, { eventsFrom: 2, events: [stepEvent('tf:plan', 'FAIL')] });
  await agent.finish(job, plannedOutcome({ result: 'failed', error: { message: 'no' } }));
  for (const query of [undefined, { stepName: '' }]) {
    const failed = await ok('getMcpDeployment', { params, ...(query ? { query } : {}) });
    assert.equal(failed.log?.stepName, 'tf:plan');
    assert.deepEqual(failed.deployment, await deploymentOf(params.deploymentLogId));
  }
});

test('of a long log the end is shown, in whole lines', async () => {
  const environment = await createEnvironment();
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${'ü€'.repeat(9)}`);
  await failPlan(await agent.claim(), `${lines.join('\n')}\n`);
  const { log } = await ok('getMcpErrorAnalysis', about(environment.id));
  const shown = messagesOf(log) ?? [];
  assert.equal(log?.truncated, true);
  assert.deepEqual(shown, lines.slice(-shown.length));
  const bytes = Buffer.byteLength(shown.join('\n'));
  assert.ok(bytes > (mcpLogKilobytes - 1) * 1024 && bytes <= mcpLogKilobytes * 1024, String(bytes));
});

test('of an endless line the end is shown, without a cut character', async () => {
  const environment = await createEnvironment();
  await failPlan(await agent.claim(), `x${'€'.repeat(100_000)}`);
  const { log } = await ok('getMcpErrorAnalysis', about(environment.id));
  assert.match(messagesOf(log)?.join('|') ?? '', /^€+$/);
  assert.equal(log?.truncated, true);
});

test('the log of the plan is that of the latest deployment, once it has started to plan', async () => {
  const environment = await createEnvironment({ name: 'planning' });
  const job = await agent.claim();
  const early = await refused('getMcpPlanLog', 400, about(environment.id));
  assert.equal(
    early.message,
    'The latest deployment of environment "planning" is IN_PROGRESS and has not started to plan',
  );
  await agent.report(job, {
    events: [stepEvent('tf:plan', 'IN_PROGRESS')],
    logs: [{ step: 'tf:plan', offset: 0, base64: Buffer.from('one\ntw').toString('base64') }],
  });
  const { events, ...rest } = await ok('getMcpPlanLog', about(environment.id));
  assert.deepEqual(messagesOf({ events }), ['one']);
  assert.deepEqual(rest, {
    deploymentLogId: environment.latestDeploymentLogId,
    status: 'IN_PROGRESS',
    stepName: 'tf:plan',
    truncated: false,
  });
  await agent.finish(job, plannedOutcome());
});

test('without a plan, the log of the plan is a 404 that says why', async () => {
  const idle = await createIdle({ name: 'idle' });
  await refused('getMcpPlanLog', 404, 'Environment "idle" was never deployed', about(idle.id));
  const { id } = await createActive({ name: 'tasks' });
  await deploy(id, { deploymentType: 'task', taskPayload: 'true' });
  assert.equal(
    (await refused('getMcpPlanLog', 404, about(id))).message,
    'Environment "tasks" has no plan: its latest deployment is a task',
  );
});

test('every refusal below /api/mcp is its message as plain text', async () => {
  const { id } = await createIdle();
  const unknown = randomUUID();
  for (const [url, status, as, text] of [
    [`/api/mcp/environments/${unknown}`, 404, undefined, `No environment with id "${unknown}" was found`],
    [`/api/mcp/environments/${id}`, 401, null, /^[A-Z]/],
    ['/api/mcp/nothing', 404, undefined, /GET \/api\/mcp\/nothing/],
    ['/api/mcp', 404, undefined, /GET \/api\/mcp/],
    ['/api/mcp/environments?limit=x', 400, undefined, /^\/query\/limit must be/],
    ['/api/mcp/environments?name=a%00', 400, undefined, /^\/query\/name has a NUL character/],
  ] as const) {
    const response = await send({ url }, as);
    assert.equal(response.statusCode, status, response.body);
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8', url);
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.ok(response.headers['x-request-id']);
    if (typeof text === 'string') assert.equal(response.body, text);
    else assert.match(response.body, text);
  }
  const other = await send({ url: '/api/mcpx' });
  assert.equal(other.headers['content-type'], 'application/json; charset=utf-8');
  const wrongMethod = await send({ method: 'DELETE', url: `/api/mcp/environments/${id}` });
  assert.deepEqual([wrongMethod.statusCode, wrongMethod.headers.allow], [405, 'GET, HEAD, OPTIONS']);
  assert.match(wrongMethod.body, /^\/api\/mcp\/environments\/.* does not take DELETE/);
});

test('empty bodies of any content type are accepted, as published clients send them', async () => {
  const changes: readonly (readonly [OperationName, 'PUT' | 'POST', string, string])[] = [
    ['resumeMcpEnvironment', 'PUT', 'resume', 'IN_PROGRESS'],
    ['cancelMcpEnvironment', 'PUT', 'cancel', 'CANCELLED'],
  ];
  for (const [name, method, action, status] of changes) {
    await forgetWork();
    const { id } = await waiting();
    const response = await send({
      method,
      url: `/api/mcp/environments/${id}/${action}`,
      headers: { 'content-type': 'application/json', 'content-length': '0' },
    });
    assert.equal(response.statusCode, 200, `${name}: ${response.body}`);
    assert.equal(response.json<{ status: string }>().status, status);
  }
});
