import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { nextDriftRun } from './drift-rhythm.ts';

const { app, ok, refused, createActive, createBody, createIdle, environmentOf } = await startAgentTests();
const get = (id: string) => ok('getEnvironmentSchedule', { id });
const put = (id: string, body: object) => ok('updateEnvironmentSchedule', { id, body });

test('a schedule is stored with its next dates, replaced completely, and cleared', async () => {
  covers('Environment', 'nextScheduledDates', 'nextScheduledDates.deploy', 'nextScheduledDates.destroy');
  const { id } = await createActive();
  assert.deepEqual(await get(id), {});
  const stored = await put(id, {
    deploy: { cron: '0 8 * * 1-5', enabled: true },
    destroy: { cron: '0 20 * * 1-5' },
  });
  assert.deepEqual(await get(id), stored);
  const { deploy, destroy } = stored;
  assert.deepEqual(
    [deploy?.cron, deploy?.enabled, destroy?.cron, destroy?.enabled],
    ['0 8 * * 1-5', true, '0 20 * * 1-5', true],
  );
  assert.deepEqual(
    [deploy?.environmentId, deploy?.projectId, deploy?.organizationId, deploy?.createdBy],
    [id, app.projectId, app.organizationId, 'admin'],
  );
  assert.equal(new Date(deploy?.nextSchedule ?? '').getUTCHours(), 8);
  assert.deepEqual((await environmentOf(id)).nextScheduledDates, {
    deploy: deploy?.nextSchedule,
    destroy: destroy?.nextSchedule,
  });
  const changed = await put(id, { deploy: { cron: '30 9 * * *', enabled: false } });
  assert.deepEqual(
    [changed.deploy?.id, changed.deploy?.cron, changed.deploy?.enabled, changed.destroy],
    [deploy?.id, '30 9 * * *', false, undefined],
  );
  assert.deepEqual((await environmentOf(id)).nextScheduledDates, {});
  assert.deepEqual(await ok('listProjectSchedules', { id: app.projectId }), [changed]);
  assert.deepEqual(await put(id, {}), {});
  assert.deepEqual(await get(id), {});
  assert.deepEqual(await ok('updateEnvironmentSchedule', { id }), {}, 'no body clears, too');
  assert.deepEqual(await ok('listProjectSchedules', { id: app.projectId }), []);
});

test('an impossible schedule is refused by name, and nothing of it is stored', async () => {
  const { id } = await createActive();
  const refusals: [object, RegExp][] = [
    [
      { deploy: { cron: 'whenever', enabled: true } },
      /\/body\/deploy\/cron is not a valid cron expression: it needs five fields/,
    ],
    [{ destroy: { cron: '61 * * * *' } }, /\/body\/destroy\/cron is not a valid cron expression/],
    [{ destroy: { cron: '0 0 30 2 *' } }, /\/body\/destroy\/cron .* never comes/],
    [{ deploy: { cron: '* * * * * *' } }, /\/body\/deploy\/cron .* it needs five fields/],
    [
      { deploy: { cron: '0 8 * * *', timeZone: 'Mars/Olympus' } },
      /\/body\/deploy\/timeZone "Mars\/Olympus" does not name a time zone/,
    ],
    [
      { deploy: { cron: '0 8 * * *', timeZone: '+02:00' } },
      /\/body\/deploy\/timeZone "\+02:00" does not name/,
    ],
    [
      { deploy: { cron: '0 8 * * *' }, destroy: { cron: ' 0 8 * * * ' } },
      /\/body\/destroy\/cron must differ/,
    ],
    [{ deploy: { enabled: true } }, /\/body\/deploy\/cron is required/],
    [{ deploy: { cron: '0 8 * * *', enabled: 'yes' } }, /\/body\/deploy\/enabled/],
    [{ delete: {} }, /\/body\/delete is not a field/],
  ];
  for (const [body, message] of refusals)
    await refused('updateEnvironmentSchedule', 400, message, { id, body });
  assert.deepEqual(await get(id), {});
  const idle = await createIdle();
  assert.equal((await put(idle.id, { deploy: { cron: '0 8 * * *' } })).deploy?.enabled, true);
  assert.equal(
    (await put(idle.id, { deploy: { cron: '0 8 * * *', enabled: false } })).deploy?.enabled,
    false,
  );
  await refused('getEnvironmentSchedule', 404, { id: app.projectId });
});

test('a schedule goes by the clock of its time zone, and by UTC where none was sent', async () => {
  const { id } = await createActive();
  const { deploy, destroy } = await put(id, {
    deploy: { cron: '0 8 * * *', timeZone: 'asia/kolkata' },
    destroy: { cron: '0 8 * * *' },
  });
  assert.deepEqual([deploy?.timeZone, destroy?.timeZone], ['Asia/Calcutta', 'UTC']);
  assert.deepEqual(
    [deploy?.nextSchedule, destroy?.nextSchedule].map((at) => at?.slice(11, 16)),
    ['02:30', '08:00'],
  );
  const patch = (body: object) => ok('updateDriftSchedule', { id, body });
  await patch({ enabled: true, cron: '0 4 * * *', timeZone: 'Europe/Berlin' });
  assert.equal((await patch({ enabled: false })).timeZone, 'Europe/Berlin', 'an omitted one stays');
});

