import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import type { StateVersion } from '#contract/state/shapes.ts';
import { plannedOutcome, stateFile } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests({ ENVARIUM_STATE_LIMIT_MB: '1' });
const { app, agent, send, call, ok, refused, sql, createActive, createEnvironment, createIdle } = tests;
const { deploy, deploymentOf, environmentOf, forgetWork } = tests;
const member = await app.addKey({ [app.organizationId]: 'User' });
beforeEach(() => forgetWork());

const versions = (id: string) => ok('listStateVersions', { id });
const facts = (all: readonly StateVersion[]) =>
  all.map(({ serial, standing, origin }) => [serial, standing, origin]);
const contentOf = async (id: string) =>
  (await call('getStateContent', { id })).json<Record<string, unknown>>();

/** Two deployments, each with a state of its own. */
async function deployedTwice() {
  const environment = await createActive({}, ['a']);
  await deploy(environment.id, { userRequiresApproval: false });
  await agent.run(['a', 'b']);
  const [second, first] = await versions(environment.id);
  return { environment, first: first!, second: second! };
}

function importBody(environmentId: string, body: string, query: Record<string, string> = {}) {
  return { id: environmentId, body, query, headers: { 'content-type': 'application/json' } };
}

async function rescuedVersion(lineage?: string) {
  const environment = await createActive();
  await deploy(environment.id, { userRequiresApproval: false });
  const job = (await agent.plan()) ?? assert.fail('no apply');
  await agent.mark(job);
  const { stateVersionId } = await agent.putState(
    job,
    stateFile(9, ['x', 'y'], lineage ?? environment.id),
    'not the current one',
  );
  return { environment, job, id: stateVersionId };
}

async function audited(action: string, entityId: string) {
  const rows = await sql<{ actor_id: string; details: Record<string, unknown> }>(
    'select actor_id, details from audit_event where action = $1 and entity_id = $2 order by number',
    action,
    entityId,
  );
  return rows;
}

test('a roll-back makes old content a new version with user and reason, where the next run starts', async () => {
  const { environment, first, second } = await deployedTwice();
  const made = await ok('rollBackState', { id: first.id, body: { comment: 'b was a mistake' } });
  assert.deepEqual(
    [
      made.serial,
      made.lineage,
      made.standing,
      made.origin,
      made.madeFrom,
      made.follows,
      made.comment,
      made.createdBy,
      made.resourceCount,
    ],
    [3, first.lineage, 'current', 'rollback', first.id, second.id, 'b was a mistake', 'admin', 1],
  );
  assert.deepEqual(await contentOf(made.id), { ...(await contentOf(first.id)), serial: 3 });
  assert.deepEqual(facts(await versions(environment.id)), [
    [3, 'current', 'rollback'],
    [2, 'superseded', 'run'],
    [1, 'superseded', 'run'],
  ]);
  assert.deepEqual(await audited('state.rolledBack', environment.id), [
    { actor_id: 'admin', details: { from: second.id, to: first.id, stateVersionId: made.id, serial: 3 } },
  ]);
  await deploy(environment.id);
  assert.equal((await agent.claim()).state.current?.stateVersionId, made.id);
});

test('numbers with more digits than JavaScript has survive a roll-back', async () => {
  const environment = await createIdle();
  const text = stateFile(1, ['a']).replace(
    '"outputs":{}',
    '"outputs":{"big":{"value":12345678901234567890123,"type":"number"}}',
  );
  const imported = await ok('importState', importBody(environment.id, text));
  await ok('importState', importBody(environment.id, stateFile(2, ['a'])));
  const made = await ok('rollBackState', { id: imported.id });
  assert.equal(
    (await call('getStateContent', { id: made.id })).body,
    text.replace('"serial":1', '"serial":3'),
  );
});

