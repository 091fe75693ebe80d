import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { placeOf, withToolbox } from '../../../../../tools/toolbox/places.ts';
import { testAgent } from '../../../../testing/agent.ts';
import { testApp } from '../../../../testing/app.ts';
import { call, ok, refused } from '../../../../testing/client.ts';
import { createActive } from '../../../../testing/environment.ts';

const app = await testApp({ ENVARIUM_OPA: placeOf('opa') ?? '/nowhere/opa' });
const agent = await testAgent(app);
const { organizationId, projectId } = app;
const needsOpa = withToolbox('opa');
after(() => app.stopping.abort());

const environment = await createActive(app, agent, { name: 'web' });
const deploymentId = environment.latestDeploymentLogId ?? '';
const files = {
  'policy.rego': 'package envarium\ndeny contains input.policyConfiguration.word if input.deployerUser',
};

test('files of a policy are evaluated against a deployment, with their configuration', needsOpa, async () => {
  const body = { deploymentId, files, policyConfiguration: { word: 'no' } };
  const said = await ok(app, 'testApprovalPolicy', { body });
  assert.deepEqual([said.decision, said.messages.deny], ['deny', ['no']]);
  const broken = { deploymentId, files: { 'policy.rego': 'package envarium\ndeny[' } };
  const failed = await ok(app, 'testApprovalPolicy', { body: broken });
  assert.equal(failed.decision, 'error');
  assert.match(failed.error ?? '', /does not compile/);
});

test('a policy of the organization is evaluated, also with another configuration', needsOpa, async () => {
  const policy = await ok(app, 'createApprovalPolicy', {
    body: {
      ...{ organizationId, name: 'costs', repository: catalogueRepository, path: 'monthly-cost-estimation' },
      policyConfiguration: { maxCostIncrease: 1 },
    },
  });
  const body = { deploymentId, policyId: policy.id };
  const said = await ok(app, 'testApprovalPolicy', { body });
  assert.deepEqual([said.decision, said.isPlanRebuilt], ['pending', true]);
  const other = await ok(app, 'testApprovalPolicy', { body: { ...body, policyConfiguration: {} } });
  assert.deepEqual([other.decision, other.messages.deny.length], ['deny', 1]);
});

test('who may not write policies may test those of the organization only, of environments that they see', async () => {
  const reader = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION'] }, [
    { organizationId, projectId, role: ['VIEW_PROJECT', 'VIEW_ENVIRONMENT'] },
  ]);
  await refused(app, 'testApprovalPolicy', 403, { body: { deploymentId, files }, as: reader });
  const stranger = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'CREATE_AND_EDIT_TEMPLATES'] });
  await refused(app, 'testApprovalPolicy', 403, { body: { deploymentId, files }, as: stranger });
});

test('what names no policy is refused by the name of the field', async () => {
  const message = async (body: object) => (await refused(app, 'testApprovalPolicy', 400, { body })).message;
  assert.match(await message({ deploymentId }), /\/body\/policyId or files is required/);
  assert.match(await message({ deploymentId, policyId: projectId }), /\/body\/policyId does not match any/);
});

test('very many tests at once are refused, and some of them wait their turn', needsOpa, async () => {
  const replies = await Promise.all(
    Array.from({ length: 60 }, () => call(app, 'testApprovalPolicy', { body: { deploymentId, files } })),
  );
  const statuses = replies.map(({ statusCode }) => statusCode);
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 503]);
  assert.ok(statuses.filter((status) => status === 200).length >= 20);
});
