import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameRhythm, nextRun, utc } from './cron.ts';
import { nextDriftRun } from './drift-rhythm.ts';

const berlin = 'Europe/Berlin';

/** The times of a pattern on a day, as the clock of UTC shows them. */
function ticksOf(cron: string, day: string, timeZone = berlin): string[] {
  const ticks: string[] = [];
  const [from, to] = [new Date(`${day}T00:00:00+01:00`), new Date(`${day}T23:59:59+01:00`)];
  for (let at = nextRun({ cron, timeZone }, from); at && at <= to; at = nextRun({ cron, timeZone }, at))
    ticks.push(at.toISOString().slice(11, 16));
  return ticks;
}

test('patterns have five fields, and are read in UTC unless a time zone is named', () => {
  const from = new Date('2026-11-21T10:00:30Z');
  const next = (cron: string, timeZone: string = utc) => nextRun({ cron, timeZone }, from)?.toISOString();
  assert.equal(next('0 8 * * 1-5'), '2026-11-23T08:00:00.000Z');
  assert.equal(next('0 8 * * 1-5', berlin), '2026-11-23T07:00:00.000Z');
  assert.equal(next('*/15 * * * *'), '2026-11-21T10:15:00.000Z');
  assert.equal(next('0 0 31 2 *'), undefined);
  assert.equal(next('0 0 31 2 *', berlin), undefined);
  for (const pattern of ['* * * * * *', '@hourly', '0 0 1 1 * 2030', '60 * * * *', 'a b c d e', ''])
    assert.throws(() => next(pattern), pattern);
  const plain = { cron: '0 8 * * MON', timeZone: utc };
  assert.ok(isSameRhythm({ cron: ' 0  8 * * mon', timeZone: utc }, plain));
  assert.ok(!isSameRhythm({ ...plain, timeZone: berlin }, plain));
});

test('a time that the clock skips in spring comes once, when the clock has been moved on', () => {
  assert.deepEqual(ticksOf('30 2 * * *', '2027-03-28'), ['01:30']);
  assert.deepEqual(ticksOf('*/20 2 * * *', '2027-03-28'), ['01:00', '01:20', '01:40']);
  assert.deepEqual(ticksOf('0 2,3 * * *', '2027-03-28'), ['01:00'], 'both are the same moment');
  assert.deepEqual(ticksOf('30 1,2,3 * * *', '2027-03-28'), ['00:30', '01:30']);
  assert.deepEqual(ticksOf('30 2 * * *', '2027-03-29'), ['00:30']);
});

test('a time that the clock shows twice in autumn comes once', () => {
  assert.deepEqual(ticksOf('30 2 * * *', '2026-10-25'), ['00:30']);
  assert.deepEqual(ticksOf('*/20 2 * * *', '2026-10-25'), ['00:00', '00:20', '00:40']);
  assert.deepEqual(ticksOf('0 2,3 * * *', '2026-10-25'), ['00:00', '02:00']);
  assert.deepEqual(ticksOf('30 2 * * *', '2026-10-26'), ['01:30']);
});

test('steps of hours go by the clock: each time that it names comes once', () => {
  const evenHours = ['04', '06', '08', '10', '12', '14', '16', '18', '20', '22'].map((hour) => `${hour}:00`);
  assert.deepEqual(ticksOf('0 */2 * * *', '2027-03-28'), ['01:00', '02:00', ...evenHours]);
  const oddHours = ['03', '05', '07', '09', '11', '13', '15', '17', '19', '21'].map((hour) => `${hour}:00`);
  assert.deepEqual(ticksOf('0 */2 * * *', '2026-10-25'), ['00:00', ...oddHours]);
  assert.deepEqual(ticksOf('30 0-3/2 * * *', '2026-10-25'), ['00:30']);
});

test('a pattern of every hour goes by the time that passes: no hour is left out, none comes twice', () => {
  for (const [day, hours] of [
    ['2027-03-28', 23],
    ['2026-10-25', 23],
  ] as const) {
    for (const hour of ['*', '*/1', '?']) {
      const ticks = ticksOf(`0 ${hour} * * *`, day);
      assert.ok(ticks.length >= hours, day);
      assert.equal(new Set(ticks).size, ticks.length, day);
    }
  }
});

/** Number of seconds after the full hour at which an environment is checked. */
function driftDelaySeconds(id: string): number {
  const run = nextDriftRun({ cron: '0 * * * *', timeZone: utc }, id, new Date('2026-11-21T10:00:00Z'));
  return ((run?.getTime() ?? 0) / 1000) % 3600;
}

test('a thousand drift runs of one minute are spread over the hour that follows, each always the same', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `environment-${index}`);
  const tenMinutes = Array.from({ length: 6 }, () => 0);
  for (const id of ids) {
    const delay = driftDelaySeconds(id);
    assert.equal(driftDelaySeconds(id), delay);
    tenMinutes[Math.floor(delay / 600)]! += 1;
  }
  for (const count of tenMinutes) assert.ok(count > 100 && count < 250, tenMinutes.join(' '));
  const rhythm = { cron: '0 * * * *', timeZone: utc };
  let at = new Date('2026-11-21T10:00:00Z');
  for (const hour of [10, 11, 12]) {
    const next = nextDriftRun(rhythm, 'environment-7', at);
    assert.ok(next && next > at, 'each hour has one');
    assert.equal(next.getUTCHours(), hour);
    at = next;
  }
});

test('of several times in an hour, drift runs come at the first', () => {
  const from = new Date('2026-11-21T10:07:00Z');
  const ticks = (cron: string, timeZone = utc) => {
    const delay = driftDelaySeconds('environment-7') * 1000;
    const found: string[] = [];
    let at = new Date(from.getTime() + delay);
    for (let index = 0; index < 3; index++) {
      at = nextDriftRun({ cron, timeZone }, 'environment-7', at) ?? assert.fail(cron);
      found.push(new Date(at.getTime() - delay).toISOString().slice(5, 16));
    }
    return found;
  };
  for (const cron of ['* * * * *', '*/5 * * * *', '0,59 * * * *', '0 * * * *'])
    assert.deepEqual(ticks(cron), ['11-21T11:00', '11-21T12:00', '11-21T13:00'], cron);
  assert.deepEqual(ticks('50,10 9-10 * * *'), ['11-21T10:10', '11-22T09:10', '11-22T10:10']);
  assert.deepEqual(ticks('5-6 3 1 * *', berlin), ['12-01T02:05', '01-01T02:05', '02-01T02:05']);
  for (const pattern of ['* * * * * *', '@hourly', '60 * * * *'])
    assert.throws(() => ticks(pattern), pattern);
});
