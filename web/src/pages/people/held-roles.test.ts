import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldText, matrixOf } from './held-roles.ts';

test('a role says where it is assigned, and the team that gives it', () => {
  const role = { role: 'Deployer', roleName: 'Deployer', scopeId: 'p', scopeName: 'Shop' };
  assert.equal(heldText({ ...role, scope: 'project' }), 'Deployer in project Shop');
  assert.equal(
    heldText({ ...role, scope: 'organization', teamId: 't', teamName: 'Platform' }),
    'Deployer in the organization, by the team Platform',
  );
});

test('a person has one row with the roles of each project, those by teams among them', () => {
  const rows = matrixOf([
    { userId: 'ada', role: 'Admin', projectId: 'top' },
    { userId: 'bob', role: 'Viewer', projectId: 'shop', teamId: 'platform' },
    { userId: 'ada', role: 'Deployer', projectId: 'shop' },
    { userId: 'ada', role: 'Planner', projectId: 'shop', teamId: 'platform' },
  ]);
  assert.deepEqual(rows, [
    {
      userId: 'ada',
      cells: {
        top: [{ role: 'Admin', teamId: undefined }],
        shop: [
          { role: 'Deployer', teamId: undefined },
          { role: 'Planner', teamId: 'platform' },
        ],
      },
    },
    { userId: 'bob', cells: { shop: [{ role: 'Viewer', teamId: 'platform' }] } },
  ]);
});
