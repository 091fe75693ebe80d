import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { policyFlags } from '#contract/project-policies/policy-flags.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, add } = await startTests();

const getPolicy = (projectId: string) => ok('getPolicy', { query: { projectId } });

test('a project whose policy was never changed has the default one', async () => {
  const policy = await getPolicy(app.projectId);
  const { id, projectId, organizationId, updatedBy, ...settings } = policy;
  assert.deepEqual(
    [id, projectId, organizationId, updatedBy !== ''],
    [app.projectId, app.projectId, app.organizationId, true],
  );
  assert.deepEqual(settings, {
    numberOfEnvironments: null,
    numberOfEnvironmentsTotal: null,
    maxTtl: 'inherit',
    defaultTtl: 'inherit',
    ...Object.fromEntries(policyFlags.map((name) => [name, name === 'requiresApprovalDefault'])),
    driftDetectionEnabled: false,
    driftDetectionCron: '',
    autoDriftRemediation: 'DISABLED',
    isSelfApprovalForbidden: false,
  });
});

test('an update replaces the whole policy, and is in the audit trail', async () => {
  covers(
    'updatePolicy',
    'body.requiresApprovalDefault',
    'body.includeCostEstimation',
    'body.skipApplyWhenPlanIsEmpty',
    'body.disableDestroyEnvironments',
    'body.forceCheckoutOnTtlDestroy',
    'body.skipRedundantDeployments',
    'body.continuousDeploymentDefault',
    'body.runPullRequestPlanDefault',
    'body.vcsPrCommentsEnabledDefault',
    'body.forceRemoteBackend',
    'body.outputsAsInputsEnabled',
    'body.projectId',
    'body.numberOfEnvironments',
    'body.numberOfEnvironmentsTotal',
    'body.maxTtl',
    'body.defaultTtl',
    'body.driftDetectionEnabled',
    'body.driftDetectionCron',
    'body.autoDriftRemediation',
  );
  const { id: projectId } = await add('Project', 'with a policy');
  const requested = {
    projectId,
    numberOfEnvironments: 3,
    numberOfEnvironmentsTotal: 30,
    maxTtl: '4-d',
    defaultTtl: '14-h',
    ...Object.fromEntries(policyFlags.map((name) => [name, true])),
    driftDetectionEnabled: true,
    driftDetectionCron: '0 4 * * *',
    autoDriftRemediation: 'CODE_TO_CLOUD' as const,
  };
  const stored = await ok('updatePolicy', { body: requested });
  const { id, organizationId, updatedBy, ...shown } = stored;
  assert.deepEqual([id, organizationId, updatedBy], [projectId, app.organizationId, 'admin']);
  assert.deepEqual(shown, { ...requested, isSelfApprovalForbidden: false });
  assert.deepEqual(await getPolicy(projectId), stored);
  await ok('updatePolicy', { body: { projectId, requiresApprovalDefault: true } });
  const { maxTtl, defaultTtl, numberOfEnvironments, outputsAsInputsEnabled, requiresApprovalDefault } =
    await getPolicy(projectId);
  assert.deepEqual(
    [maxTtl, defaultTtl, numberOfEnvironments, outputsAsInputsEnabled, requiresApprovalDefault],
    [null, null, null, false, true],
  );
  const events = await ok('listAuditEvents', {
    query: { organizationId: app.organizationId, action: 'project.policyUpdated' },
  });
  assert.deepEqual(fieldOf(events.events, 'entityId'), [projectId, projectId]);
});

test('a policy that a project cannot have is refused by field', async () => {
  const { projectId } = app;
  for (const [body, field] of [
    [{ projectId, maxTtl: '4-y' }, /maxTtl/],
    [{ projectId, defaultTtl: 'inherit or not' }, /defaultTtl/],
    [{ projectId, numberOfEnvironments: -1 }, /numberOfEnvironments/],
    [{ projectId, maxTtl: '1-d', defaultTtl: '2-d' }, /\/body\/defaultTtl 2-d is longer than maxTtl 1-d/],
    [{ projectId, maxTtl: '999999-M' }, /\/body\/maxTtl 999999-M is too long/],
    [{ projectId, maxTtl: 'inherit' }, /\/body\/defaultTtl must be inherit, too/],
    [{ projectId, maxTtl: '1-d', defaultTtl: 'inherit' }, /\/body\/maxTtl must be inherit, too/],
    [{ projectId, driftDetectionEnabled: true }, /\/body\/driftDetectionCron is required/],
    [{ projectId, driftDetectionCron: '0 0 31 2 *' }, /\/body\/driftDetectionCron .* never comes/],
    [{ projectId, driftDetectionCron: '* * * * * *' }, /\/body\/driftDetectionCron .* five fields/],
    [{ projectId: '00000000-0000-7000-8000-000000000000' }, /projectId/],
  ] as const)
    await refused('updatePolicy', 400, field, { body });
});

test('a setting that clients of the interface do not know outlives their updates, until it is changed', async () => {
  covers('updatePolicy', 'body.selfApprovalForbidden');
  const { id: projectId } = await add('Project', 'four eyes');
  const put = async (body: object) =>
    (await ok('updatePolicy', { body: { projectId, ...body } })).selfApprovalForbidden;
  assert.equal(await put({}), undefined);
  assert.equal(await put({ selfApprovalForbidden: true }), true);
  assert.equal(await put({ requiresApprovalDefault: true }), true);
  assert.equal(await put({ selfApprovalForbidden: false }), false);
  assert.equal(await put({}), false);
  assert.equal(await put({ selfApprovalForbidden: null }), undefined);
  const { events } = await ok('listAuditEvents', {
    query: { organizationId: app.organizationId, action: 'project.policyUpdated' },
  });
  const last = events.filter(({ entityId }) => entityId === projectId);
  assert.match(JSON.stringify(last), /selfApprovalForbidden/);
  await refused('updatePolicy', 400, { body: { projectId, selfApprovalForbidden: 'yes' as never } });
});
