import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome, type TestAgent, testAgent } from '../../../testing/agent.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import {
  createActive,
  createEnvironment,
  createIdle,
  deploy,
  environmentOf,
} from '../../../testing/environment.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { untilTransactionWaits } from '../../../testing/locks.ts';
import { fireTimers } from './fire-timers.ts';

async function setUp() {
  const app = await testApp();
  const agent = await testAgent(app);
  const pass = async (seconds: number) => {
    app.advance(seconds);
    await fireTimers(app.context);
  };
  return { app, agent, pass };
}

const historyOf = async (app: TestApp, id: string) =>
  (await ok(app, 'listDeployments', { id })).map(({ type, trigger, isScheduledRun, status, startedBy }) => ({
    type,
    trigger,
    isScheduledRun,
    status,
    startedBy,
  }));

async function deployEnvironmentWell(app: TestApp, agent: TestAgent, id: string): Promise<void> {
  await deploy(app, id);
  await agent.run();
}

/** Seconds from now on until a time of the schedule has just come. */
const until = (app: TestApp, instant: string | undefined) =>
  Math.ceil((Date.parse(instant ?? '') - app.context.now().getTime()) / 1000) + 1;

test('an expired environment is destroyed once, after its notices', async () => {
  covers('Deployment', 'trigger');
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent, { ttl: { type: 'HOURS', value: '72' } });
  const hour = 3600;
  const marks: number[] = [];
  for (const seconds of [23 * hour, 2 * hour, 44 * hour, 1 * hour + 1800, hour]) {
    await pass(seconds);
    marks.push((await environmentOf(app, id)).markedForAutoDestroy);
  }
  assert.deepEqual(marks, [0, 1, 1, 2, 3]);
  assert.equal((await historyOf(app, id)).length, 1);
  await pass(hour);
  await pass(hour);
  const [destroy, ...rest] = await historyOf(app, id);
  assert.deepEqual(destroy, {
    type: 'destroy',
    trigger: 'ttl',
    isScheduledRun: false,
    status: 'IN_PROGRESS',
    startedBy: 'envarium',
  });
  assert.equal(rest.length, 1);
  const environment = await environmentOf(app, id);
  assert.deepEqual(
    [environment.status, environment.latestDeploymentLog.startedByUser.name],
    ['DESTROY_IN_PROGRESS', 'Envarium'],
  );
  assert.equal((await agent.claim()).type, 'destroy');
});

test('the destroy of an expired environment requires approval if its other runs do', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent, { ttl: { type: 'HOURS', value: '1' } });
  await ok(app, 'updateEnvironment', { id, body: { requiresApproval: true } });
  await pass(3601);
  await agent.finish(await agent.claim(), plannedOutcome());
  assert.equal((await environmentOf(app, id)).status, 'WAITING_FOR_USER');
});

test('a locked environment does not expire; it is destroyed half an hour after the unlock, with a notice', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent, { ttl: { type: 'HOURS', value: '1' } });
  const lock = (isLocked: boolean) => ok(app, 'setEnvironmentLock', { id, body: { isLocked } });
  await lock(true);
  await pass(7200);
  assert.equal((await historyOf(app, id)).length, 1);
  await lock(false);
  assert.equal((await environmentOf(app, id)).markedForAutoDestroy, 3);
  await pass(60);
  assert.equal((await historyOf(app, id)).length, 1);
  await pass(1800);
  assert.equal((await historyOf(app, id))[0]?.type, 'destroy');
});

test('a notice that came due under a lock is sent after the unlock', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent, { ttl: { type: 'HOURS', value: '72' } });
  const lock = (isLocked: boolean) => ok(app, 'setEnvironmentLock', { id, body: { isLocked } });
  await lock(true);
  await pass(30 * 3600);
  await lock(false);
  const marks: number[] = [];
  for (const seconds of [5, 40 * 3600, 1800 * 3]) {
    await pass(seconds);
    marks.push((await environmentOf(app, id)).markedForAutoDestroy);
  }
  assert.deepEqual(marks, [1, 2, 3]);
});

test('archived and never deployed environments are not destroyed at their expiry', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent, { ttl: { type: 'HOURS', value: '1' } });
  const idle = await createIdle(app, { ttl: { type: 'HOURS', value: '1' } });
  await ok(app, 'updateEnvironment', { id, body: { isArchived: true } });
  await pass(7200);
  assert.equal((await historyOf(app, id)).length, 1);
  assert.deepEqual(fieldOf(await historyOf(app, idle.id), 'status'), ['NEVER_DEPLOYED']);
  assert.deepEqual(app.logged, []);
});

