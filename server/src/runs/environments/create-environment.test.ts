import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { testAgent } from '../../../testing/agent.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import {
  createBody,
  createEnvironment,
  createIdle,
  deploy,
  deploymentOf,
  environmentOf,
} from '../../../testing/environment.ts';
import { fieldOf } from '../../../testing/fields.ts';

const app = await testApp();
const agent = await testAgent(app);

const counts = async () => {
  const { rows } = await app.database.pool.query(
    'select (select count(*) from environment) e, (select count(*) from template) t, (select count(*) from deployment) d, (select count(*) from variable) v, (select count(*) from audit_event) a',
  );
  return JSON.stringify(rows[0]);
};

/** A requirement of the interface specification: these fields are always there. */
const requiredOfEnvironment =
  `name organizationId projectId userId workspaceName user requiresApproval status latestDeploymentLogId latestDeploymentLog
  lifespanEndAt markedForAutoDestroy isArchived nextScheduledDates continuousDeployment pullRequestPlanDeployments autoDeployOnPathChangesOnly isRemoteBackend
  isLocked driftStatus`.split(/\s+/);
const requiredOfDeployment =
  `type startedBy queuedAt startedAt finishedAt output error costEstimation status blueprintId blueprintName blueprintRepository
  blueprintRevision blueprintPath blueprintType environmentId resourceCount startedByUser isScheduledRun abortedBy abortedByUser reviewersUsers reviewers`.split(
    /\s+/,
  );

test('a created environment has every required field, its template and its first deployment', async () => {
  covers('createEnvironmentWithoutTemplate');
  covers(
    'createEnvironmentWithoutTemplate',
    'body.name',
    'body.projectId',
    'body.organizationId',
    'body.repository',
    'body.type',
    'reply',
  );
  covers(
    'Environment',
    'name',
    'organizationId',
    'projectId',
    'userId',
    'user',
    'workspaceName',
    'latestDeploymentLogId',
    'latestDeploymentLog',
    'blueprintId',
    'id',
    'createdAt',
    'updatedAt',
    'isSingleUseBlueprint',
  );
  const created = await createEnvironment(app);
  assert.equal(created.status, 'CREATED');
  for (const view of [created, await environmentOf(app, created.id)]) {
    assert.deepEqual(
      requiredOfEnvironment.filter((field) => !(field in view)),
      [],
    );
    assert.deepEqual(
      requiredOfDeployment.filter((field) => !(field in view.latestDeploymentLog)),
      [],
    );
    assert.equal(view.workspaceName, `envarium${created.id.slice(-6)}`);
    assert.deepEqual(
      [view.userId, view.user.user_id, view.user.name],
      [app.admin.id, app.admin.id, 'First admin key'],
    );
    assert.deepEqual([view.lifespanEndAt, view.nextScheduledDates, view.markedForAutoDestroy], [null, {}, 0]);
    assert.equal(view.latestDeploymentLog.status, 'IN_PROGRESS');
    assert.deepEqual([view.id, view.isSingleUseBlueprint], [created.id, true]);
    assert.ok(Date.parse(view.updatedAt ?? '') >= Date.parse(view.createdAt ?? ''));
    assert.equal(view.latestDeploymentLogId, view.latestDeploymentLog.id);
  }
  const template = await ok(app, 'getTemplate', { id: created.blueprintId });
  assert.deepEqual(
    [template.isSingleUse, template.name, template.organizationId, template.retry],
    [true, 'single-use-template-for-network', app.organizationId, {}],
  );
  for (const absent of ['revision', 'path', 'terraformVersion', 'opentofuVersion'])
    assert.ok(!(absent in template), absent);
});