test('drift detection runs once an hour at most, and not everywhere at the same moment', async () => {
  const starts = new Set<string | undefined>();
  for (let index = 0; index < 4; index++) {
    const driftDetectionRequest = { enabled: true, cron: '0 4 * * *' };
    const { id } = await createIdle({ driftDetectionRequest });
    const { cron, nextSchedule } = await ok('getDriftSchedule', { id });
    assert.deepEqual([cron, nextSchedule?.slice(11, 13)], ['0 4 * * *', '04']);
    starts.add(nextSchedule);
  }
  assert.ok(starts.size > 1);
  const often = await createIdle({ driftDetectionRequest: { enabled: true, cron: '*/5 * * * *' } });
  const { cron, nextSchedule } = await ok('getDriftSchedule', { id: often.id });
  const rhythm = { cron: '0 * * * *', timeZone: 'UTC' };
  const hourly = nextDriftRun(rhythm, often.id, new Date(Date.parse(nextSchedule ?? '') - 1));
  assert.deepEqual([cron, hourly?.toISOString()], ['*/5 * * * *', nextSchedule], 'accepted as sent');
  const driftDetectionRequest = { enabled: true, cron: '0 0 31 2 *' };
  const body = createBody({ driftDetectionRequest });
  const { message } = await refused('createEnvironmentWithoutTemplate', 400, { body });
  assert.match(message, /\/body\/driftDetectionRequest\/cron "0 0 31 2 \*" names a time that never comes/);
});

test('enabling a schedule removes the TTL', async () => {
  const { id } = await createActive({ ttl: { type: 'HOURS', value: '3' } });
  await put(id, { destroy: { cron: '0 20 * * *', enabled: false } });
  assert.ok((await environmentOf(id)).lifespanEndAt);
  await put(id, { destroy: { cron: '0 20 * * *', enabled: true } });
  assert.equal((await environmentOf(id)).lifespanEndAt, null);
});

test('drift runs are scheduled when an environment is created or later, and can be disabled', async () => {
  covers(
    'createEnvironmentWithoutTemplate',
    'body.driftDetectionRequest',
    'body.driftDetectionRequest.enabled',
    'body.driftDetectionRequest.cron',
  );
  covers('Environment', 'driftStatus');
  const getDrift = (id: string) => ok('getDriftSchedule', { id });
  const patch = (id: string, body: object) => ok('updateDriftSchedule', { id, body });
  const { id, driftStatus } = await createIdle({
    driftDetectionRequest: { enabled: true, cron: '0 */6 * * *' },
  });
  const stored = await getDrift(id);
  assert.deepEqual([stored.enabled, stored.cron, driftStatus], [true, '0 */6 * * *', 'NEVER_RUN']);
  assert.ok(stored.nextSchedule);
  const disabled = await createIdle({ driftDetectionRequest: { enabled: false, cron: '0 */6 * * *' } });
  assert.equal((await getDrift(disabled.id)).enabled, false);
  assert.deepEqual((await environmentOf(id)).nextScheduledDates, {});
  const off = await patch(id, { enabled: false });
  assert.deepEqual(
    [off.enabled, off.cron, off.nextSchedule, (await environmentOf(id)).driftStatus],
    [false, '0 */6 * * *', undefined, 'DISABLED'],
  );
  for (const autoDriftRemediation of ['DISABLED', 'CODE_TO_CLOUD'] as const) {
    await patch(id, { enabled: true, autoDriftRemediation });
    assert.equal((await getDrift(id)).autoDriftRemediation, autoDriftRemediation);
  }
  assert.deepEqual(
    [(await patch(id, { enabled: true })).autoDriftRemediation, (await getDrift(id)).cron],
    ['CODE_TO_CLOUD', '0 */6 * * *'],
  );
  const other = await createIdle();
  const place = { environmentId: other.id, projectId: app.projectId, organizationId: app.organizationId };
  assert.deepEqual(await getDrift(other.id), { enabled: false, cron: '', ...place });
  assert.deepEqual(await patch(other.id, { enabled: false }), { enabled: false, cron: '', ...place });
  await refused('updateDriftSchedule', 400, /\/body\/cron is required/, {
    id: other.id,
    body: { enabled: true },
  });
  await refused('updateDriftSchedule', 400, /\/body\/cron is not a valid cron/, {
    id: other.id,
    body: { enabled: true, cron: 'x' },
  });
});