test('a roll-back is refused during deployments and locks, and to users without the right', async () => {
  const { environment, first, second } = await deployedTwice();
  const params = { id: first.id };
  const { id } = await deploy(environment.id, { userRequiresApproval: true });
  assert.match(
    (await refused('rollBackState', 409, params)).message,
    new RegExp(`deploy ${id} by .* is IN_PROGRESS: wait until it ends`),
  );
  await agent.plan();
  await refused('rollBackState', 409, /is WAITING_FOR_USER: approve or cancel it/, params);
  await ok('cancelDeployment', { id });
  await ok('setEnvironmentLock', { id: environment.id, body: { isLocked: true, reason: 'freeze' } });
  await refused('rollBackState', 409, /is locked by .* \(freeze\): unlock it first/, params);
  await ok('setEnvironmentLock', { id: environment.id, body: { isLocked: false } });
  await refused('rollBackState', 403, { ...params, as: member });
  await refused('rollBackState', 409, /is already the current one/, { id: second.id });
  assert.equal((await versions(environment.id)).length, 2);
});

test('a plan that was made before a roll-back is not approved after it', async () => {
  const { environment, first } = await deployedTwice();
  const { id } = await deploy(environment.id, { userRequiresApproval: true });
  await agent.plan();
  // Two at once: the roll-back finds the environment free, and the plan is stored as waiting behind it.
  await sql(`update deployment set status = 'SUCCESS' where id = $1`, id);
  await ok('rollBackState', { id: first.id });
  await sql(`update deployment set status = 'WAITING_FOR_USER' where id = $1`, id);
  await refused('approveDeployment', 409, /outdated/, { id });
});

test('a rescued version is promoted once, by the same rules', async () => {
  const { environment, job, id } = await rescuedVersion();
  await refused('promoteStateVersion', 409, /IN_PROGRESS/, { id });
  await agent.finish(job, { result: 'failed', finishedAt: new Date().toISOString() });
  await refused('rollBackState', 409, /promote it instead/, { id });
  const made = await ok('promoteStateVersion', { id, body: { comment: 'the late one is right' } });
  assert.deepEqual(
    [made.serial, made.origin, made.madeFrom, made.standing, made.resourceCount],
    [10, 'promotion', id, 'current', 2],
  );
  await refused('promoteStateVersion', 409, /was promoted before: roll back to it instead/, { id });
  await refused('promoteStateVersion', 409, /it is the current one/, { id: made.id });
  assert.equal((await audited('state.promoted', environment.id)).length, 1);
  assert.deepEqual(facts(await versions(environment.id)), [
    [10, 'current', 'promotion'],
    [9, 'superseded', 'run'],
    [1, 'superseded', 'run'],
  ]);
});

test('a rescued version of another lineage is promoted only with acceptOtherLineage', async () => {
  const { job, id } = await rescuedVersion('another lineage');
  await agent.finish(job, { result: 'failed', finishedAt: new Date().toISOString() });
  const refusal = await refused('promoteStateVersion', 400, { id });
  assert.match(
    refusal.message,
    /^\/body\/acceptOtherLineage must be true: this version has the lineage another lineage, the current state [-0-9a-f]{36}\./,
  );
  await refused('compareStateVersions', 400, /has no predecessor/, { id });
  const made = await ok('promoteStateVersion', { id, body: { acceptOtherLineage: true } });
  assert.deepEqual([made.lineage, made.serial], ['another lineage', 10]);
});

test('a state file is imported into an empty environment as it is, and the environment can then be destroyed', async () => {
  const environment = await createIdle();
  const text = stateFile(41, ['a', 'b'], 'brought');
  const made = await ok('importState', importBody(environment.id, text, { comment: 'from the old place' }));
  assert.deepEqual(
    [
      made.serial,
      made.lineage,
      made.standing,
      made.origin,
      made.comment,
      made.terraformVersion,
      made.resourceCount,
      made.follows,
    ],
    [41, 'brought', 'current', 'import', 'from the old place', '1.11.4', 2, undefined],
  );
  assert.equal((await call('getStateContent', { id: made.id })).body, text);
  const destroy = await ok('destroyEnvironment', { id: environment.id });
  assert.equal(destroy.status, 'IN_PROGRESS');
  assert.equal((await agent.claim()).state.current?.stateVersionId, made.id);
});

