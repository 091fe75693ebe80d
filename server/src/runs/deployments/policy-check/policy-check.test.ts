import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { commitPolicy, policyInput, says, startPolicyTests } from '../../../../testing/guarded.ts';
import { listRevisions } from '../../../code/repositories/git/open-repository.ts';
import { getTemplateRow } from '../../../rows/templates/template-store.ts';
import { fireTimers } from '../../schedules/fire-timers.ts';
import { testPolicy } from './test-policy.ts';

const tests = await startPolicyTests({ ENVARIUM_POLICY_TIME_LIMIT_SECONDS: '5' });
const { app, agent, repositories, test, organizationId, ok, refused, sql, add, createActive } = tests;
const { createIdle, deploy, deploymentOf, environmentOf, newPolicy, assign, guarded, plan, planned } = tests;
const { checked, logOf } = tests;

async function stepsOf(deploymentLogId: string): Promise<Record<string, string>> {
  const steps = await ok('listSteps', { params: { deploymentLogId } });
  return Object.fromEntries(steps.map(({ name, status }) => [name, status]));
}

test('a plan that a policy denies is cancelled with its messages', async () => {
  covers('Deployment', 'policyVerdicts');
  const { environment, policies } = await guarded([says('deny', 'not on Fridays')]);
  const { id, job, deployment } = await checked(environment.id);
  assert.deepEqual([job.isPolicyInputWanted, job.isApprovalSkipped], [true, undefined]);
  assert.equal(deployment.status, 'CANCELLED');
  assert.match(
    deployment.error?.message ?? '',
    /Approval policy "policy \d+" denies the plan: not on Fridays/,
  );
  const [verdict, ...others] = deployment.policyVerdicts ?? [];
  assert.deepEqual(others, []);
  const { hash, at, milliseconds, ...result } = verdict ?? {};
  assert.match(hash ?? '', /^[0-9a-f]{64}$/);
  assert.ok(at && milliseconds !== undefined);
  assert.deepEqual(result, {
    policyId: policies[0]?.id,
    policyName: policies[0]?.name,
    round: 1,
    decision: 'deny',
    messages: { deny: ['not on Fridays'], pending: [], allow: [], warn: [] },
    repository: policies[0]?.folder,
    path: 'policies',
    commit: policies[0]?.head,
  });
  const steps = await stepsOf(id);
  assert.deepEqual([steps['policy:check'], steps['approval:wait']], ['CANCELLED', 'NOT_STARTED']);
  assert.match(
    await logOf(id),
    /policy \d+ denies the plan \(commit [0-9a-f]{12}, \d+ ms\)\n {2}deny: not on Fridays/,
  );
  const listed = await ok('listApprovalPolicies', { query: { organizationId } });
  const entry = listed.find(({ policy }) => policy.id === policies[0]?.id);
  assert.equal(entry?.assignments[0]?.hash, hash);
});

test('a plan that a policy allows is applied without an approval, and its warnings are shown', async () => {
  const { environment } = await guarded([`${says('allow')}\nwarn contains "expensive"`], {
    requiresApproval: true,
  });
  const { id, deployment } = await checked(environment.id);
  assert.equal(deployment.status, 'IN_PROGRESS');
  assert.deepEqual(deployment.policyVerdicts?.[0]?.messages.warn, ['expensive']);
  const steps = await stepsOf(id);
  assert.deepEqual([steps['policy:check'], steps['approval:wait']], ['SUCCESS', 'SKIPPED']);
  assert.match(await logOf(id), /warn: expensive/);
  await agent.apply(await agent.claim());
  assert.equal((await deploymentOf(id)).status, 'SUCCESS');
});

test('a retry may not do more than policies have judged, also where no one approves', async () => {
  const retry = { onDeploy: { times: 1 } };
  const { environment } = await guarded([says('allow')], { retry });
  await checked(environment.id);
  const job = await agent.claim();
  assert.deepEqual(job.retry, { times: 1, isReviewed: true });
  await agent.apply(job);
});

