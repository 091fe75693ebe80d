import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import { rights } from '#contract/schema/enumerations.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { ok, type Reply, refused } from '../../../testing/client.ts';
import { createIdle } from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { addPerson, TestBrowser } from '../../../testing/person.ts';
import { loadAccess } from '../../framework/access/load-access.ts';
import type { Place } from '../../rows/places.ts';
import type { FirstKey } from '../../start/bootstrap.ts';

let app: TestApp;
let places: { query: Record<string, string>; place: Place }[];
let ids: { outer: string; inner: string; second: string; inInner: string; inSecond: string };

before(async () => {
  app = await testApp();
  const { organizationId } = app;
  const project = (name: string, parentProjectId?: string) =>
    ok(app, 'createProject', { body: { organizationId, name, parentProjectId } });
  const outer = await project('outer');
  const inner = await project('inner', outer.id);
  const second = await project('second');
  const inInner = await createIdle(app, { name: 'in-inner', projectId: inner.id });
  const inSecond = await createIdle(app, { name: 'in-second', projectId: second.id });
  ids = {
    outer: outer.id,
    inner: inner.id,
    second: second.id,
    inInner: inInner.id,
    inSecond: inSecond.id,
  };
  const nowhere = { organizationId, projectId: null, environmentId: null };
  places = [
    { query: { organizationId }, place: nowhere },
    ...[outer, inner, second].map(({ id }) => ({
      query: { projectId: id },
      place: { ...nowhere, projectId: id },
    })),
    ...[inInner, inSecond].map(({ id, projectId }) => ({
      query: { environmentId: id },
      place: { ...nowhere, projectId, environmentId: id },
    })),
  ];
});

type Explained = Reply<'explainPermissions'>;
const explain = (query: Record<string, string>, as?: FirstKey): Promise<Explained> =>
  ok(app, 'explainPermissions', { query, ...(as ? { as } : {}) });

const givers = ({ rights: held }: Explained, right: string) =>
  (held.find((each) => each.right === right)?.from ?? []).map(({ roleName, scope, scopeName, teamName }) =>
    [roleName, scope, scopeName, ...(teamName === undefined ? [] : [teamName])].join(' '),
  );

test('each right names every role that gives it: own, by a team, inherited, in the organization', async () => {
  const { organizationId } = app;
  const custom = await ok(app, 'createRole', {
    body: { organizationId, name: 'Launcher', permissions: ['RUN_PLAN', 'VIEW_AUDIT_LOGS'] },
  });
  const as = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: ids.outer, role: 'Viewer' },
    { organizationId, projectId: ids.second, role: 'Admin' },
    { organizationId, environmentId: ids.inInner, role: 'Deployer' },
  ]);
  const team = await ok(app, 'createTeam', { body: { organizationId, name: 'platform' } });
  await ok(app, 'updateTeam', { id: team.id, body: { userIds: [as.id] } });
  const body = { teamId: team.id, projectId: ids.inner, role: custom.id };
  await ok(app, 'assignTeamRole', { body });

  const inEnvironment = await explain({ environmentId: ids.inInner }, as);
  assert.deepEqual(
    [
      inEnvironment.userId,
      inEnvironment.organizationId,
      inEnvironment.projectId,
      inEnvironment.environmentId,
    ],
    [as.id, organizationId, ids.inner, ids.inInner],
  );
  assert.deepEqual(givers(inEnvironment, 'RUN_PLAN'), [
    'Launcher project inner platform',
    'Deployer environment in-inner',
  ]);
  assert.deepEqual(givers(inEnvironment, 'VIEW_ENVIRONMENT'), [
    'Viewer project outer',
    'Deployer environment in-inner',
  ]);
  assert.deepEqual(givers(inEnvironment, 'RUN_APPLY'), ['Deployer environment in-inner']);
  assert.deepEqual(givers(inEnvironment, 'EDIT_PROJECT_SETTINGS'), []);
  assert.deepEqual(fieldsOf(inEnvironment.roles, 'role', 'scopeId', 'teamId'), [
    ['User', organizationId, undefined],
    ['Viewer', ids.outer, undefined],
    [custom.id, ids.inner, team.id],
    ['Deployer', ids.inInner, undefined],
  ]);
  assert.deepEqual(givers(await explain({ projectId: ids.inner }, as), 'RUN_APPLY'), []);
  assert.deepEqual(givers(await explain({ projectId: ids.outer }, as), 'RUN_PLAN'), []);
});

test('an Admin of the organization has every right everywhere, by that role', async () => {
  const name = (await ok(app, 'getOrganization', { id: app.organizationId })).name;
  for (const { query } of places) {
    const explained = await explain(query);
    assert.deepEqual(fieldOf(explained.rights, 'right'), [...rights]);
    for (const right of rights)
      assert.deepEqual(givers(explained, right), [`Admin organization ${name}`], right);
  }
});

