import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../../testing/database.ts';
import { openClock } from './clock.ts';

test("the clock follows the database's clock, not the machine's, also when the database's is set", async () => {
  await using database = await testDatabase();
  let wrong = 90_000;
  const clock = await openClock(database.db, () => Date.now() + wrong);
  const isRight = () => Math.abs(clock.now().getTime() - Date.now()) < 1000;
  assert.ok(isRight());
  wrong = -3_600_000;
  assert.ok(!isRight());
  await clock.compare();
  assert.ok(isRight());
});

test("a jump of the machine's clock between two comparisons moves no time", async (t) => {
  await using database = await testDatabase();
  const real = () => performance.timeOrigin + performance.now();
  let hours = 0;
  t.mock.method(Date, 'now', () => real() + hours * 3_600_000);
  const clock = await openClock(database.db);
  for (hours of [1, -1]) assert.ok(Math.abs(clock.now().getTime() - real()) < 60_000);
});

test("on one machine the clock is the machine's own, to the millisecond", async () => {
  await using database = await testDatabase();
  let at = Date.now();
  const clock = await openClock(database.db, () => at);
  for (let pass = 0; pass < 3; pass++) {
    await clock.compare();
    assert.equal(clock.now().getTime(), at);
    at = Date.now();
  }
});