test('a plan about which no policy says anything waits for a person', async () => {
  const { environment } = await guarded(['package envarium\nallow contains "no" if input.nothing'], {
    requiresApproval: false,
  });
  const { id, deployment } = await checked(environment.id);
  assert.deepEqual(
    [deployment.status, deployment.policyVerdicts?.[0]?.decision],
    ['WAITING_FOR_USER', 'none'],
  );
  await ok('approveDeployment', { id });
  await app.carryOutEffects();
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
  await agent.apply(await agent.claim());
  assert.deepEqual(fieldOf((await deploymentOf(id)).policyVerdicts, 'round'), [1, 2]);
});

test('policies are evaluated again after each approval, at the same commit, until enough people have approved', async () => {
  const two = `package envarium
pending contains sprintf("%d of 2", [count(input.approvers)]) if count(input.approvers) < 2
allow contains sprintf("%s after %s", [input.deploymentRequest.type, concat(", ", [a.name | some a in input.approvers])]) if count(input.approvers) > 1`;
  const { environment, policies } = await guarded([two]);
  const { id, deployment } = await checked(environment.id);
  assert.equal(deployment.status, 'WAITING_FOR_USER');
  const policy = policies[0];
  assert.ok(policy);
  commitPolicy(policy.folder, says('deny', 'changed since'));
  const people = await Promise.all([1, 2].map(() => app.addKey({ [organizationId]: 'Admin' })));
  const [first, second] = people;
  await ok('approveDeployment', { id, as: first });
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
  await refused('approveDeployment', 409, { id, as: second });
  await app.carryOutEffects();
  assert.deepEqual((await stepsOf(id))['approval:wait'], 'WAITING_FOR_USER');
  await ok('approveDeployment', { id, as: second });
  await app.carryOutEffects();
  const { status, policyVerdicts = [] } = await deploymentOf(id);
  assert.equal(status, 'IN_PROGRESS');
  assert.deepEqual(
    policyVerdicts.map(({ round, commit: at, decision, messages }) => [
      round,
      at,
      decision,
      ...messages.pending,
      ...messages.allow,
    ]),
    [
      [1, policy.head, 'pending', '0 of 2'],
      [2, policy.head, 'pending', '1 of 2'],
      [3, policy.head, 'allow', `deployResume after ${first?.id}, ${second?.id}`],
    ],
  );
  assert.equal((await stepsOf(id))['approval:wait'], 'SUCCESS');
  assert.match(await logOf(id), /After approval 1:\n.*\n {2}pending: 1 of 2\nAfter approval 2:/);
  await agent.apply(await agent.claim());
});

test('a configuration that changes while people decide holds for later deployments only', async () => {
  const { environment, policies } = await guarded([
    'package envarium\npending contains "more" if count(input.approvers) < input.policyConfiguration.approvers',
  ]);
  const [{ id: policyId, name, folder }] = policies as [(typeof policies)[0]];
  const configure = (approvers: number) =>
    ok('updateApprovalPolicy', {
      body: {
        id: policyId,
        name,
        repository: folder,
        path: 'policies',
        policyConfiguration: { approvers },
      },
    });
  await configure(2);
  const { id } = await checked(environment.id);
  await configure(1);
  await ok('approveDeployment', { id });
  await app.carryOutEffects();
  const { status, policyVerdicts } = await deploymentOf(id);
  assert.deepEqual(
    [status, fieldOf(policyVerdicts, 'decision')],
    ['WAITING_FOR_USER', ['pending', 'pending']],
  );
  await ok('cancelDeployment', { id });
});