test('a person with a session asks about itself, also without the right to see the place', async () => {
  const { organizationId } = app;
  const blind = await app.addKey({ [organizationId]: [] });
  assert.deepEqual((await explain({ organizationId }, blind)).rights, []);
  const userId = await addPerson(app, 'asks@example.com', { [organizationId]: 'User' });
  const browser = new TestBrowser(app);
  await browser.signIn('asks@example.com');
  const response = await browser.send('GET', `/api/permissions/effective?projectId=${ids.outer}`);
  const explained = response.json<Explained>();
  assert.equal(explained.userId, userId);
  assert.deepEqual(fieldOf(explained.rights, 'right'), builtInRoles.organization.User);
});

test('who may change roles in a place asks about others there, and no one else does', async () => {
  const { organizationId } = app;
  const other = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: ids.second, role: 'Planner' },
  ]);
  const manager = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: ids.second, role: 'Admin' },
  ]);
  const about = await explain({ projectId: ids.second, userId: other.id }, manager);
  assert.deepEqual([about.userId, givers(about, 'RUN_PLAN')], [other.id, ['Planner project second']]);
  const { userId } = await explain({ environmentId: ids.inSecond, userId: other.id }, manager);
  assert.equal(userId, other.id);
  for (const [query, right] of [
    [{ projectId: ids.outer }, 'EDIT_PROJECT_SETTINGS'],
    [{ organizationId }, 'EDIT_ORGANIZATION_SETTINGS'],
    [{ environmentId: ids.inInner }, 'ASSIGN_ROLE_ON_ENVIRONMENT'],
  ] as const) {
    const request = { query: { ...query, userId: other.id }, as: manager };
    await refused(app, 'explainPermissions', 403, new RegExp(`query/userId.*${right}`), request);
  }
});

test('no place, several places, unknown places and outsiders are refused', async () => {
  const { organizationId } = app;
  const refusal = async (query: Record<string, string>, as?: FirstKey) =>
    (await refused(app, 'explainPermissions', 400, { query, ...(as ? { as } : {}) })).message;
  assert.match(await refusal({}), /must have one of organizationId, projectId, environmentId/);
  assert.match(await refusal({ organizationId, projectId: ids.outer }), /organizationId is too much/);
  assert.match(await refusal({ projectId: randomUUID() }), /projectId does not match any project/);
  assert.match(await refusal({ environmentId: 'x' }), /environmentId does not match any environment/);
  assert.match(await refusal({ organizationId, userId: 'nobody' }), /userId.*member of the organization/);
  const outsider = await app.addKey();
  await ok(app, 'createOrganization', { body: { name: 'Elsewhere' }, as: outsider });
  for (const { query } of places) assert.match(await refusal(query, outsider), /does not match any/);
});

const roleIn = (scope: keyof typeof builtInRoles) =>
  fc.oneof(fc.constantFrom(...Object.keys(builtInRoles[scope])), fc.subarray([...rights], { maxLength: 6 }));

test('the explanation agrees with the check of each right, whatever roles are held', async () => {
  const { organizationId } = app;
  const held = fc.record({
    member: roleIn('organization'),
    projects: fc.record(
      { outer: roleIn('project'), inner: roleIn('project'), second: roleIn('project') },
      { requiredKeys: [] },
    ),
    environments: fc.record(
      { inInner: roleIn('environment'), inSecond: roleIn('environment') },
      { requiredKeys: [] },
    ),
    isTeam: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(held, async ({ member, projects, environments, isTeam }) => {
      const as = await app.addKey({ [organizationId]: member }, [
        ...Object.entries(projects).map(([key, role]) => ({
          organizationId,
          projectId: ids[key as keyof typeof ids],
          role,
        })),
        ...Object.entries(environments).map(([key, role]) => ({
          organizationId,
          environmentId: ids[key as keyof typeof ids],
          role,
        })),
      ]);
      if (isTeam) {
        const team = await ok(app, 'createTeam', { body: { organizationId, name: randomUUID() } });
        await ok(app, 'updateTeam', { id: team.id, body: { userIds: [as.id] } });
        await ok(app, 'assignTeamRole', {
          body: { teamId: team.id, projectId: ids.outer, role: 'Deployer' },
        });
      }
      const access = await loadAccess(app.context.db, as.id);
      for (const { query, place } of places)
        assert.deepEqual(
          (await explain(query, as)).rights.map(({ right }) => right),
          rights.filter((right) => access.has(right, place)),
        );
    }),
    { numRuns: 30 },
  );
});