test('a schedule is accepted during the first deployment, and its ticks count once that has succeeded', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createEnvironment(app, { requiresApproval: false });
  const schedule = () => ok(app, 'getEnvironmentSchedule', { id });
  const { deploy } = await ok(app, 'updateEnvironmentSchedule', {
    id,
    body: { deploy: { cron: '0 */2 * * *' }, destroy: { cron: '30 */2 * * *' } },
  });
  await pass(until(app, deploy?.nextSchedule));
  await pass(until(app, (await schedule()).destroy?.nextSchedule));
  assert.equal((await historyOf(app, id)).length, 1);
  const job = await agent.claim();
  await agent.finish(job, plannedOutcome({ result: 'failed' }));
  await pass(until(app, (await schedule()).deploy?.nextSchedule));
  assert.equal((await historyOf(app, id)).length, 1);
  await deployEnvironmentWell(app, agent, id);
  await pass(until(app, (await schedule()).destroy?.nextSchedule));
  assert.deepEqual(fieldsOf(await historyOf(app, id), 'type', 'isScheduledRun'), [
    ['destroy', true],
    ['deploy', false],
    ['deploy', false],
  ]);
});

test('a schedule deploys and destroys at its times, with the saved settings', async () => {
  covers('Deployment', 'isScheduledRun');
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent);
  const { deploy: first } = await ok(app, 'updateEnvironmentSchedule', {
    id,
    body: { deploy: { cron: '0 */2 * * *' }, destroy: { cron: '0 1-23/2 * * *' } },
  });
  const at = async () => (await environmentOf(app, id)).nextScheduledDates;
  const next = await at();
  assert.equal(next.deploy, first?.nextSchedule);
  const isDeployFirst = Date.parse(next.deploy ?? '') < Date.parse(next.destroy ?? '');
  await pass(until(app, isDeployFirst ? next.deploy : next.destroy));
  const [run] = await historyOf(app, id);
  assert.deepEqual(run, {
    type: isDeployFirst ? 'deploy' : 'destroy',
    trigger: 'scheduled',
    isScheduledRun: true,
    status: 'IN_PROGRESS',
    startedBy: 'envarium',
  });
  const later = await at();
  const [earlier, moved] = isDeployFirst ? [next.deploy, later.deploy] : [next.destroy, later.destroy];
  assert.equal(Date.parse(moved ?? '') - Date.parse(earlier ?? ''), 7_200_000);
  await pass(60);
  assert.equal((await historyOf(app, id)).length, 2);
});

test('a tick missed during an outage, a lock or archiving is skipped', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent);
  await ok(app, 'updateEnvironmentSchedule', { id, body: { deploy: { cron: '0 * * * *' } } });
  const next = async () => (await environmentOf(app, id)).nextScheduledDates.deploy;
  await pass(until(app, await next()) + 600);
  assert.equal((await historyOf(app, id)).length, 1);
  assert.ok(Date.parse((await next()) ?? '') > app.context.now().getTime());
  for (const [rest, wake] of [
    [
      () => ok(app, 'setEnvironmentLock', { id, body: { isLocked: true } }),
      () => ok(app, 'setEnvironmentLock', { id, body: { isLocked: false } }),
    ],
    [
      () => ok(app, 'updateEnvironment', { id, body: { isArchived: true } }),
      () => ok(app, 'updateEnvironment', { id, body: { isArchived: false } }),
    ],
  ] as const) {
    const due = await next();
    await rest();
    assert.equal(
      (await environmentOf(app, id)).nextScheduledDates.deploy === undefined,
      (await environmentOf(app, id)).isArchived,
    );
    await pass(until(app, due) + 5);
    await pass(120);
    await wake();
    await pass(1);
    assert.equal((await historyOf(app, id)).length, 1);
  }
  await pass(until(app, await next()));
  assert.equal((await historyOf(app, id)).length, 2, 'and the next one comes');
});

test('a tick during a lock of a few seconds is skipped as well', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent);
  await ok(app, 'updateEnvironmentSchedule', { id, body: { deploy: { cron: '0 * * * *' } } });
  const due = (await environmentOf(app, id)).nextScheduledDates.deploy;
  const lock = (isLocked: boolean) => ok(app, 'setEnvironmentLock', { id, body: { isLocked } });
  await pass(until(app, due) - 10);
  await lock(true);
  await pass(12);
  await lock(false);
  await pass(1);
  assert.equal((await historyOf(app, id)).length, 1);
  assert.ok(
    Date.parse((await environmentOf(app, id)).nextScheduledDates.deploy ?? '') > Date.parse(due ?? ''),
  );
});

