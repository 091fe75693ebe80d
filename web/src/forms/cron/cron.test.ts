import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronWords, readCron } from './cron.ts';

test('common expressions are put into words', () => {
  const words = {
    '* * * * *': 'every minute',
    '*/15 * * * *': 'every 15 minutes',
    '5 * * * *': 'every hour at minute 5',
    '0 */6 * * *': 'every 6 hours at minute 0, by UTC',
    '30 6 * * *': 'every day at 06:30 UTC',
    '0 18 * * 1-5': 'every day from Monday to Friday at 18:00 UTC',
    '0 2 * * SUN': 'every Sunday at 02:00 UTC',
    '0 2 * * 1,3,5': 'every Monday, Wednesday and Friday at 02:00 UTC',
    '0 2 1 * *': 'on day 1 of each month at 02:00 UTC',
  };
  for (const [pattern, expected] of Object.entries(words)) assert.equal(cronWords(pattern), expected);
});

test('an expression that takes more words has none, and its next times', () => {
  const { words, next } = readCron('0 2 13 * 5', new Date('2030-01-01T00:00:00Z'));
  assert.equal(words, undefined);
  assert.equal(next.length, 3);
});

test('the next times are those of UTC', () => {
  const { next } = readCron('0 6 * * 1-5', new Date('2030-01-04T07:00:00Z'));
  assert.deepEqual(
    next.map((time) => time.toISOString()),
    ['2030-01-07T06:00:00.000Z', '2030-01-08T06:00:00.000Z', '2030-01-09T06:00:00.000Z'],
  );
});

test('what the service refuses is refused', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  for (const pattern of ['', '* * * *', '0 0 0 * * *', '61 * * * *', 'a b c d e', '0 0 31 2 *'])
    assert.ok(readCron(pattern, now).problem, pattern);
});
