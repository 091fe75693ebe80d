import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseTerraformPlan, type TerraformPlan } from './plan-json.ts';
import { policyPlan } from './policy-plan.ts';

test('a plan reaches policies as the tool shows it, without sensitive values', () => {
  const text = readFileSync(join(import.meta.dirname, '__fixtures__', 'destroy-1.11.4.plan.json'), 'utf8');
  const plan = parseTerraformPlan(text);
  const seen = policyPlan(plan);
  assert.deepEqual(Object.keys(seen).toSorted(), Object.keys(plan).toSorted());
  const addresses = (part: unknown) => (part as { address: string }[]).map(({ address }) => address);
  assert.deepEqual(addresses(seen['resource_changes']), addresses(plan.resource_changes));
  assert.ok(text.includes('correct horse') && !JSON.stringify(seen).includes('correct horse'));
});

test('what a tool marks as sensitive is hidden wherever it occurs', () => {
  const secret = 'very-secret';
  const change = (after: unknown, sensitive: unknown) => ({
    actions: ['update'],
    before: { password: secret, tags: { a: 'b' } },
    after,
    before_sensitive: { password: true },
    after_sensitive: sensitive,
  });
  const module = {
    resources: [
      { address: 'a.b', values: { password: secret, size: 1 }, sensitive_values: { password: true } },
    ],
  };
  const plan = {
    format_version: '1.2',
    terraform_version: '1.11.4',
    variables: { token: { value: secret }, size: { value: 3 }, other: { value: 'hidden by its block' } },
    resource_changes: [
      { address: 'a.b', change: change({ password: 'new-secret', copy: 'new-secret' }, { password: true }) },
      { address: 'a.c', change: change(null, false) },
    ],
    output_changes: {
      whole: { actions: ['create'], before: null, after: 'out-secret', after_sensitive: true },
    },
    planned_values: {
      outputs: { whole: { sensitive: true, value: 'out-secret' }, plain: { sensitive: false, value: 1 } },
      root_module: { child_modules: [{ address: 'module.x', ...module }] },
    },
    prior_state: { format_version: '1.0', values: { root_module: module } },
    configuration: { root_module: { variables: { token: { sensitive: true }, other: { sensitive: true } } } },
  };
  const seen = policyPlan(plan as unknown as TerraformPlan);
  const text = JSON.stringify(seen);
  for (const hidden of [secret, 'new-secret', 'out-secret', 'hidden by its block'])
    assert.ok(!text.includes(hidden), hidden);
  assert.deepEqual(seen['variables'], {
    token: { value: '(sensitive)' },
    size: { value: 3 },
    other: { value: '(sensitive)' },
  });
  const [first] = seen['resource_changes'] as { change: Record<string, unknown> }[];
  assert.deepEqual(first?.change['after'], { password: '(sensitive)', copy: '(sensitive)' });
  assert.deepEqual(first?.change['after_sensitive'], { password: true });
  assert.deepEqual((seen['planned_values'] as { outputs: unknown }).outputs, {
    whole: { sensitive: true, value: '(sensitive)' },
    plain: { sensitive: false, value: 1 },
  });
});

test('what is deferred, and what actions of providers get, is hidden where it is sensitive', () => {
  const invocation = {
    address: 'action.a.b',
    config_values: { pin: '123', name: 'plain' },
    config_sensitive: { pin: true },
  };
  const change = { actions: ['create'], before: null, after: { pin: '456' }, after_sensitive: { pin: true } };
  const plan = {
    format_version: '1.2',
    terraform_version: '1.14.0',
    action_invocations: [invocation],
    deferred_changes: [{ reason: 'unknown', resource_change: { address: 'a.b', change } }],
    deferred_action_invocations: [{ reason: 'unknown', action_invocation: invocation }],
  };
  const seen = policyPlan(plan as unknown as TerraformPlan);
  const shown = { ...invocation, config_values: { pin: '(sensitive)', name: 'plain' } };
  assert.deepEqual(seen['action_invocations'], [shown]);
  assert.deepEqual(seen['deferred_action_invocations'], [{ reason: 'unknown', action_invocation: shown }]);
  assert.ok(!/456|123/.test(JSON.stringify(seen)));
});