test('a scheduled run that is refused is in the audit trail with the reason', async () => {
  const { app, agent, pass } = await setUp();
  const { organizationId, projectId } = app;
  const { id } = await createActive(app, agent);
  const put = (body: object) => ok(app, 'updateEnvironmentSchedule', { id, body });
  const refusals = async () =>
    (
      await ok(app, 'listAuditEvents', {
        query: { organizationId, action: 'environment.scheduledRunRefused' },
      })
    ).events.map(({ entityId, payload }) => [entityId, payload?.['type'], payload?.['reason']]);
  await put({ destroy: { cron: '0 * * * *' } });
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.destroy));
  await agent.run([]);
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.destroy));
  assert.deepEqual(await refusals(), [], 'a destroy of what is destroyed already is not worth an entry');
  await ok(app, 'updatePolicy', { body: { projectId, numberOfEnvironmentsTotal: 0 } });
  await put({ deploy: { cron: '0 * * * *' } });
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.deploy));
  const [[entityId, type, reason] = [], ...others] = await refusals();
  assert.deepEqual([entityId, type, others], [id, 'deploy', []]);
  assert.match(String(reason), /allows 0 active environments \(numberOfEnvironmentsTotal\)/);
});

test('a schedule does not deploy what has expired, which nothing would destroy again', async () => {
  const { app, agent, pass } = await setUp();
  const { organizationId } = app;
  const { id } = await createActive(app, agent);
  const params = { id };
  const cron = `30 ${(app.context.now().getUTCHours() + 3) % 24} * * *`;
  await ok(app, 'updateEnvironmentSchedule', { params, body: { deploy: { cron } } });
  await ok(app, 'updateEnvironmentTtl', { params, body: { type: 'HOURS', value: '1' } });
  await pass(3601);
  await agent.run([]);
  const deploys = async () => (await historyOf(app, id)).filter(({ trigger }) => trigger === 'scheduled');
  const before = (await deploys()).length;
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.deploy));
  assert.equal((await deploys()).length, before);
  const query = { organizationId, action: 'environment.scheduledRunRefused' } as const;
  const { events } = await ok(app, 'listAuditEvents', { query });
  assert.match(String(events[0]?.payload?.['reason']), /^The environment expired at /);
  await ok(app, 'updateEnvironmentTtl', { params, body: { type: 'INFINITE' } });
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.deploy));
  assert.equal((await deploys()).length, before + 1);
});

test('a long pass delays later timers, but skips none', async () => {
  const { app, agent, pass } = await setUp();
  const ids: string[] = [];
  for (const minute of [0, 1]) {
    const { id } = await createActive(app, agent);
    await ok(app, 'updateEnvironmentSchedule', { id, body: { deploy: { cron: `${minute} * * * *` } } });
    ids.push(id);
  }
  const [first = '', second = ''] = ids;
  await pass(until(app, (await environmentOf(app, first)).nextScheduledDates.deploy) - 30);
  // The first of the two takes five minutes.
  let isSlow = true;
  const newId = () => {
    if (isSlow) app.advance(300);
    isSlow = false;
    return app.context.newId();
  };
  app.advance(31);
  await fireTimers({ ...app.context, newId });
  assert.equal(isSlow, false);
  assert.deepEqual([(await historyOf(app, first)).length, (await historyOf(app, second)).length], [2, 2]);
});

test('runs of a schedule do not pile up behind an unapproved one', async () => {
  const { app, agent, pass } = await setUp();
  const { id } = await createActive(app, agent);
  await ok(app, 'updateEnvironment', { id, body: { requiresApproval: true } });
  await ok(app, 'updateEnvironmentSchedule', { id, body: { deploy: { cron: '* * * * *' } } });
  await pass(until(app, (await environmentOf(app, id)).nextScheduledDates.deploy));
  await agent.finish(await agent.claim(), plannedOutcome());
  for (let minute = 0; minute < 5; minute++) await pass(60);
  assert.deepEqual(fieldOf(await historyOf(app, id), 'status'), ['WAITING_FOR_USER', 'SUCCESS']);
});

test('drift runs start while the environment is active, but not in an archived project', async () => {
  const { app, agent, pass } = await setUp();
  const drift = { driftDetectionRequest: { enabled: true, cron: '0 * * * *' } };
  const project = await ok(app, 'createProject', {
    body: { organizationId: app.organizationId, name: 'closing' },
  });
  const active = await createActive(app, agent, drift);
  const away = await createActive(app, agent, { ...drift, projectId: project.id });
  const idle = await createIdle(app, drift);
  await ok(app, 'deleteProject', { id: project.id });
  const schedule = await ok(app, 'getDriftSchedule', { id: active.id });
  await pass(until(app, schedule.nextSchedule));
  assert.deepEqual((await historyOf(app, active.id))[0], {
    type: 'driftDetection',
    trigger: 'driftDetection',
    isScheduledRun: true,
    status: 'IN_PROGRESS',
    startedBy: 'envarium',
  });
  assert.deepEqual([(await historyOf(app, away.id)).length, (await historyOf(app, idle.id)).length], [1, 1]);
});