test('settings are returned as they were sent', async () => {
  // Settings that are only stored and shown are not covered: their effect comes with the feature that uses them.
  const settings = {
    workspaceName: 'given',
    requiresApproval: false,
    continuousDeployment: true,
    pullRequestPlanDeployments: true,
    autoDeployOnPathChangesOnly: false,
    isRemoteBackend: true,
    isRemoteApplyEnabled: true,
    vcsCommandsAlias: 'net',
    vcsPrCommentsEnabled: true,
    autoDeployByCustomGlob: 'a/**',
    k8sNamespace: 'ns',
    terragruntWorkingDirectory: 'live',
  };
  const value = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  });
  const sshKey = await ok(app, 'createSshKey', {
    body: { organizationId: app.organizationId, name: 'key', value },
  });
  const ofTemplate = {
    revision: 'main',
    path: 'modules/network',
    description: 'a network',
    terraformVersion: 'RESOLVE_FROM_TERRAFORM_CODE',
    retry: { onDeploy: { times: 2, errorRegex: 'timeout' } },
    tagPrefix: 'v',
    isGitLab: true,
    sshKeys: [{ id: sshKey.id, name: 'key' }],
    runTestsOnPullRequest: true,
    isTerragruntRunAll: false,
    tokenName: 'tn',
    githubInstallationId: 7,
    creationScope: 'PROJECT',
    creationScopeId: app.projectId,
  };
  const created = await createIdle(app, {
    ...settings,
    ...ofTemplate,
    bitbucketClientKey: null,
    vcsConnectionId: null,
    isSingleUse: true,
  });
  const found = await environmentOf(app, created.id);
  for (const [name, value] of Object.entries(settings))
    assert.deepEqual(found[name as keyof typeof found], value, name);
  const template = await ok(app, 'getTemplate', { id: created.blueprintId });
  for (const [name, value] of Object.entries(ofTemplate))
    assert.deepEqual(template[name as keyof typeof template], value, name);
  assert.deepEqual(
    [found.latestDeploymentLog.blueprintRevision, found.latestDeploymentLog.blueprintPath],
    ['main', 'modules/network'],
  );
});

test('the job of an agent matches the request', async () => {
  covers(
    'createEnvironmentWithoutTemplate',
    'body.path',
    'body.deployRequest',
    'body.isRemoteBackend',
    'body.workspaceName',
    'body.terraformVersion',
  );
  covers('DeployRequest', 'targets', 'comment', 'triggerName', 'gitUserData', 'blueprintRevision');
  const gitUserData = { gitUser: 'ada', gitAvatarUrl: 'https://example.com/a.png', prNumber: '7' };
  const first = await testApp();
  const created = await createEnvironment(first, {
    path: 'net',
    workspaceName: 'w',
    isRemoteBackend: true,
    terraformVersion: '1.11.4',
    deployRequest: {
      comment: 'first',
      triggerName: 'workflow',
      targets: 'a.b,module.c["x,y"]',
      gitUserData,
      blueprintRevision: 'v1',
      ttl: { type: 'HOURS', value: '2' },
    },
  });
  const job = await (await testAgent(first)).claim();
  assert.deepEqual(
    [job.source.repository, job.source.revision, job.source.path],
    ['https://git.example.com/network.git', 'v1', 'net'],
  );
  assert.deepEqual(
    [job.workspaceName, job.toolVersion, job.state.isForced, job.type, job.phase],
    ['w', '1.11.4', true, 'deploy', 'plan'],
  );
  assert.deepEqual(job.targets, ['a.b', 'module.c["x,y"]']);
  const log = created.latestDeploymentLog;
  assert.deepEqual(
    [log.comment, log.triggerName, log.gitUser, log.gitAvatarUrl, log.prNumber],
    ['first', 'workflow', ...Object.values(gitUserData)],
  );
  assert.deepEqual(log.targets, job.targets);
  assert.ok(created.lifespanEndAt !== null && Date.parse(created.lifespanEndAt) > Date.now() + 7_000_000);
});

