import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { accountsFile, accountsWith } from './accounts.ts';

test('a user without an account gets one, next to those of the machine', () => {
  const machine = readFileSync(accountsFile, 'utf8').trim();
  assert.equal(
    accountsWith(4_000_000_001, '/srv/home'),
    `${machine}\nrun:x:4000000001:4000000001:run:/srv/home:/bin/sh\n`,
  );
});

test('accounts of the machine stay, and a home that none can name has none', () => {
  assert.equal(accountsWith(0, '/srv/home'), null);
  assert.equal(accountsWith(4_000_000_001, '/srv:home'), null);
});
