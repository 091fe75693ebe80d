import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorStatus, errors, errorsPage } from './errors.ts';

const all = Object.entries(errors);

test('every code has a status of its own, in their order', () => {
  const statuses = all.map(([, { status }]) => status);
  assert.deepEqual(
    statuses,
    [...new Set<number>(statuses)].sort((one, other) => one - other),
  );
  assert.equal(errorStatus.precondition_failed, 412);
});

test('the page has a row with cause and remedy for every code', () => {
  const page = errorsPage();
  for (const [code, { status, cause, remedy }] of all) {
    for (const text of [cause, remedy]) assert.match(text, /^[A-Z].*\.$/, code);
    assert.ok(page.includes(`| ${status} | \`${code}\` | ${cause} | ${remedy} |`), code);
  }
});