test('however many policies decide about a plan, each is read and evaluated', async () => {
  const { project, policies, environment } = await guarded([says('allow')]);
  const [{ folder: repository }] = policies as [(typeof policies)[0]];
  // More repositories than may be read (4) and wait to be read (50) at once.
  for (let index = 0; index < 60; index++) {
    const body = { organizationId, name: `one of many ${index}`, repository, path: 'policies' };
    await assign((await ok('createApprovalPolicy', { body })).id, 'PROJECT', project.id);
  }
  const { deployment } = await checked(environment.id);
  assert.equal(deployment.status, 'IN_PROGRESS');
  assert.deepEqual(
    deployment.policyVerdicts?.map(({ decision }) => decision),
    Array.from({ length: 61 }, () => 'allow'),
  );
  await agent.apply(await agent.claim());
});

test('of several policies a denial counts first, then what is missing, then a permission', async () => {
  for (const [rules, status] of [
    [['allow', 'pending', 'deny'], 'CANCELLED'],
    [['allow', 'pending'], 'WAITING_FOR_USER'],
    [['allow', 'warn'], 'IN_PROGRESS'],
  ] as const) {
    const { environment } = await guarded(rules.map((rule) => says(rule)));
    const { id, deployment } = await checked(environment.id);
    assert.equal(deployment.status, status, rules.join());
    if (status === 'WAITING_FOR_USER') await ok('cancelDeployment', { id });
    if (status === 'IN_PROGRESS') await agent.apply(await agent.claim());
  }
});

test('policies of the organization, of projects above and of the template decide; of a destroy, too', async () => {
  const parent = await add('Project', 'above');
  const child = await add('Project', 'below', { parentProjectId: parent.id });
  const environment = await createIdle({ name: 'inherits', projectId: child.id });
  const ids = [];
  for (const [scope, scopeId] of [
    ['ORGANIZATION', organizationId],
    ['PROJECT', parent.id],
    ['BLUEPRINT', environment.blueprintId],
  ] as const) {
    const policy = await newPolicy(says('allow', scope));
    await assign(policy.id, scope, scopeId);
    ids.push(policy.id);
  }
  const { deployment } = await checked(environment.id);
  assert.deepEqual(
    deployment.policyVerdicts?.map(({ messages }) => messages.allow[0]),
    ['ORGANIZATION', 'PROJECT', 'BLUEPRINT'],
  );
  await agent.apply(await agent.claim());
  const destroy = await ok('destroyEnvironment', { id: environment.id });
  const job = await agent.claim();
  await agent.putBlob(job, 'policy-input', JSON.stringify(policyInput));
  await agent.finish(job, plannedOutcome());
  await app.carryOutEffects();
  assert.equal((await deploymentOf(destroy.id)).policyVerdicts?.length, 3);
  await agent.apply(await agent.claim(), []);
  for (const id of ids) await ok('deleteApprovalPolicy', { id });
  const after = await planned(environment.id);
  assert.equal(after.job.isPolicyInputWanted, undefined);
  await ok('cancelDeployment', { id: after.id });
});