test('the revision, repository and name of deployRequest apply to a new environment', async () => {
  covers('DeployRequest', 'blueprintRepository', 'blueprintRevision', 'envName');
  for (const preventAutoDeploy of [false, true]) {
    const first = await testApp();
    const created = await createEnvironment(first, {
      repository: 'https://ada:planted-token-2@git.example.com/network.git',
      revision: 'main',
      preventAutoDeploy,
      deployRequest: {
        blueprintRepository: 'https://git.example.com/other.git',
        blueprintRevision: 'v2',
        envName: 'renamed',
      },
    });
    for (const view of [created, await environmentOf(first, created.id)]) {
      const { blueprintRepository, blueprintRevision } = view.latestDeploymentLog;
      assert.deepEqual(
        [view.name, blueprintRepository, blueprintRevision],
        ['renamed', 'https://git.example.com/other.git', 'v2'],
      );
    }
    const template = await ok(first, 'getTemplate', { id: created.blueprintId });
    assert.deepEqual(
      [template.name, template.repository, template.revision],
      ['single-use-template-for-renamed', 'https://git.example.com/other.git', 'v2'],
    );
    if (preventAutoDeploy) continue;
    const { source } = await (await testAgent(first)).claim();
    assert.deepEqual(
      [source.repository, source.revision, source.credentials],
      ['https://git.example.com/other.git', 'v2', { username: 'ada', password: 'planted-token-2' }],
    );
  }
});

test("an agent gets the version of the environment's own tool", async () => {
  covers('createEnvironmentWithoutTemplate', 'body.opentofuVersion');
  const other = await testApp();
  await createEnvironment(other, {
    type: 'opentofu',
    opentofuVersion: 'RESOLVE_FROM_CODE',
    terraformVersion: '1.5.7',
  });
  const agent = await testAgent(other);
  await agent.register([], { tools: ['terraform', 'opentofu'] });
  const job = await agent.claim();
  assert.deepEqual([job.tool, job.toolVersion], ['opentofu', 'RESOLVE_FROM_CODE']);
});

test('an environment without a deployment has a placeholder', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.preventAutoDeploy');
  const created = await createIdle(app);
  assert.equal(created.status, 'NEVER_DEPLOYED');
  const found = await environmentOf(app, created.id);
  assert.deepEqual(
    [
      found.status,
      found.latestDeploymentLog.status,
      found.latestDeploymentLog.queuedAt,
      found.latestDeploymentLog.startedAt,
    ],
    ['NEVER_DEPLOYED', 'NEVER_DEPLOYED', null, null],
  );
  assert.equal(
    (await deploymentOf(app, found.latestDeploymentLogId ?? '')).blueprintRepository,
    'https://git.example.com/network.git',
  );
  assert.deepEqual(
    await ok(app, 'listSteps', { params: { deploymentLogId: found.latestDeploymentLogId ?? '' } }),
    [],
  );
  const statuses = async () =>
    (await ok(app, 'listDeployments', { id: created.id })).map(({ status }) => status);
  assert.deepEqual(await statuses(), ['NEVER_DEPLOYED']);
  await deploy(app, created.id);
  assert.deepEqual(await statuses(), ['IN_PROGRESS'], 'the placeholder leaves the list');
});

test('the lifetime of an environment is returned as its expiry date', async () => {
  covers('Environment', 'lifespanEndAt');
  const end = new Date(Date.now() + 86_400_000).toISOString();
  assert.equal((await createIdle(app, { ttl: { type: 'DATE', value: end } })).lifespanEndAt, end);
  assert.equal((await createIdle(app, { ttl: { type: 'INFINITE' } })).lifespanEndAt, null);
  const hours = Date.parse(
    (await createIdle(app, { ttl: { type: 'HOURS', value: '3' } })).lifespanEndAt ?? '',
  );
  assert.ok(Math.abs(hours - Date.now() - 3 * 3_600_000) < 60_000);
});

test('environments with scheduled drift runs differ from those without', async () => {
  assert.equal((await createIdle(app)).driftStatus, 'DISABLED');
  assert.equal(
    (await createIdle(app, { driftDetectionRequest: { enabled: true, cron: '0 3 * * *' } })).driftStatus,
    'NEVER_RUN',
  );
  assert.equal(
    (await createIdle(app, { driftDetectionRequest: { cron: '0 3 * * *' } })).driftStatus,
    'NEVER_RUN',
  );
  assert.equal(
    (await createIdle(app, { driftDetectionRequest: { enabled: false } })).driftStatus,
    'DISABLED',
  );
});

