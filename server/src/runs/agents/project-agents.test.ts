import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, ok, refused, sql, add } = await startTests();
const admin = await app.addKey({ [organizationId]: 'Admin' });
const query = { organizationId };
let made = 0;

const assign = (body: object, as = admin) => ok('assignProjectAgents', { query, body, as });
const agentNamed = (name: string) => add('Agent', `${name} ${++made}`);
const project = async (parentProjectId?: string) =>
  (await add('Project', `p ${++made}`, parentProjectId ? { parentProjectId } : {})).id;

test('projects that are sent are assigned, the others stay, and missing ones have the default agent', async () => {
  const [east, west] = [await agentNamed('east'), await agentNamed('west')];
  const [one, two, three] = [await project(), await project(), await project()];
  const first = await assign({ [one]: east.agentKey, [two]: east.id });
  assert.deepEqual(first, {
    defaultAgent: 'ENVARIUM_DEFAULT',
    projectsAgents: { [one]: east.agentKey, [two]: east.agentKey },
    inheritedFrom: {},
    isDefaultChosen: false,
  });
  await assign({ [two]: west.agentKey, [three.toUpperCase()]: west.agentKey });
  const { projectsAgents } = await assign({ [one]: 'BRAND_DEFAULT' });
  assert.deepEqual(projectsAgents, { [two]: west.agentKey, [three]: west.agentKey });
  assert.deepEqual((await ok('listProjectAgents', { query, as: admin })).projectsAgents, projectsAgents);
  const entries = await sql<{ before: object; after: object }>(
    "select before, after from audit_event where action = 'agent.projectsAssigned' order by number",
  );
  assert.deepEqual(entries.at(-1), { before: { [one]: east.agentKey }, after: { [one]: 'default' } });
  // The same again changes nothing.
  assert.deepEqual((await assign(projectsAgents)).projectsAgents, projectsAgents);
  const [{ count } = { count: '' }] = await sql<{ count: string }>(
    "select count(*) from audit_event where action = 'agent.projectsAssigned'",
  );
  assert.equal(Number(count), entries.length);
  await assign({ [one]: null, [two]: null, [three]: null });
});

test('sub-projects have the agent of the nearest project above, until they have their own', async () => {
  const [east, west] = [await agentNamed('east'), await agentNamed('west')];
  const top = await project();
  const middle = await project(top);
  const low = await project(middle);
  const agents = async () => {
    const { projectsAgents, inheritedFrom } = await ok('listProjectAgents', { query });
    return [top, middle, low].map((id) => [projectsAgents[id], inheritedFrom[id]]);
  };
  await assign({ [top]: east.agentKey });
  const [own, fromTop] = [
    [east.agentKey, undefined],
    [east.agentKey, top],
  ];
  assert.deepEqual(await agents(), [own, fromTop, fromTop]);
  await assign({ [middle]: west.agentKey });
  assert.deepEqual(await agents(), [own, [west.agentKey, undefined], [west.agentKey, middle]]);
  await assign({ [low]: 'ENVARIUM_DEFAULT' });
  assert.deepEqual((await agents())[2], [undefined, undefined]);
  // Written back, nothing changes.
  await assign((await ok('listProjectAgents', { query })).projectsAgents);
  await assign({ [low]: null });
  assert.deepEqual((await agents())[2], [west.agentKey, middle]);
  await ok('moveProject', { id: low, body: { targetProjectId: top } });
  assert.deepEqual((await agents())[2], fromTop);
  await assign({ [top]: null, [middle]: null });
});

test('bad assignments are refused as a whole', async () => {
  const east = await agentNamed('east');
  const gone = await agentNamed('gone');
  await ok('deleteAgent', { params: { agentKey: gone.agentKey } });
  const founder = await app.addKey();
  const { id: other } = await ok('createOrganization', { body: { name: 'Other' }, as: founder });
  const theirs = await ok('createProject', { body: { organizationId: other, name: 'theirs' }, as: founder });
  const foreign = await ok('createAgent', { body: { organizationId: other, name: 'f' }, as: founder });
  const one = await project();
  for (const [body, pattern] of [
    [{ [one]: gone.agentKey }, new RegExp(`/body/${one} is "${gone.agentKey}".*deleted`)],
    [{ [one]: gone.id }, /may have been deleted/],
    [{ [one]: foreign.agentKey }, /not the key or the id of an agent of the organization/],
    [{ [one]: 'nobody' }, /is "nobody"/],
    [{ [theirs.id]: east.agentKey }, /is not the id of a project of the organization/],
    [{ [randomUUID()]: east.agentKey }, /is not the id of a project/],
    [{ 'not an id': east.agentKey }, /"not an id", which is not the id of a project/],
    [{ [one]: 1 }, /string/],
    [{ [one]: '' }, /body/],
  ] as const)
    await refused('assignProjectAgents', 400, pattern, {
      query,
      body: { [projectId]: east.agentKey, ...body },
      as: admin,
    });
  await refused('assignProjectAgents', 400, /object/, { query, body: [one], as: admin });
  assert.deepEqual((await ok('listProjectAgents', { query })).projectsAgents, {});
  const member = await app.addKey({ [organizationId]: 'User' });
  await refused('assignProjectAgents', 403, { query, body: {}, as: member });
  await refused('assignProjectAgents', 400, { query: { organizationId: other }, body: {}, as: admin });
  await refused('setDefaultAgent', 403, { query, body: { agent: null }, as: member });
  for (const agent of [gone.agentKey, foreign.agentKey, 'nobody'])
    await refused('setDefaultAgent', 400, /\/body\/agent does not match/, { query, body: { agent } });
});

