import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../../testing/client.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, ok, refused, add, createActive, createIdle } = await startAgentTests();
const now = () => app.context.now();
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();
const calendar = (query: Record<string, string> = {}) => ok('getCalendar', { query });
const of = ({ entries }: Reply<'getCalendar'>, id: string) =>
  entries.filter(({ environmentId }) => environmentId === id);

test('runs of schedules, drift runs, notices and ends are in one list in the order of time', async () => {
  const scheduled = await createActive({
    name: 'scheduled',
    driftDetectionRequest: { enabled: true, cron: '0 4 * * *' },
  });
  await ok('updateEnvironmentSchedule', {
    id: scheduled.id,
    body: { deploy: { cron: '0 8 * * *', timeZone: 'Europe/Berlin' }, destroy: { cron: '*/10 20 * * *' } },
  });
  const ending = await createActive({ name: 'ending', ttl: { type: 'HOURS', value: '60' } });
  const { entries, isComplete } = await calendar({ to: inHours(96) });
  assert.equal(isComplete, true);
  const times = entries.map(({ at }) => at);
  assert.deepEqual(times, times.toSorted());
  // Whole days: the rest of today may have runs of a schedule, too.
  const from = new Date(now()).setUTCHours(24, 0, 0, 0);
  const to = new Date(from + 4 * 86_400_000).toISOString();
  const days = await calendar({ from: new Date(from).toISOString(), to });
  const kinds = Map.groupBy(days.entries, ({ kind }) => kind);
  assert.equal(kinds.get('deploy')?.length, 4);
  assert.equal(kinds.get('driftDetection')?.length, 4);
  const [destroy] = kinds.get('destroy') ?? [];
  assert.equal(kinds.get('destroy')?.length, 4, 'six runs a day are one entry');
  assert.deepEqual(
    [destroy?.isRepeated, destroy?.cron, destroy?.timeZone, destroy?.environmentName],
    [true, '*/10 20 * * *', 'UTC', 'scheduled'],
  );
  assert.deepEqual(
    of({ entries } as Reply<'getCalendar'>, ending.id).map(({ kind, text }) => [kind, text.slice(0, 11)]),
    [
      ['notice', 'notice 1 of'],
      ['notice', 'notice 2 of'],
      ['notice', 'notice 3 of'],
      ['expiry', 'expires, an'],
    ],
  );
});

test('what will not happen as things are says why, and what is archived is left out', async () => {
  const { id } = await createActive({ ttl: { type: 'HOURS', value: '5' } });
  const idle = await createIdle({ driftDetectionRequest: { enabled: true, cron: '0 4 * * *' } });
  await ok('setEnvironmentLock', { id, body: { isLocked: true } });
  const found = await calendar();
  assert.match(of(found, id).at(-1)?.held ?? '', /It is locked/);
  assert.match(of(found, idle.id)[0]?.held ?? '', /It is NEVER_DEPLOYED/);
  await ok('updateEnvironment', { id, body: { isArchived: true } });
  assert.deepEqual(of(await calendar(), id), []);
  const ending = await createActive();
  const params = { id: ending.id };
  await ok('updateEnvironmentSchedule', { params, body: { deploy: { cron: '0 */6 * * *' } } });
  await ok('updateEnvironmentTtl', { params, body: { type: 'HOURS', value: '24' } });
  const runs = of(await calendar(), ending.id).filter(({ kind }) => kind === 'deploy');
  assert.equal(runs[0]?.held, undefined);
  assert.match(runs.at(-1)?.held ?? '', /^Its lifetime ends before/);
});

test('a long calendar is read in parts that add up, and a moment is not divided', async () => {
  const project = await add('Project', 'many');
  for (let index = 0; index < 3; index++) {
    const { id } = await createActive({ projectId: project.id });
    await ok('updateEnvironmentSchedule', { id, body: { deploy: { cron: '0 6 * * *' } } });
  }
  const query = { projectId: project.id, to: inHours(24 * 10) };
  const whole = await calendar(query);
  assert.equal(whole.entries.length, 30);
  const parts: typeof whole.entries = [];
  for (let from: string | undefined = inHours(0); from !== undefined; ) {
    const part: Reply<'getCalendar'> = await calendar({ ...query, from, limit: '4' });
    assert.ok(part.entries.length <= 6);
    assert.equal(part.isComplete, part.nextFrom === undefined);
    parts.push(...part.entries);
    from = part.nextFrom;
  }
  assert.deepEqual(parts, whole.entries);
  const later = await calendar({ ...query, from: inHours(24 * 5) });
  assert.equal(later.entries.length, 15, 'a part that begins later');
});

test('spans that are empty, backwards or too long are refused by name', async () => {
  for (const [query, message] of [
    [{ from: inHours(2), to: inHours(1) }, /\/query\/to must be later than from/],
    [{ to: inHours(24 * 93) }, /\/query\/to must be at most 92 days after from/],
    [{ from: 'soon' }, /\/query\/from/],
    [{ projectId: '0198d3a0-0000-7000-8000-000000000000' }, /\/query\/projectId/],
  ] as const)
    await refused('getCalendar', 400, message, { query });
});

test('everybody sees the environments that they may see', async () => {
  const project = await add('Project', 'mine');
  const { id } = await createActive({ projectId: project.id, ttl: { type: 'HOURS', value: '5' } });
  const { organizationId } = app;
  const viewer = await app.addKey({ [organizationId]: 'User' }, [
    { organizationId, projectId: project.id, role: 'Viewer' },
  ]);
  const member = await app.addKey({ [organizationId]: 'User' });
  const seen = async (key: typeof viewer) =>
    new Set((await ok('getCalendar', { as: key })).entries.map(({ environmentId }) => environmentId));
  assert.deepEqual([...(await seen(viewer))], [id]);
  assert.deepEqual([...(await seen(member))], []);
});
