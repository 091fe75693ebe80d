import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { catalogue } from '../../server/src/rules/approval-policies/evaluation/catalogue.ts';

const wanted = [
  'alb-secure-tls',
  'all-containers-must-have-resource-limits',
  'deny-public-s3-buckets',
  'disallow-unrestricted-ssh-ingress',
  'ebs-volumes-must-be-encrypted',
  'efs-encryption-required',
  'iam-password-policy-complexity',
  'iam-policies-must-not-contain-wildcard-actions',
  'monthly-cost-estimation',
  'prohibit-default-vpc',
  'prohibit-gcp-primitive-roles',
  'rds-instances-must-not-be-publicly-accessible',
  'restrict-container-images-to-specific-registry',
  'restrict-creation-of-expensive-instance-types',
  's3-server-side-encryption',
];
const categories = ['Security', 'Networking', 'IAM', 'Compliance', 'Cost', 'Performance'];

test('the catalogue has its fifteen policies, each described completely', () => {
  assert.deepEqual(
    catalogue().map(({ path }) => path),
    wanted,
  );
  for (const policy of catalogue()) {
    for (const field of ['name', 'description', 'explanation', 'cloudProvider', 'terraformVersions'] as const)
      assert.ok(policy[field].length > 0, `${policy.path} lacks ${field}`);
    assert.ok(policy.categories.length > 0 && policy.categories.every((each) => categories.includes(each)));
    assert.ok(policy.tags.length > 0, `${policy.path} lacks tags`);
    assert.match(policy.files['policy.rego'] ?? '', /^package envarium\n/);
    const texts = Object.values(policy.files).join('\n');
    assert.equal([...texts.matchAll(/^allow\b/gm)].length, 1, `${policy.path} has one rule that allows`);
  }
});

test('every setting that a policy reads is in the schema of its configuration', () => {
  for (const { path, files, configurationSchema } of catalogue()) {
    const text = Object.values(files).join('\n');
    const read = [...text.matchAll(/setting\("(\w+)"|[(\s]configuration\.(\w+)/g)].map(
      ([, a, b]) => a ?? b ?? '',
    );
    const { properties = {} } = (configurationSchema ?? {}) as { properties?: Record<string, unknown> };
    assert.deepEqual([...new Set(read)].toSorted(), Object.keys(properties).toSorted(), path);
    assert.doesNotThrow(() => new Ajv2020().compile(configurationSchema ?? {}), path);
  }
});