test('members see the agents of the projects that they may see', async () => {
  const east = await agentNamed('east');
  const [one, two] = [await project(), await project()];
  await assign({ [one]: east.agentKey, [two]: east.agentKey });
  const user = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: one, role: 'Viewer' },
  ]);
  const { projectsAgents } = await ok('listProjectAgents', { query, as: user });
  assert.deepEqual(projectsAgents, { [one]: east.agentKey });
  await assign({ [one]: null, [two]: null });
});

test('an organization chooses its default agent, which the list of agents shows', async () => {
  const east = await agentNamed('east');
  const shared = (await ok('listAgents', { query })).find(({ isSaas }) => isSaas);
  const one = await project();
  await assign({ [one]: shared?.id ?? '' });
  const defaults = async () =>
    (await ok('listAgents', { query })).flatMap(({ isDefault, agentKey }) => (isDefault ? [agentKey] : []));
  assert.deepEqual(await defaults(), ['ENVARIUM_DEFAULT']);
  const chosen = await ok('setDefaultAgent', { query, body: { agent: east.agentKey }, as: admin });
  assert.deepEqual([chosen.defaultAgent, chosen.isDefaultChosen], [east.agentKey, true]);
  // By its id, because its key would stand for the default agent.
  assert.deepEqual(chosen.projectsAgents, { [one]: shared?.id });
  assert.deepEqual(await defaults(), [east.agentKey]);
  assert.equal((await ok('getAgent', { params: { agentKey: 'X_DEFAULT' } })).isDefault, false);
  await refused('deleteAgent', 409, /is the default agent of the organization: choose another/, {
    params: { agentKey: east.agentKey },
    query: { force: 'true' },
  });
  const again = await ok('setDefaultAgent', { query, body: { agent: 'BRAND_DEFAULT' } });
  assert.deepEqual([again.defaultAgent, again.isDefaultChosen], ['ENVARIUM_DEFAULT', true]);
  const none = await ok('setDefaultAgent', { query, body: { agent: null } });
  assert.deepEqual([none.defaultAgent, none.isDefaultChosen], ['ENVARIUM_DEFAULT', false]);
  await assign({ [one]: null });
});

test('an agent that projects have is not deleted, not even by force, and the refusal names them', async () => {
  const east = await agentNamed('east');
  const params = { agentKey: east.agentKey };
  const projects = await Promise.all(Array.from({ length: 7 }, () => project()));
  await assign(Object.fromEntries(projects.map((id) => [id, east.agentKey])));
  for (const force of ['false', 'true'])
    await refused('deleteAgent', 409, /deployments of "p \d+"(, "p \d+"){4} and others: assign/, {
      params,
      query: { force },
      as: admin,
    });
  await assign(Object.fromEntries(projects.map((id) => [id, 'X_DEFAULT'])));
  await ok('deleteAgent', { params, as: admin });
});

test('5,000 projects are assigned in one request', async () => {
  const before = Object.keys((await ok('listProjectAgents', { query })).projectsAgents).length;
  const east = await agentNamed('east');
  await sql(
    `insert into project (id, organization_id, name, hierarchy, created_by)
     select id, $1, id::text, id::text, 'admin' from (select gen_random_uuid() as id from generate_series(1, 5000)) made`,
    organizationId,
  );
  const rows = await sql<{ id: string }>('select id from project where name = id::text');
  const body = Object.fromEntries(rows.map(({ id }) => [id, east.agentKey]));
  const { projectsAgents } = await assign(body);
  assert.equal(Object.keys(projectsAgents).length, before + 5000);
});
