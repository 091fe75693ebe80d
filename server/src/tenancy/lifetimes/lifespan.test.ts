import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { createIdle, deploy, environmentOf } from '../../../testing/environment.ts';
import { startTests } from '../../../testing/start.ts';
import { nextTtlStep, noticesDue } from './lifespan.ts';
import { ttlEnd } from './policy-ttl.ts';

const { app, sql, createBody, createEnvironment } = await startTests();
const hours = (count: number) => new Date(app.context.now().getTime() + count * 3_600_000);
const setTtl = (id: string, body: object) => ok(app, 'updateEnvironmentTtl', { id, body });

test('months are calendar months, and end at their last day', () => {
  const from = new Date('2027-01-31T10:00:00Z');
  const ends = {
    '1-M': '2027-02-28T10:00:00.000Z',
    '13-M': '2028-02-29T10:00:00.000Z',
    '2-w': '2027-02-14T10:00:00.000Z',
    '36-h': '2027-02-01T22:00:00.000Z',
  };
  for (const [ttl, end] of Object.entries(ends)) assert.equal(ttlEnd(ttl, from).toISOString(), end, ttl);
  assert.throws(() => ttlEnd('inherit', from), /not a TTL/);
});

test('notices come two days, two hours and half an hour before the expiry, but not retroactively', () => {
  const now = new Date('2027-01-10T00:00:00Z');
  const end = new Date('2027-01-13T00:00:00Z');
  const steps: [string, number][] = [];
  for (let at = now; ; ) {
    const next = nextTtlStep(end, at);
    steps.push([next.toISOString(), noticesDue(end, next)]);
    if (next.getTime() === end.getTime()) break;
    at = next;
  }
  assert.deepEqual(steps, [
    ['2027-01-11T00:00:00.000Z', 1],
    ['2027-01-12T22:00:00.000Z', 2],
    ['2027-01-12T23:30:00.000Z', 3],
    ['2027-01-13T00:00:00.000Z', 3],
  ]);
  assert.equal(nextTtlStep(new Date('2027-01-10T01:00:00Z'), now).toISOString(), '2027-01-10T00:30:00.000Z');
});

test('the maximum lifetime starts at the creation, and binds users who may not override it', async () => {
  const own = await testApp();
  const { organizationId, projectId } = own;
  const deployer = await own.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId, role: 'Deployer' },
  ]);
  const { id, createdAt = '' } = await createIdle(own);
  const set = (body: object, as = deployer) => ({ id, body, as });
  await ok(own, 'updateEnvironmentTtl', set({ type: 'INFINITE' }));
  await ok(own, 'updateOrganizationPolicies', { id: organizationId, body: { maxTtl: '2-d' } });
  own.advance(3600);
  const last = Date.parse(createdAt) + 2 * 86_400_000;
  const until = (end: number) => ({ type: 'DATE', value: new Date(end).toISOString() });
  const late = `ends at ${until(last + 1000).value}, after the maximum lifetime of 2-d`;
  await refused(own, 'updateEnvironmentTtl', 400, new RegExp(late), set(until(last + 1000)));
  await refused(own, 'updateEnvironmentTtl', 400, /must not be INFINITE/, set({ type: 'INFINITE' }));
  await ok(own, 'updateEnvironmentTtl', set(until(last)));
  await ok(own, 'updateEnvironmentTtl', set(until(last + 1000), own.admin));
});

test('a lifetime is set, changed and removed, and each new one is announced again', async () => {
  covers('Environment', 'lifespanEndAt', 'markedForAutoDestroy');
  covers('Ttl', 'type', 'value');
  const { id, lifespanEndAt } = await createIdle(app);
  assert.equal(lifespanEndAt, null);
  const end = hours(1).toISOString();
  assert.equal((await setTtl(id, { type: 'DATE', value: end })).lifespanEndAt, end);
  assert.equal((await environmentOf(app, id)).lifespanEndAt, end);
  await sql('update environment set marked_for_auto_destroy = 2 where id = $1', id);
  assert.equal((await environmentOf(app, id)).markedForAutoDestroy, 2);
  const later = await setTtl(id, { type: 'HOURS', value: '5' });
  assert.ok(Math.abs(Date.parse(later.lifespanEndAt ?? '') - hours(5).getTime()) < 60_000);
  assert.equal(later.markedForAutoDestroy, 0);
  assert.equal((await setTtl(id, { type: 'INFINITE' })).lifespanEndAt, null);
});

