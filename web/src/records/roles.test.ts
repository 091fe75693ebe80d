import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roleChoices, roleName } from './roles.ts';

const releaser = {
  id: 'r-1',
  organizationId: 'o-1',
  name: 'Releaser',
  permissions: ['RUN_PLAN' as const, 'RUN_APPLY' as const],
  isDefaultRole: false,
};

test('a custom role is called by its name, a built-in one by its own', () => {
  assert.equal(roleName('r-1', [releaser]), 'Releaser');
  assert.equal(roleName('Deployer', [releaser]), 'Deployer');
  assert.equal(roleName('deleted', []), 'deleted');
});

test('built-in roles of the place and custom ones can be chosen', () => {
  const [builtIn, own] = roleChoices('project', [releaser]);
  assert.deepEqual(
    builtIn?.items.map(({ value }) => value),
    ['Admin', 'Deployer', 'Planner', 'Viewer'],
  );
  assert.deepEqual(own?.items, [{ value: 'r-1', label: 'Releaser' }]);
});
