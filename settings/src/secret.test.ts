import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Secret } from './secret.ts';

test('a secret is shown only where it is explicitly revealed', () => {
  const secret = new Secret('planted');
  assert.equal(secret.reveal(), 'planted');
  assert.equal(JSON.stringify({ secret }), '{"secret":"[sealed]"}');
  assert.equal(String(secret), '[sealed]');
  assert.doesNotMatch(
    inspect({ secret }, { showHidden: true, depth: 9 }) + format('%s %o %j', secret, secret, secret),
    /planted/,
  );
});
