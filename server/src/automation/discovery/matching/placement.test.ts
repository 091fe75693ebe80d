import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Placement, type PlacementRule, placementsOf, type SubProject } from './placement.ts';

const rule: PlacementRule = {
  projectId: 'top',
  environmentPlacement: 'topProject',
  workspaceNaming: 'default',
  rootPath: '',
  repository: 'https://git.example.com/team/network.git',
};
const nested: PlacementRule = { ...rule, environmentPlacement: 'existingSubProject' };
const named: PlacementRule = { ...rule, workspaceNaming: 'environmentName' };

const projects: readonly SubProject[] = [
  { id: 'p-other', parentId: 'elsewhere', name: 'prod' },
  { id: 'p-prod', parentId: 'top', name: 'prod' },
  { id: 'p-us', parentId: 'p-prod', name: 'us-east-1' },
  { id: 'p-dev', parentId: 'top', name: 'dev' },
];

const workspaceName = /^[A-Za-z0-9_][A-Za-z0-9._~$&+=:@-]{0,89}$/;

function placementOf(folder: string, by: PlacementRule, all: readonly SubProject[]): Placement {
  return placementsOf([folder], by, all).get(folder) ?? { reason: 'it has none' };
}

function workspaceOf(folder: string): string {
  const placement = placementOf(folder, named, []);
  return 'reason' in placement ? placement.reason : placement.workspaceName;
}

for (const [name, folder, changes, expected] of [
  ['the path', 'storage/a', {}, 'storage/a'],
  ['the path below rootPath', 'src/prod/storage/a', { rootPath: 'src/prod' }, 'storage/a'],
  ['the repository', '', {}, 'network'],
  ['rootPath', 'src/prod', { rootPath: 'src/prod' }, 'prod'],
  ['the repository at an ssh address', '', { repository: 'git@git.example.com:network.git' }, 'network'],
  ['the repository with slashes and a query', '', { repository: 'https://h/a/net.git///?x=/y' }, 'net'],
  ['the repository in a folder', '', { repository: '/srv/repositories/net' }, 'net'],
] as const)
  test(`an environment in the project itself is named after ${name}: ${JSON.stringify(folder)}`, () => {
    assert.deepEqual(placementOf(folder, { ...rule, ...changes }, projects), {
      projectId: 'top',
      name: expected,
      workspaceName: 'default',
    });
  });

for (const [folder, projectId, name] of [
  ['prod/us-east-1/prod/mysql', 'p-us', 'prod/mysql'],
  ['prod/eu/mysql', 'p-prod', 'eu/mysql'],
  ['prod/us-east-1', 'p-prod', 'us-east-1'],
  ['prod', 'top', 'prod'],
  ['', 'top', 'network'],
] as const)
  test(`an environment enters the sub-projects with the names of its folders: ${JSON.stringify(folder)}`, () => {
    const placement = placementOf(folder, nested, projects);
    assert.deepEqual(placement, { projectId, name, workspaceName: 'default' });
  });

test('a folder without a sub-project has a reason with what to create', () => {
  for (const folder of ['test/mysql', 'Prod/mysql', 'us-east-1/mysql'])
    assert.deepEqual(placementOf(folder, nested, projects), {
      reason: `the project has no sub-project "${folder.split('/')[0]}": create it for ${folder}, or set environmentPlacement to topProject`,
    });
});

test('folders outside of rootPath have no place', () => {
  for (const folder of ['src/production', 'src', ''])
    assert.match(
      JSON.stringify(placementOf(folder, { ...rule, rootPath: 'src/prod' }, [])),
      / is not below rootPath src\/prod/,
    );
});

test('names that an environment cannot have are refused with their reason', () => {
  const reasonOf = (folder: string, changes: Partial<PlacementRule> = {}) =>
    JSON.stringify(placementOf(folder, { ...rule, ...changes }, []));
  assert.match(reasonOf('a'.repeat(256)), /more than 255 characters/);
  assert.match(reasonOf('a'.repeat(255)), /"name"/);
  assert.match(reasonOf('a\u0001b'), /control characters/);
  assert.match(reasonOf(' '), /would be blank/);
  assert.match(reasonOf('', { repository: 'https://git.example.com/.git' }), /would be blank/);
});

test('workspaces are named after their environments', () => {
  assert.equal(workspaceOf('storage/environment0'), 'storage-environment0');
  assert.equal(workspaceOf('a b/c'), 'a-b-c');
  assert.match(workspaceOf('größe'), /^gr-e-[0-9a-f]{8}$/);
  assert.notEqual(workspaceOf('größe'), workspaceOf('gräße'));
  assert.match(workspaceOf('日本'), /^[0-9a-f]{8}$/);
  assert.match(workspaceOf('.hidden'), /^hidden-[0-9a-f]{8}$/);
  assert.match(workspaceOf('x'.repeat(200)), /^x{81}-[0-9a-f]{8}$/);
});

test('every name of a folder has a workspace that tools accept, always the same one', () => {
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
    .filter((text) => !text.includes('/'));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), (segments) => {
      const folder = segments.join('/');
      const placement = placementOf(folder, named, []);
      if ('reason' in placement) return;
      assert.equal(placement.name, folder);
      assert.match(placement.workspaceName, workspaceName);
      assert.deepEqual(placementOf(folder, named, []), placement);
    }),
  );
});

test('the first of two folders keeps a name or a workspace, and the other one has a reason that names it', () => {
  const placed = (folders: readonly string[], by: PlacementRule) =>
    [...placementsOf(folders, by, projects).values()].map((each) =>
      'reason' in each ? each.reason : 'placed',
    );
  assert.deepEqual(placed(['a/b', 'A/B', 'a/c'], rule), [
    'placed',
    'the environment of a/b gets the same name A/B: rename one of the folders',
    'placed',
  ]);
  assert.deepEqual(placed(['prod/db', 'dev/db'], nested), ['placed', 'placed']);
  const same = 'the environment of prod/db gets the same workspace db: rename one of the folders';
  assert.deepEqual(placed(['prod/db', 'dev/db'], { ...nested, workspaceNaming: 'environmentName' }), [
    'placed',
    `${same}, or set workspaceNaming to default`,
  ]);
  for (const other of ['a-b', 'A b'])
    assert.match(placed(['a/b', other], named)[1] ?? '', /of a\/b gets the same workspace/);
  assert.deepEqual(placed(['', 'network'], rule), [
    'placed',
    'the environment of the root of the repository gets the same name network: rename one of the folders',
  ]);
});

test('a folder that is refused takes no name', () => {
  const [refused, placed] = [
    ...placementsOf(['x/a', 'a'], { ...nested, projectId: 'p-dev' }, projects).values(),
  ];
  assert.ok(refused && 'reason' in refused);
  assert.deepEqual(placed, { projectId: 'p-dev', name: 'a', workspaceName: 'default' });
});