test('a policy that cannot be read or compiled fails the run in its step', async () => {
  const broken = await guarded(['package envarium\ndeny contains "x" if http.send({})']);
  const { id, deployment } = await checked(broken.environment.id);
  assert.equal(deployment.status, 'FAILURE');
  assert.match(
    deployment.error?.message ?? '',
    /does not compile:\npolicy\.rego:2: undefined function http\.send/,
  );
  assert.equal((await stepsOf(id))['policy:check'], 'FAIL');
  assert.deepEqual(deployment.policyVerdicts?.[0]?.decision, 'error');
  const gone = await guarded([says('allow')]);
  rmSync(gone.policies[0]?.folder ?? '', { recursive: true });
  const failed = (await checked(gone.environment.id)).deployment;
  assert.equal(failed.status, 'FAILURE');
  assert.match(
    failed.error?.message ?? '',
    /Approval policy "policy \d+": The policy cannot be read: .*policy-\d+/,
  );
  const moved = await guarded([says('allow')]);
  const { id: policyId, name, folder } = moved.policies[0] ?? { id: '', name: '', folder: '' };
  await ok('updateApprovalPolicy', {
    body: { id: policyId, name, repository: folder, path: 'elsewhere', revision: 'main' },
  });
  assert.match(
    (await checked(moved.environment.id)).deployment.error?.message ?? '',
    /There is no folder "elsewhere" at this commit/,
  );
  await ok('updateApprovalPolicy', {
    body: { id: policyId, name, repository: folder, path: 'policies', revision: 'gone' },
  });
  assert.match((await checked(moved.environment.id)).deployment.error?.message ?? '', /revision "?gone/);
});

test('messages that the database cannot store, and very many of them, hold up nothing', async () => {
  const torn = `${'x'.repeat(1999)}😀`;
  const { environment } = await guarded([
    `package envarium
warn contains "a\\u0000b"
warn contains "${torn}"
deny contains msg if { some i in numbers.range(1, 200); msg := sprintf("%d%s", [i, "${'y'.repeat(1500)}"]) }`,
  ]);
  const { deployment } = await checked(environment.id);
  assert.equal(deployment.status, 'CANCELLED');
  assert.deepEqual(deployment.policyVerdicts?.[0]?.messages.warn, ['a\ufffdb', `${'x'.repeat(1999)}\ufffd…`]);
  const { message = '' } = deployment.error ?? {};
  assert.match(message, /denies the plan: 1/);
  assert.ok(message.length <= 10_001, `${message.length} characters`);
});

test('the input has what the service knows, and is printed on request', async () => {
  const { environment } = await guarded(['package envarium\nwarn contains json.marshal(input)'], {
    configurationChanges: [
      { name: 'ENVARIUM_PRINT_POLICY_INPUT', value: 'true', type: 0 },
      { name: 'REGION', value: 'eu', type: 0 },
      { name: 'TOKEN', value: 'planted-secret', type: 0, isSensitive: true },
    ],
  });
  const { id, deployment } = await checked(environment.id);
  const [warning = ''] = deployment.policyVerdicts?.[0]?.messages.warn ?? [];
  const input = JSON.parse(warning) as Record<string, Record<string, unknown>>;
  assert.deepEqual(input['plan'], policyInput.plan);
  assert.deepEqual(input['policyConfiguration'], {});
  assert.deepEqual(
    [input['deployerUser']?.['name'], input['template']?.['type']],
    ['First admin key', 'terraform'],
  );
  assert.deepEqual(input['deploymentRequest'], { type: 'deploy', triggerName: 'user', revision: '' });
  const variables = input['variables']?.['envarium'] as Record<string, string>;
  assert.equal(variables['REGION'], 'eu');
  assert.ok(!warning.includes('planted-secret'));
  assert.match(await logOf(id), /Input of the policies:\n\{\n {2}"deploymentRequest"/);
  await ok('cancelDeployment', { id });
});

test('the whole input is printed, however large it is', async () => {
  const value = 'x'.repeat(600_000);
  const { environment } = await guarded(['package envarium\nwarn contains "seen"'], {
    configurationChanges: [
      { name: 'ENVARIUM_PRINT_POLICY_INPUT', value: 'true', type: 0 },
      { name: 'FIRST', value, type: 1 },
      { name: 'SECOND', value, type: 1 },
    ],
  });
  const { id } = await checked(environment.id);
  const [, printed = ''] = /Input of the policies:\n(\{.*?\n\})\n/s.exec(await logOf(id)) ?? [];
  assert.ok(printed.length > 1_200_000, `${printed.length} characters`);
  assert.deepEqual((JSON.parse(printed) as { plan: unknown }).plan, policyInput.plan);
  await ok('cancelDeployment', { id });
});

test('no one hides from a policy behind a trigger or a name; only what no one starts is automated', async () => {
  const { environment } = await guarded([`${says('allow')}\nwarn contains json.marshal(input.deployerUser)`]);
  const params = { id: environment.id };
  const seen = async () => {
    await plan();
    await app.carryOutEffects();
    await agent.apply(await agent.claim());
    const { latestDeploymentLogId: id } = await environmentOf(environment.id);
    const [text = ''] = (await deploymentOf(id ?? '')).policyVerdicts?.[0]?.messages.warn ?? [];
    return JSON.parse(text) as unknown;
  };
  await deploy(environment.id, { triggerName: 'workflow' });
  assert.deepEqual(await seen(), { name: 'First admin key', email: '' });
  const key = await app.addKey({ [organizationId]: 'Admin' });
  await sql("update app_user set name = 'Envarium' where id = $1", key.id);
  await ok('deployEnvironment', { params, body: {}, as: key });
  assert.deepEqual(await seen(), { name: `Envarium (${key.id})`, email: `${key.id}@localhost` });
  await ok('updateEnvironmentSchedule', { params, body: { deploy: { cron: '* * * * *' } } });
  app.advance(61);
  await fireTimers(app.context);
  assert.deepEqual(await seen(), { name: 'envarium', email: '' });
  await ok('updateEnvironmentSchedule', { params, body: {} });
});

test('an abort while policies are evaluated ends the deployment, and a repeated effect changes nothing', async () => {
  const { environment } = await guarded([says('allow')]);
  const { id } = await planned(environment.id);
  // The evaluation has ended, as after failures of the effect, and still the abort ends it.
  await sql("update effect set due_at = 'infinity' where kind = 'evaluate-policies'");
  await ok('abortDeployment', { id });
  const aborted = await deploymentOf(id);
  assert.deepEqual([aborted.status, aborted.error?.message], ['ABORTED', 'The run was aborted']);
  assert.equal((await stepsOf(id))['policy:check'], 'CANCELLED');
  await sql("update effect set due_at = '-infinity' where kind = 'evaluate-policies'");
  await app.carryOutEffects();
  assert.equal((await deploymentOf(id)).status, 'ABORTED');
  const { id: again } = await planned(environment.id);
  const rows = await sql("select * from effect where kind = 'evaluate-policies'");
  assert.equal(rows.length, 1);
  await app.carryOutEffects();
  const [{ id: effectId, kind, payload, created_at: at }] = rows as [Record<string, unknown>];
  await sql(
    'insert into effect (id, kind, payload, created_at, due_at) values ($1, $2, $3, $4, $4)',
    effectId,
    kind,
    payload,
    at,
  );
  await app.carryOutEffects();
  const jobs = await sql('select id from job where deployment_id = $1', again);
  assert.equal(jobs.length, 2);
  await agent.apply(await agent.claim());
});

test('an old agent, and a plan that is read only', async () => {
  const { environment } = await guarded([says('deny')]);
  await deploy(environment.id);
  const job = await agent.claim();
  await agent.finish(job, plannedOutcome());
  await app.carryOutEffects();
  const { status, error } = await deploymentOf(job.deploymentId);
  assert.equal(status, 'FAILURE');
  assert.match(error?.message ?? '', /sent nothing for the policies: update it/);
  for (const deploymentType of ['prPlan', 'dryRun'] as const) {
    const { id, job: plan } = await planned(environment.id, { deploymentType });
    assert.equal(plan.isPolicyInputWanted, undefined, deploymentType);
    assert.equal((await deploymentOf(id)).status, 'SUCCESS');
    assert.ok(!('policy:check' in (await stepsOf(id))));
  }
});

test('a policy is tested against a stored deployment, which stays as it is', async () => {
  const environment = await createIdle({ name: 'tested' });
  const { id } = await deploy(environment.id);
  const change = { name: 'b', providerName: 'p', type: 'a', path: 'a.b', action: 'create' } as const;
  const plan = {
    resourceChanges: [{ ...change, attributes: [{ name: 'size', after: 3 }] }],
    outputChanges: [],
  };
  await agent.finish(await agent.claim(), plannedOutcome({ plan }));
  const files = new Map([
    [
      'policy.rego',
      `package envarium
deny contains sprintf("%s has size %d", [c.address, c.change.after.size]) if {
  some c in input.plan.resource_changes
  c.change.actions == ["create"]
  c.change.after.size > input.policyConfiguration.most
}`,
    ],
  ]);
  const { milliseconds, hash, ...result } = await testPolicy(app.context, id, {
    files,
    configuration: { most: 2 },
  });
  assert.ok(milliseconds >= 0 && hash);
  const messages = { deny: ['a.b has size 3'], pending: [], allow: [], warn: [] };
  assert.deepEqual(result, { decision: 'deny', messages, isPlanRebuilt: true });
  const broken = new Map([['policy.rego', 'package envarium\ndeny[']]);
  const failed = await testPolicy(app.context, id, { files: broken, configuration: {} });
  assert.deepEqual(
    [failed.decision, failed.error?.split('\n')[0]],
    ['error', 'The policy does not compile:'],
  );
  const { id: policyId, head } = await newPolicy(says('allow'));
  const policy = await getTemplateRow(app.context.db, policyId);
  assert.ok(policy);
  const read = await testPolicy(app.context, id, { policy });
  assert.deepEqual([read.decision, read.commit], ['allow', head]);
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
});

test('a policy that is assigned while a deployment is queued decides about it', async () => {
  const environment = await createIdle({ name: 'queued', requiresApproval: true });
  const first = await planned(environment.id);
  const { id } = await deploy(environment.id);
  const { id: policyId } = await newPolicy(says('deny', 'late'));
  await assign(policyId, 'BLUEPRINT', environment.blueprintId);
  await ok('cancelDeployment', { id: first.id });
  const job = await agent.claim();
  assert.equal(job.isPolicyInputWanted, true);
  await agent.putBlob(job, 'policy-input', JSON.stringify(policyInput));
  await agent.finish(job, plannedOutcome());
  await app.carryOutEffects();
  const { status, error } = await deploymentOf(id);
  assert.equal(status, 'CANCELLED');
  assert.match(error?.message ?? '', /late/);
  const steps = Object.keys(await stepsOf(id));
  assert.equal(steps.indexOf('policy:check') + 1, steps.indexOf('approval:wait'));
});

test('a plan without changes is skipped where the project wants that, unless a policy waits for more', async () => {
  for (const [rule, status] of [
    ['allow', 'SUCCESS'],
    ['warn', 'SUCCESS'],
    ['pending', 'WAITING_FOR_USER'],
    ['deny', 'CANCELLED'],
  ] as const) {
    const { project } = await guarded([]);
    // Only what was applied once is skipped.
    const environment = await createActive({ projectId: project.id });
    await assign((await newPolicy(says(rule))).id, 'PROJECT', project.id);
    const body = { projectId: project.id, skipApplyWhenPlanIsEmpty: true };
    await ok('updatePolicy', { body });
    const { id } = await deploy(environment.id);
    const job = await agent.claim();
    await agent.putBlob(job, 'policy-input', JSON.stringify(policyInput));
    await agent.finish(job, plannedOutcome({ hasChanges: false, hasResourceChanges: false }));
    await app.carryOutEffects();
    const deployment = await deploymentOf(id);
    assert.deepEqual(
      [deployment.status, deployment.isSkippedApply === true],
      [status, status === 'SUCCESS'],
      rule,
    );
  }
});

test('policies whose turn to be read has not come, or a server that stops, fail no deployment', async () => {
  const { environment, policies } = await guarded([says('allow')]);
  const { id } = await planned(environment.id);
  const source = { repository: policies[0]?.folder ?? '', httpHosts: [], localPaths: [repositories] };
  let isBusy = true;
  const reading = Array.from({ length: 60 }, async () => {
    while (isBusy)
      await listRevisions(app.context, source).catch(() => new Promise((resolve) => setImmediate(resolve)));
  });
  await app.carryOutEffects();
  isBusy = false;
  await Promise.all(reading);
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
  await sql("update effect set due_at = '-infinity' where kind = 'evaluate-policies'");
  app.stopping.abort();
  await app.carryOutEffects();
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
});
