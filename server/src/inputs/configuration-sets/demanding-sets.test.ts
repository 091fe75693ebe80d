/** Sets that demand approvals, and the right to unassign them. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { demandTests } from '../../../testing/demands.ts';
import { startPolicyTests } from '../../../testing/guarded.ts';

const { app, agent, organizationId, ok, refused, forgetWork } = await startPolicyTests();
beforeEach(() => forgetWork());

const { projectIn, adminIn, keyIn, idleIn, templateFor, outcomeOf } = demandTests({ app, agent });
type Key = Awaited<ReturnType<typeof adminIn>>;
type Scope = 'environment' | 'project' | 'template';

let count = 0;

/** Id of a set that demands approvals. @param projectId where it is created; undefined: in the organization */
async function demandingSet(projectId?: string): Promise<string> {
  const body = {
    name: `demanding ${++count}`,
    scope: projectId === undefined ? ('organization' as const) : ('project' as const),
    scopeId: projectId ?? organizationId,
    configurationProperties: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true', type: 0 as const }],
  };
  return (await ok('createConfigurationSet', { body })).id;
}

function at(scope: Scope, scopeId: string, setIds: string, as?: Key) {
  return { params: { scope, scopeId }, query: { setIds }, ...(as ? { as } : {}) };
}

const waits = ['WAITING_FOR_USER', 'variable'];
const ofOrganization = /which demands approvals, needs the right EDIT_ORGANIZATION_SETTINGS/;

test('a set of the organization stays with a project until a user who may lift it takes it away', async () => {
  const projectId = await projectIn();
  const admin = await adminIn(projectId);
  const { id } = await idleIn(projectId, { requiresApproval: false });
  const set = await demandingSet();
  await ok('assignConfigurationSets', at('project', projectId, set));
  // Assigning it once more changes nothing.
  await ok('assignConfigurationSet', {
    params: { id: set, scope: 'project', scopeId: projectId },
    as: admin,
  });
  const request = at('project', projectId, set, admin);
  await refused('unassignConfigurationSets', 403, ofOrganization, request);
  const others = [
    await refused('deleteConfigurationSet', 403, { id: set, as: admin }),
    await refused('updateConfigurationSet', 403, {
      id: set,
      body: {
        configurationPropertiesChanges: [{ name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false', type: 0 }],
      },
      as: admin,
    }),
  ];
  for (const each of others) assert.match(each.message, /EDIT_ORGANIZATION_SETTINGS/);
  assert.deepEqual(await outcomeOf(id, admin), waits);
  await ok('unassignConfigurationSets', at('project', projectId, set));
  assert.deepEqual(await outcomeOf(id, admin), ['IN_PROGRESS', undefined]);
});

test('a set of a project stays with the projects below, except for the user who assigned it', async () => {
  const above = await projectIn();
  const below = await projectIn(above);
  const admin = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: below, role: 'Admin' },
    { organizationId, projectId: above, role: 'Viewer' },
  ]);
  const set = await demandingSet(above);
  await ok('assignConfigurationSets', at('project', below, set));
  const request = at('project', below, set, admin);
  const { message } = await refused('unassignConfigurationSets', 403, request);
  assert.match(message, /which demands approvals, needs the right EDIT_PROJECT_SETTINGS/);
  await ok('unassignConfigurationSets', at('project', below, set, await adminIn(above)));
  await ok('assignConfigurationSets', request);
  await ok('unassignConfigurationSets', request);
});

test('a set of the organization stays with templates', async () => {
  const projectId = await projectIn();
  const set = await demandingSet();
  const editor = await app.addKey({ [organizationId]: ['CREATE_AND_EDIT_TEMPLATES', 'VIEW_ORGANIZATION'] });
  const shared = await templateFor([projectId]);
  const { blueprintId: own } = await idleIn(projectId);
  for (const [template, as] of [
    [shared, editor],
    [own, await adminIn(projectId)],
  ] as const) {
    await ok('assignConfigurationSets', at('template', template, set));
    const request = at('template', template, set, as);
    await refused('unassignConfigurationSets', 403, ofOrganization, request);
    await ok('unassignConfigurationSets', at('template', template, set));
  }
});

test('a deploy that proposes to take one away is refused at once', async () => {
  const projectId = await projectIn();
  const planner = await keyIn(projectId, 'Planner');
  const { id } = await idleIn(projectId);
  const set = await demandingSet();
  await ok('assignConfigurationSets', at('environment', id, set));
  const body = { configurationSetChanges: { unassign: [set] } };
  await refused('deployEnvironment', 403, ofOrganization, { id, body, as: planner });
});