test('an impossible lifetime is refused by name', async () => {
  const { id } = await createIdle(app);
  const refusals: [object, RegExp][] = [
    [{ type: 'DATE', value: '2001-01-01T00:00:00.000Z' }, /\/body\/value has passed/],
    [{ type: 'DATE', value: 'tomorrow' }, /\/body\/value must be a date/],
    [{ type: 'DATE' }, /\/body\/value must be a date/],
    ...['2030-02-30T12:00:00.000Z', '2030-02-29', '2030-04-31', '2030-01-01T24:00:00Z', '2030-01-01T12:00']
      .concat(['2030-1-1', '+02030-01-01', ' 2030-01-01', '2030-01-01T1:2:3Z', '2030-01-01 12:00:00Z'])
      .map((value): [object, RegExp] => [{ type: 'DATE', value }, /\/body\/value must be a date/]),
    ...['', '-3', '0x10', ' 5 ', '1.5', '1e2', '+5', '05', 'five'].map((value): [object, RegExp] => [
      { type: 'HOURS', value },
      /\/body\/value must be a whole number of hours/,
    ]),
    [{ type: 'HOURS', value: '0' }, /\/body\/value has passed/],
    [{ type: 'HOURS', value: '1000000000' }, /\/body\/value ends after the year 9999/],
    [{ type: 'HOURS' }, /\/body\/value/],
    [{ type: 'DAYS', value: '3' }, /\/body\/type must be one of/],
    [{}, /\/body\/type is required/],
    [{ type: 'INFINITE', until: 1 }, /\/body\/until is not a field/],
  ];
  for (const [body, message] of refusals)
    assert.match(
      (await refused(app, 'updateEnvironmentTtl', 400, { id, body })).message,
      message,
      JSON.stringify(body),
    );
});

test('a new environment has the default lifetime of its organization, unless it specifies another', async () => {
  covers('createEnvironmentWithoutTemplate', 'body.ttl');
  const { id: organizationId } = await ok(app, 'createOrganization', { body: { name: 'Short lives' } });
  const [project] = await ok(app, 'listProjects', { query: { organizationId } });
  const policies = (body: object) => ok(app, 'updateOrganizationPolicies', { id: organizationId, body });
  const inside = { organizationId, projectId: project?.id };
  const lifeOf = async (more: object = {}) => {
    const made = await createIdle(app, { ...inside, ...more });
    return made.lifespanEndAt === null
      ? null
      : Math.round((Date.parse(made.lifespanEndAt) - Date.parse(made.createdAt ?? '')) / 3_600_000);
  };
  assert.equal(await lifeOf(), null);
  await policies({ maxTtl: '3-d', defaultTtl: '6-h' });
  assert.equal(await lifeOf(), 6);
  assert.equal(await lifeOf({ ttl: { type: 'HOURS', value: '20' } }), 20);
  assert.equal(
    await lifeOf({ ttl: { type: 'INFINITE' } }),
    null,
    'an admin may override the maximum lifetime',
  );
  await policies({ defaultTtl: null });
  assert.equal(await lifeOf(), 72);
});

test('an expired environment is not restored without a new lifetime', async () => {
  covers('deployEnvironment', 'body.ttl');
  const own = await testApp();
  const { id } = await createIdle(own, { ttl: { type: 'HOURS', value: '1' } });
  const archive = { id, body: { isArchived: true } };
  await ok(own, 'updateEnvironment', archive);
  own.advance(7200);
  await refused(own, 'deployEnvironment', 400, /\/body\/ttl is required: environment "network" expired/, {
    id,
  });
  await refused(own, 'updateEnvironment', 409, /set another ttl/, { id, body: { isArchived: false } });
  assert.equal(
    (await ok(own, 'updateEnvironmentTtl', { id, body: { type: 'HOURS', value: '1' } })).isArchived,
    true,
  );
  assert.equal((await ok(own, 'updateEnvironment', { id, body: { isArchived: false } })).isArchived, false);
  own.advance(7200);
  const started = await deploy(own, id, { ttl: { type: 'INFINITE' } });
  assert.equal(started.status, 'IN_PROGRESS');
  assert.equal((await environmentOf(own, id)).lifespanEndAt, null);
});

test('a ttl in deployRequest counts, and one outside of it takes precedence', async () => {
  covers('DeployRequest', 'ttl');
  const inner = { deployRequest: { ttl: { type: 'HOURS', value: '2' } } };
  const made = await createEnvironment(inner);
  assert.ok(Date.parse(made.lifespanEndAt ?? '') > Date.now());
  const both = await ok(app, 'createEnvironmentWithoutTemplate', {
    body: createBody({ ...inner, ttl: { type: 'INFINITE' } }),
  });
  assert.equal(both.lifespanEndAt, null);
});