test('an export of a stack of Pulumi is imported with a serial and a lineage, and exported again', async () => {
  const environment = await createIdle();
  const resource = { urn: 'urn:pulumi:dev::shop::file:index:File::a', type: 'file:index:File' };
  const exported = { version: 3, deployment: { manifest: { version: 'v3.259.0' }, resources: [resource] } };
  const { message } = await refused('importState', 400, importBody(environment.id, JSON.stringify(exported)));
  assert.match(message, /serial must be a whole number of 0 or more: add "serial": 0/);
  const text = JSON.stringify({ serial: 0, lineage: 'brought', ...exported });
  const first = await ok('importState', importBody(environment.id, text));
  assert.deepEqual(
    [first.serial, first.lineage, first.resourceCount, first.terraformVersion],
    [0, 'brought', 1, '3.259.0'],
  );
  const second = await ok('importState', importBody(environment.id, text));
  assert.equal(second.serial, 1);
  assert.equal(
    (await call('getStateContent', { id: second.id })).body,
    text.replace('"serial":0', '"serial":1'),
  );
});

test('an imported state follows the current one under a higher serial', async () => {
  const { environment, second } = await deployedTwice();
  const made = await ok('importState', importBody(environment.id, stateFile(1, ['c'], environment.id)));
  assert.deepEqual([made.serial, made.follows], [3, second.id]);
  assert.equal((await contentOf(made.id))['serial'], 3);
});

test('a file that is not a state is refused with the reason, and nothing is stored', async () => {
  const environment = await createIdle();
  const good = stateFile(1, ['a'], 'l');
  const cases: [string, RegExp][] = [
    ['', /it is empty/],
    [good.slice(0, 40), /damaged or truncated/],
    ['not json', /damaged or truncated/],
    ['[]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{}', /has no version; only version 4/],
    ['{"version":3,"serial":1,"lineage":"l"}', /is of version 3; only version 4/],
    ['{"version":4,"serial":"1","lineage":"l"}', /serial must be a whole number/],
    ['{"version":4,"serial":-1,"lineage":"l"}', /serial must be a whole number/],
    ['{"version":4,"serial":1}', /lineage must be a non-empty string/],
    ['{"version":4,"serial":1,"lineage":""}', /lineage must be a non-empty string/],
    ['{"version":4,"serial":1,"lineage":"l","resources":{}}', /resources must be a list/],
    [
      '{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t"}]}',
      /resources\[0\] must be an object/,
    ],
    ['{"serial":1,"meta":{},"encrypted_data":"x"}', /lineage must be a non-empty string/],
  ];
  for (const [body, message] of cases) {
    const refusal = await refused('importState', 400, importBody(environment.id, body));
    assert.match(refusal.message, /^\/body is not a state file: /);
    assert.match(refusal.message, message, body);
  }
  const large = await refused(
    'importState',
    413,
    importBody(environment.id, `${good}${' '.repeat(1_100_000)}`),
  );
  assert.match(large.message, /larger than 1 MB, the limit set by ENVARIUM_STATE_LIMIT_MB/);
  const form = {
    ...importBody(environment.id, good),
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  };
  await refused('importState', 400, /not a form/, form);
  const packed = { ...importBody(environment.id, good), headers: { 'content-encoding': 'gzip' } };
  await refused('importState', 400, /Content-Encoding/, packed);
  await refused('importState', 403, { ...importBody(environment.id, good), as: member });
  assert.deepEqual(await versions(environment.id), []);
});

test('a state of another lineage is imported only with acceptOtherLineage, and not during a deployment', async () => {
  const { environment } = await deployedTwice();
  const text = stateFile(1, ['z'], 'of something else');
  const refusal = await refused('importState', 400, importBody(environment.id, text));
  assert.match(
    refusal.message,
    /^\/query\/acceptOtherLineage must be true: the file has the lineage of something else, the current state [-0-9a-f]{36}\./,
  );
  const made = await ok('importState', importBody(environment.id, text, { acceptOtherLineage: 'true' }));
  assert.deepEqual([made.lineage, made.serial], ['of something else', 3]);
  await deploy(environment.id);
  await refused('importState', 409, /has held the state/, importBody(environment.id, text));
});

