import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesRegex } from './match-regex.ts';

const endless = ['^(a+)+$', `${'a'.repeat(50)}!`] as const;

/** Of the processor: the machine may have other work. */
function secondsOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000_000;
}

test('an expression is found in a value, or not', () => {
  assert.equal(matchesRegex('^a+$', 'aaa'), true);
  assert.equal(matchesRegex('b', 'abc'), true);
  assert.equal(matchesRegex('^a+$', 'aab'), false);
  assert.equal(matchesRegex('(', 'a'), null, 'one that does not compile');
});

test('what one expression does has no effect on the next one', () => {
  assert.equal(matchesRegex('a(?<name>b)', 'ab'), true);
  assert.equal(matchesRegex('^value$', 'value'), true);
  assert.equal(matchesRegex('^$', ''), true);
});

test('500 common expressions take no time worth mentioning', () => {
  const seconds = secondsOf(() => {
    for (let count = 1; count <= 500; count++)
      assert.equal(matchesRegex(`^[a-z]{1,${count}}$`, 'a'.repeat(count)), true);
  });
  assert.ok(seconds < 2, `${seconds} s`);
});

test('one that would never end is given up, many of them take little longer than one, and others still work', () => {
  assert.equal(matchesRegex(...endless), null);
  const seconds = secondsOf(() => {
    for (let count = 0; count < 50; count++) assert.equal(matchesRegex(...endless), null);
  });
  assert.ok(seconds < 4, `50 took ${seconds} s, which would be 5 s without a common allowance`);
  assert.equal(matchesRegex('^[a-z]+$', 'word'), true);
});

test('expressions that would never end are given up on a megabyte of output, too', () => {
  const output = `${'Error: '.repeat(20_000)}${'a'.repeat(900_000)}!`;
  for (const regex of ['(a+)+$', '(a|a)*$', '(.*a){30}$', '^(\\w+\\s?)*$', '(?=(a+))\\1b'])
    assert.ok(secondsOf(() => assert.notEqual(matchesRegex(regex, output), true)) < 2, regex);
  assert.equal(matchesRegex('a!$', output), true);
});
