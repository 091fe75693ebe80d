import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { startTests } from '../../../../testing/start.ts';

const { organizationId, ok, refused } = await startTests();
let count = 0;

const bodyOf = (path: string, more: object = {}) => ({
  ...{ organizationId, name: `policy ${++count}`, repository: catalogueRepository, path },
  ...more,
});

test('the catalogue is listed with explanations, schemas and code', async () => {
  const policies = await ok('listCataloguePolicies', {});
  assert.equal(policies.length, 15);
  const costs = policies.find(({ path }) => path === 'monthly-cost-estimation');
  assert.deepEqual(costs?.configurationSchema?.required, ['maxCostIncrease']);
  assert.match(costs?.files['policy.rego'] ?? '', /^package envarium$/m);
});

test('a policy of the catalogue needs no repository of its own', async () => {
  const body = bodyOf('deny-public-s3-buckets', { policyConfiguration: { requireApproval: true } });
  const policy = await ok('createApprovalPolicy', { body });
  assert.equal(policy.repository, catalogueRepository);
  const changed = await ok('updateApprovalPolicy', {
    body: {
      id: policy.id,
      name: policy.name,
      repository: catalogueRepository,
      path: 'efs-encryption-required',
    },
  });
  assert.deepEqual([changed.path, changed.policyConfiguration], ['efs-encryption-required', undefined]);
});

for (const [what, body, message] of [
  [
    'a folder that it lacks',
    bodyOf('../server'),
    /\/body\/path must be a policy of the catalogue: alb-secure-tls/,
  ],
  ['a revision', bodyOf('alb-secure-tls', { revision: 'v1' }), /\/body\/revision must be absent/],
  [
    'a missing setting',
    bodyOf('monthly-cost-estimation'),
    /\/body\/policyConfiguration must have required property/,
  ],
  [
    'a setting of the wrong kind',
    bodyOf('monthly-cost-estimation', { policyConfiguration: { maxCostIncrease: 0 } }),
    /\/body\/policyConfiguration\/maxCostIncrease must be >= 1, as monthly-cost-estimation requires/,
  ],
  [
    'an unknown setting',
    bodyOf('alb-secure-tls', { policyConfiguration: { ciphers: [] } }),
    /\/body\/policyConfiguration has the property "ciphers", which alb-secure-tls does not know/,
  ],
] as const)
  test(`of the catalogue, ${what} is refused by the name of the field`, async () => {
    await refused('createApprovalPolicy', 400, message, { body });
  });

test('a template of another type cannot name the catalogue', async () => {
  const body = { organizationId, name: 'x', type: 'terraform', repository: catalogueRepository } as const;
  await refused('createTemplate', 400, /uses "envarium", which is not allowed/, { body });
});