test('a state encrypted by OpenTofu is stored unchanged, and counts as one with resources', async () => {
  const environment = await createIdle();
  const encrypted = (serial: number) =>
    `{"serial":${serial},"lineage":"l","meta":{},"encrypted_data":"c2VjcmV0","encryption_version":"v0"}`;
  const first = await ok('importState', importBody(environment.id, encrypted(1)));
  assert.deepEqual([first.serial, first.resourceCount], [1, undefined]);
  const second = await ok('importState', importBody(environment.id, encrypted(2)));
  await refused('compareStateVersions', 409, /encrypted by OpenTofu/, { id: second.id });
  const back = await ok('rollBackState', { id: first.id });
  // Under another serial, OpenTofu would not read it.
  assert.equal((await call('getStateContent', { id: back.id })).body, encrypted(1));
  assert.deepEqual([back.serial, back.standing], [1, 'current']);
  const again = await ok('importState', importBody(environment.id, encrypted(1)));
  assert.equal((await call('getStateContent', { id: again.id })).body, encrypted(1));
});

test('states of units get the next serial, also where others are in backends of the code', async () => {
  const environment = await createIdle();
  const states = (serial: number) =>
    `{"envariumUnits":1,"serial":${serial},"lineage":"l","elsewhere":["db"],"units":{"app":${stateFile(1, ['a'])}}}`;
  const first = await ok('importState', importBody(environment.id, states(1)));
  await ok('importState', importBody(environment.id, states(2)));
  assert.equal(first.resourceCount, undefined);
  const back = await ok('rollBackState', { id: first.id });
  assert.equal((await call('getStateContent', { id: back.id })).body, states(3));
});

test('the state of an environment is cleared and restored', async () => {
  const { environment, second } = await deployedTwice();
  assert.deepEqual(await ok('clearState', { id: environment.id }), {
    id: environment.id,
    previous: second.id,
  });
  assert.deepEqual(await ok('clearState', { id: environment.id }), { id: environment.id });
  assert.deepEqual(facts(await versions(environment.id)), [
    [2, 'superseded', 'run'],
    [1, 'superseded', 'run'],
  ]);
  await deploy(environment.id);
  const job = await agent.claim();
  assert.equal(job.state.current, undefined);
  await refused('clearState', 409, { id: environment.id });
  await agent.finish(job, { result: 'failed', finishedAt: new Date().toISOString() });
  const back = await ok('rollBackState', { id: second.id });
  assert.deepEqual([back.serial, back.follows], [3, undefined]);
});

test('a state that is migrated by a plan is the one that the plan is based on', async () => {
  const environment = await createEnvironment({ requiresApproval: false, isRemoteBackend: true });
  const plan = await agent.claim();
  const moved = await agent.putState(plan, stateFile(17, ['a'], 'from the bucket'), '');
  assert.equal(moved.standing, 'current');
  assert.deepEqual(await agent.putState(plan, stateFile(17, ['a'], 'from the bucket'), ''), moved);
  const apply = await agent.finish(plan, plannedOutcome({ stateVersionId: moved.stateVersionId }));
  assert.equal(apply?.state.current?.stateVersionId, moved.stateVersionId);
  assert.deepEqual(facts(await versions(environment.id)), [[17, 'current', 'moved']]);
  assert.deepEqual(
    await agent.putState(plan, stateFile(17, ['a'], 'from the bucket'), ''),
    moved,
    'sent again after its answer was lost',
  );
  await agent.mark(apply!);
  const state = await agent.putState(
    apply!,
    stateFile(18, ['a', 'b'], 'from the bucket'),
    moved.stateVersionId,
  );
  assert.equal(state.standing, 'current');
});

test('a plan that another agent repeats migrates the same state, as one version', async () => {
  const environment = await createEnvironment({ requiresApproval: false, isRemoteBackend: true });
  const lost = await agent.claim();
  const other = agent.sibling();
  await other.register();
  await agent.finish(lost, { result: 'internal', finishedAt: new Date().toISOString(), isLost: true });
  const again = await other.claim();
  const state = stateFile(17, ['a'], environment.id);
  const moved = await other.putState(again, state, '');
  assert.deepEqual([moved.standing, await other.putState(again, state, '')], ['current', moved]);
  assert.deepEqual(await agent.putState(lost, state, ''), moved);
  assert.ok(await other.finish(again, plannedOutcome()), 'the plan is not outdated');
  assert.deepEqual(facts(await versions(environment.id)), [[17, 'current', 'moved']]);
});