test('names may repeat, but generated workspace names are unique', async () => {
  const [one, two] = [await createIdle(app, { name: 'same' }), await createIdle(app, { name: 'same' })];
  assert.notEqual(one.workspaceName, two.workspaceName);
  const created = [
    await createIdle(app, { workspaceName: 'both' }),
    await createIdle(app, { workspaceName: 'both' }),
  ];
  assert.deepEqual(fieldOf(created, 'workspaceName'), ['both', 'both']);
});

/** Requests that name something that does not exist, each with the field that the refusal names. */
function unknownReferences(otherOrganization: string): [more: object, message: RegExp][] {
  const id = randomUUID();
  const organization = { creationScope: 'ORGANIZATION', creationScopeId: app.projectId };
  const project = { creationScope: 'PROJECT', creationScopeId: app.organizationId };
  return [
    [{ vcsConnectionId: id }, /\/body\/vcsConnectionId does not match/],
    [{ projectIds: [app.projectId, id] }, /\/body\/projectIds\/1 does not match any project/],
    [{ projectIds: ['x'] }, /\/body\/projectIds\/0 does not match any project/],
    [{ creationScopeId: id }, /\/body\/creationScopeId does not match/],
    [organization, /\/body\/creationScopeId must be the organizationId/],
    [{ ...organization, creationScopeId: otherOrganization }, /\/body\/creationScopeId must be/],
    [project, /\/body\/creationScopeId does not match a project/],
    [{ creationScope: 'PROJECT' }, /\/body\/creationScopeId is required/],
    [{ configurationSetChanges: { assign: [id] } }, /\/body\/configurationSetChanges\/assign\/0 does not/],
    ...(
      [
        [
          { configurationSetChanges: { assign: [id] } },
          /\/configurationSetChanges\/assign\/0 does not match/,
        ],
        [{ upstreamEnvironmentId: id }, /\/upstreamEnvironmentId does not match an environment/],
        [{ blueprintId: id }, /\/blueprintId does not match a template/],
        [{ workflowDeploymentId: id }, /\/workflowDeploymentId applies to workflow/],
        [{ subEnvironments: { net: {} } }, /\/subEnvironments applies to workflow/],
      ] as [object, RegExp][]
    ).map(([deployRequest, message]): [object, RegExp] => [
      { deployRequest },
      new RegExp(`/body/deployRequest${message.source}`),
    ]),
  ];
}

test('the job of a chart names the chart and its version, from a template and without one', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.isHelmRepository');
  const chart = { type: 'helm' as const, isHelmRepository: true, helmChartName: 'shop' };
  const without = await testApp();
  const repository = 'oci://registry.example.com/charts';
  await createEnvironment(without, { ...chart, repository, revision: '1.2.3' });
  const claimed = async (app: TestApp) => {
    const agent = await testAgent(app);
    await agent.register([], { tools: ['helm'] });
    return agent.claim();
  };
  const { source, tool } = await claimed(without);
  assert.deepEqual(
    [tool, source.repository, source.revision, source.chart],
    ['helm', repository, undefined, { name: 'shop', version: '1.2.3' }],
  );

  const shared = await testApp();
  const { organizationId, projectId } = shared;
  const { id: blueprintId } = await ok(shared, 'createTemplate', {
    body: {
      organizationId,
      projectIds: [projectId],
      name: 'shop',
      ...chart,
      repository: 'https://c.example.com',
    },
  });
  await ok(shared, 'createEnvironment', {
    body: { name: 'from a template', projectId, deployRequest: { blueprintId } },
  });
  const job = await claimed(shared);
  assert.deepEqual([job.source.repository, job.source.chart], ['https://c.example.com', { name: 'shop' }]);
});

