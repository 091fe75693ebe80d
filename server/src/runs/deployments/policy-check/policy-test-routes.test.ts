import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { placeOf, withToolbox } from '../../../../../tools/toolbox/places.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const tests = await startAgentTests({ ENVARIUM_OPA: placeOf('opa') ?? '/nowhere/opa' });
const { app, organizationId, projectId, call, ok, refused, keyFor, createActive } = tests;
const needsOpa = withToolbox('opa');
after(() => app.stopping.abort());

const environment = await createActive({ name: 'web' });
const deploymentId = environment.latestDeploymentLogId ?? '';
const files = {
  'policy.rego': 'package envarium\ndeny contains input.policyConfiguration.word if input.deployerUser',
};

test('files of a policy are evaluated against a deployment, with their configuration', needsOpa, async () => {
  const body = { deploymentId, files, policyConfiguration: { word: 'no' } };
  const result = await ok('testApprovalPolicy', { body });
  assert.deepEqual([result.decision, result.messages.deny], ['deny', ['no']]);
  const broken = { deploymentId, files: { 'policy.rego': 'package envarium\ndeny[' } };
  const failed = await ok('testApprovalPolicy', { body: broken });
  assert.equal(failed.decision, 'error');
  assert.match(failed.error ?? '', /does not compile/);
});

test('a policy of the organization is evaluated, also with another configuration', needsOpa, async () => {
  const policy = await ok('createApprovalPolicy', {
    body: {
      ...{ organizationId, name: 'costs', repository: catalogueRepository, path: 'monthly-cost-estimation' },
      policyConfiguration: { maxCostIncrease: 1 },
    },
  });
  const body = { deploymentId, policyId: policy.id };
  const result = await ok('testApprovalPolicy', { body });
  assert.deepEqual([result.decision, result.isPlanRebuilt], ['pending', true]);
  const other = await ok('testApprovalPolicy', { body: { ...body, policyConfiguration: {} } });
  assert.deepEqual([other.decision, other.messages.deny.length], ['deny', 1]);
});

test('who may not write policies may test those of the organization only, of environments that they see', async () => {
  const reader = await keyFor(['VIEW_PROJECT', 'VIEW_ENVIRONMENT'], { projectId }, ['VIEW_ORGANIZATION']);
  await refused('testApprovalPolicy', 403, { body: { deploymentId, files }, as: reader });
  const member = await app.addKey({ [organizationId]: ['VIEW_ORGANIZATION', 'CREATE_AND_EDIT_TEMPLATES'] });
  await refused('testApprovalPolicy', 403, { body: { deploymentId, files }, as: member });
});

test('what names no policy is refused by the name of the field', async () => {
  const message = async (body: object) => (await refused('testApprovalPolicy', 400, { body })).message;
  assert.match(await message({ deploymentId }), /\/body\/policyId or files is required/);
  assert.match(await message({ deploymentId, policyId: projectId }), /\/body\/policyId does not match any/);
});

test('very many tests at once are refused, and some of them wait their turn', needsOpa, async () => {
  const replies = await Promise.all(
    Array.from({ length: 60 }, () => call('testApprovalPolicy', { body: { deploymentId, files } })),
  );
  const statuses = replies.map(({ statusCode }) => statusCode);
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 503]);
  assert.ok(statuses.filter((status) => status === 200).length >= 20);
});