test('each timer fires once, also with several servers', async () => {
  const { app } = await setUp();
  const ids: string[] = [];
  for (let index = 0; index < 6; index++) {
    const { id } = await createIdle(app, { ttl: { type: 'HOURS', value: '1' } });
    await deploy(app, id);
    ids.push(id);
  }
  app.advance(3601);
  await Promise.all(Array.from({ length: 4 }, () => fireTimers(app.context)));
  for (const id of ids)
    assert.equal((await historyOf(app, id)).filter(({ type }) => type === 'destroy').length, 1);
});

test('a failing timer does not delay others', async () => {
  const { app, agent, pass } = await setUp();
  const broken = await createActive(app, agent, { ttl: { type: 'HOURS', value: '1' } });
  const whole = await createActive(app, agent, { ttl: { type: 'HOURS', value: '1' } });
  await app.database.pool.query(
    'alter table deployment add constraint broken check (environment_id::text <> $$' +
      broken.id +
      "$$ or type <> 'destroy') not valid",
  );
  await pass(3601);
  assert.equal((await historyOf(app, whole.id))[0]?.type, 'destroy');
  assert.match(app.logged.join(), /a timer of an environment failed/);
  assert.match((await environmentOf(app, broken.id)).waitingFor?.text ?? '', /could not start the destroy/);
  await app.database.pool.query('alter table deployment drop constraint broken');
  await pass(301);
  assert.equal((await historyOf(app, broken.id))[0]?.type, 'destroy');
});

test('an environment that another transaction holds comes again in the same pass, however long that takes', async () => {
  const { app } = await setUp();
  const ids: string[] = [];
  for (const hours of ['1', '2', '3']) {
    const { id } = await createIdle(app, { ttl: { type: 'HOURS', value: hours } });
    await deploy(app, id);
    ids.push(id);
  }
  const [held, slow, later] = ids as [string, string, string];
  const holder = await app.database.pool.connect();
  const blocker = await app.database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from environment where id = $1 for update', [held]);
    await blocker.query('begin');
    await blocker.query('lock table deployment in exclusive mode');
    app.advance(2 * 3600 + 1);
    const pass = fireTimers(app.context);
    await untilTransactionWaits(app.database);
    await holder.query('rollback');
    // Due only now, so that there is a further turn.
    await app.database.pool.query(
      'update environment set lifespan_end_at = $2, next_ttl_at = $2 where id = $1',
      [later, app.context.now()],
    );
    await blocker.query('rollback');
    await pass;
  } finally {
    holder.release(true);
    blocker.release(true);
  }
  for (const [name, id] of Object.entries({ held, slow, later })) {
    const ended = (await historyOf(app, id)).filter(({ type }) => type === 'destroy').length;
    assert.equal(ended, 1, `${name}\n${app.logged.join('\n')}`);
  }
});

/**
 * A pass over environments of which each is overdue for a second longer than the next one.
 * @returns their numbers in the order in which they were handled
 */
async function orderOfPass(count: number): Promise<number[]> {
  const { app } = await setUp();
  const { pool } = app.database;
  const { id } = await createIdle(app);
  await pool.query(
    `insert into environment select (jsonb_populate_record(environment, jsonb_build_object(
      'id', gen_random_uuid(), 'name', n, 'next_ttl_at', $2::timestamptz + make_interval(secs => n)))).*
    from environment, generate_series(0, $3::integer - 1) as n where id = $1`,
    [id, new Date(app.context.now().getTime() - 3_600_000), count],
  );
  await pool.query(`create table handled (position serial, number integer);
    create function note_handled() returns trigger language plpgsql as
      $$ begin insert into handled (number) values (new.name::integer); return null; end $$;
    create trigger note_handled after update on environment for each row execute function note_handled()`);
  await fireTimers(app.context);
  const { rows } = await pool.query<{ number: number }>('select number from handled order by position');
  return fieldOf(rows, 'number');
}

for (const half of [0, 1])
  test(`of a long list, a server handles every other environment, and the rest in its next turn: half ${half}`, async (t) => {
    t.mock.method(Math, 'random', () => half);
    const long = await orderOfPass(101);
    assert.equal(new Set(long).size, 101);
    assert.equal(long.length, 101);
    const own = long.filter((number) => number % 2 === half);
    assert.deepEqual(long.slice(0, own.length), own);
  });

test('a list that is not long is handled in its order, apart from what is handled at the same time', async () => {
  const short = await orderOfPass(100);
  assert.equal(new Set(short).size, 100);
  for (const [position, number] of short.entries())
    assert.ok(number < position + 5, `${number} is at ${position}`);
});