test('a state import during a migrating plan makes the plan outdated', async () => {
  await createEnvironment({ requiresApproval: false, isRemoteBackend: true });
  const plan = await agent.claim();
  // A person was faster, between the claim and the state.
  await sql(`update deployment set status = 'SUCCESS' where id = $1`, plan.deploymentId);
  await ok('importState', importBody(plan.environmentId, stateFile(1, ['b'], 'by hand')));
  await sql(`update deployment set status = 'IN_PROGRESS' where id = $1`, plan.deploymentId);
  assert.equal(
    (await agent.putState(plan, stateFile(17, ['a'], 'from another bucket'), '')).standing,
    'rescued',
  );
  assert.equal(await agent.finish(plan, plannedOutcome()), null);
  const ended = await deploymentOf(plan.deploymentId);
  assert.deepEqual([ended.status, /outdated/.test(ended.error?.message ?? '')], ['FAILURE', true]);
});

test('isRemoteBackend cannot change while a deployment runs or waits', async () => {
  const environment = await createEnvironment({ requiresApproval: true });
  const params = { id: environment.id };
  await agent.plan();
  const { message } = await refused('updateEnvironment', 409, { params, body: { isRemoteBackend: true } });
  assert.match(message, /^\/body\/isRemoteBackend cannot change while the deploy .* is WAITING_FOR_USER/);
  await ok('updateEnvironment', { params, body: { isRemoteBackend: false, name: 'another' } });
  await ok('cancelDeployment', { id: environment.latestDeploymentLogId ?? '' });
  assert.equal(
    (await ok('updateEnvironment', { params, body: { isRemoteBackend: true } })).isRemoteBackend,
    true,
  );
});

test('projects that may read a state are checked together, each once, and are at most 1000', async (t) => {
  const { id: environmentId } = await createIdle();
  const accessOf = (allowedProjectIds: string[]) => ({
    params: { environmentId },
    body: { accessibleFromEntireOrganization: false, allowedProjectIds },
  });
  const ids = Array.from({ length: 999 }, () => app.projectId.toUpperCase());
  const query = t.mock.method(pg.Client.prototype, 'query');
  const set = await ok('setStateAccess', accessOf([app.projectId, ...ids]));
  const reads = query.mock.calls.filter(({ arguments: [statement] }) =>
    JSON.stringify(statement).includes('from \\"project\\"'),
  );
  query.mock.restore();
  assert.deepEqual(set.allowedProjectIds, [app.projectId]);
  assert.ok(reads.length < 10, `${reads.length} queries`);
  const many = await refused('setStateAccess', 400, accessOf([app.projectId, app.projectId, ...ids]));
  assert.match(many.message, /^\/body\/allowedProjectIds/);
});

test('access of others is stored, returned and revoked', async () => {
  const environment = await createIdle();
  const params = { environmentId: environment.id };
  const none = {
    environmentId: environment.id,
    accessibleFromEntireOrganization: false,
    allowedProjectIds: [],
  };
  assert.deepEqual(await ok('getStateAccess', { params }), none);
  const body = { accessibleFromEntireOrganization: false, allowedProjectIds: [app.projectId] };
  const set = await ok('setStateAccess', { params, body });
  assert.deepEqual(set, { id: set.id, environmentId: environment.id, ...body });
  assert.deepEqual(await ok('getStateAccess', { params }), set);
  const again = await ok('setStateAccess', {
    params,
    body: { accessibleFromEntireOrganization: true, allowedProjectIds: [] },
  });
  assert.deepEqual(
    [again.id, again.accessibleFromEntireOrganization, again.allowedProjectIds],
    [set.id, true, []],
  );
  await refused('setStateAccess', 400, /^\/body\/allowedProjectIds\/0 does not match any project/, {
    params,
    body: { ...body, allowedProjectIds: [environment.id] },
  });
  for (const bad of [{ allowedProjectIds: [] }, { accessibleFromEntireOrganization: null }])
    await refused('setStateAccess', 400, { params, body: bad });
  const cleared = await ok('setStateAccess', { params, body: { ...body, allowedProjectIds: null } as never });
  assert.deepEqual(cleared.allowedProjectIds, []);
  await refused('setStateAccess', 403, { params, body, as: member });
  await ok('deleteStateAccess', { params });
  assert.deepEqual(await ok('getStateAccess', { params }), none);
  assert.equal((await environmentOf(environment.id)).id, environment.id);
  assert.equal(
    (await send({ url: `/api/remote-backend/states/${app.projectId}/access-control` })).statusCode,
    404,
  );
});