test('a refused creation names the field, and writes nothing', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.tokenId', 'body.k8sNamespace', 'body.helmChartName');
  const before = await counts();
  const { id: elsewhere } = await ok(app, 'createOrganization', { body: { name: 'Elsewhere' } });
  const afterOrganization = await counts();
  assert.notEqual(before, afterOrganization);
  const refusals: [more: object, message: RegExp][] = [
    [{ type: 'workflow' }, /\/body\/type/],
    [{ organizationId: elsewhere }, /\/body\/organizationId/],
    [{ organizationId: 'no-uuid' }, /\/body\/organizationId/],
    [{ projectId: 'no-uuid' }, /\/body\/projectId/],
    [{ repository: 'ext::sh -c id' }, /\/body\/repository/],
    [{ repository: '-oProxyCommand=id' }, /\/body\/repository/],
    [{ repository: 'http://git.example.com/x.git' }, /\/body\/repository.*ENVARIUM_GIT_HTTP_HOSTS/],
    [{ repository: 'file:///etc' }, /\/body\/repository.*ENVARIUM_GIT_LOCAL_PATHS/],
    [{ repository: '/srv/repositories/../x' }, /\/body\/repository/],
    [{ repository: 'ssh://github.com/a/b.git' }, /\/body\/repository.*ssh user/],
    [{ revision: '--upload-pack=id' }, /\/body\/revision/],
    [{ path: '../../etc' }, /\/body\/path/],
    [{ path: '/../etc' }, /\/body\/path/],
    [{ path: '/a\\b' }, /\/body\/path/],
    ...[' ', '\t', '', 'a\nb', 'a\u001b[31m', 'a\u0085', '\u00a0'].map((name): [object, RegExp] => [
      { name },
      /\/body\/name must/,
    ]),
    [{ tokenId: 'unknown' }, /\/body\/tokenId/],
    [{ isRemoteApplyEnabled: true }, /\/body\/isRemoteApplyEnabled/],
    [{ driftDetectionRequest: { cron: 'daily' } }, /\/body\/driftDetectionRequest\/cron/],
    [{ ttl: { type: 'DATE', value: '2001-01-01T00:00:00Z' } }, /\/body\/ttl\/value has passed/],
    [{ ttl: { type: 'HOURS', value: '1e99' } }, /\/body\/ttl\/value/],
    [{ workspaceName: '..' }, /\/body\/workspaceName/],
    [{ type: 'helm', workspaceName: 'Shop_1' }, /\/body\/workspaceName is the name of the release/],
    [{ k8sNamespace: 'Team_A' }, /\/body\/k8sNamespace must be the name of a namespace/],
    [{ helmChartName: 'web' }, /\/body\/helmChartName applies to helm only/],
    [
      {
        configurationChanges: [
          { name: 'ok', value: 'v' },
          { name: 'TF_WORKSPACE', value: 'x' },
        ],
      },
      /TF_WORKSPACE/,
    ],
    ...['task', 'remotePlan', 'moduleTest', 'prPlan', 'driftDetection'].map(
      (deploymentType): [object, RegExp] => [
        { deployRequest: { deploymentType } },
        /\/body\/deployRequest\/deploymentType/,
      ],
    ),
    [{ deployRequest: { blueprintRevision: '-x' } }, /\/body\/deployRequest\/blueprintRevision/],
    [{ deployRequest: { blueprintRepository: 'ext::sh' } }, /\/body\/deployRequest\/blueprintRepository/],
    [{ deployRequest: { envName: ' ' } }, /\/body\/deployRequest\/envName/],
    ...unknownReferences(elsewhere),
  ];
  for (const [more, message] of refusals) {
    assert.match(
      (await refused(app, 'createEnvironmentWithoutTemplate', 400, { body: createBody(app, more) })).message,
      message,
      JSON.stringify(more),
    );
  }
  assert.equal(await counts(), afterOrganization);
});

test('credentials are removed from the address of a repository and sealed', async () => {
  const created = await createIdle(app, { repository: 'https://ada:planted-token-1@git.example.com/x.git' });
  assert.equal(
    (await ok(app, 'getTemplate', { id: created.blueprintId })).repository,
    'https://git.example.com/x.git',
  );
  await ok(app, 'deployEnvironment', { id: created.id });
  for (;;) {
    const job = await agent.claimAny();
    assert.ok(job, 'the job comes');
    if (job.environmentId !== created.id) continue;
    assert.deepEqual(
      [job.source.repository, job.source.credentials],
      ['https://git.example.com/x.git', { username: 'ada', password: 'planted-token-1' }],
    );
    assert.ok(job.secrets.includes('planted-token-1'));
    break;
  }
});
