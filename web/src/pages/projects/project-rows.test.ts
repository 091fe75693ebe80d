import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '#contract/project-policies/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { pathOf, treeOf } from '../../forms/project-tree.ts';
import { holdersOf } from './holders.ts';
import { policyBody, policyErrors, policyValues, ttlOptions } from './policy-fields.ts';
import { openAtFirst, shownTree, visibleNodes } from './shown-tree.ts';

const project = (id: string, parentProjectId?: string, hierarchy = id) =>
  ({ id, name: id, description: '', tags: [], parentProjectId, hierarchy }) as unknown as Project;
const all = [project('b'), project('a'), project('a1', 'a', 'a|a1'), project('x', 'hidden', 'hidden|x')];

test('the tree is sorted, and what is below a project that one may not see is at the top', () => {
  assert.deepEqual(
    treeOf(all).map((node) => [node.project.id, node.children.map((child) => child.project.id)]),
    [
      ['a', ['a1']],
      ['b', []],
      ['x', []],
    ],
  );
  assert.equal(pathOf(all, 'a1'), 'a / a1');
  assert.equal(pathOf(all, 'x'), 'x');
});

test('a search shows what it finds with what is above it', () => {
  const nodes = shownTree(all, 'A1');
  assert.deepEqual(
    visibleNodes(nodes, openAtFirst(nodes)).map((node) => [node.project.id, node.depth]),
    [
      ['a', 0],
      ['a1', 1],
    ],
  );
  assert.deepEqual(visibleNodes(nodes, new Set()).length, 1);
});

test('roles say whether they are from here, from further up or from a team', () => {
  const user = { organizationId: 'o', isProjectArchived: false, role: 'Viewer' };
  const rows = holdersOf(
    [
      { ...user, userId: 'u', projectId: 'top' },
      { ...user, userId: 'v', projectId: 'here', teamId: 't' },
    ],
    [{ id: '1', teamId: 't', role: 'Admin', organizationId: 'o', projectId: 'here' }],
    new Map([['t', 'Team']]),
    'here',
  );
  assert.deepEqual(
    rows.map(({ name, isHere, viaTeam }) => [name, isHere, viaTeam]),
    [
      ['Team', true, undefined],
      ['v', true, 'Team'],
      ['u', false, undefined],
    ],
  );
});

test('a policy is sent as a whole, and its limits are checked', () => {
  const policy = {
    outputsAsInputsEnabled: true,
    numberOfEnvironments: 3,
    numberOfEnvironmentsTotal: null,
    maxTtl: '5-d',
  };
  const values = policyValues(policy as unknown as Policy);
  const body = policyBody('p', values);
  assert.deepEqual(
    [body.outputsAsInputsEnabled, body.numberOfEnvironments, body.numberOfEnvironmentsTotal],
    [true, 3, null],
  );
  assert.deepEqual([body.maxTtl, body.defaultTtl], ['5-d', null]);
  assert.equal(ttlOptions('5-d').at(-1)?.label, '5 days');
  assert.deepEqual(
    Object.keys(policyErrors({ ...values, numberOfEnvironments: '-1', driftDetectionCron: '* *' })),
    ['numberOfEnvironments', 'driftDetectionCron'],
  );
});
