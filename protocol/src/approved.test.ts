import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvedHash, differingPart, variablesHash } from './approved.ts';

const parts = { planFile: 'a', commit: 'b', toolVersion: 'c', lockFile: 'd', variables: 'e' };

test('every part changes the approved hash and is named when it differs', () => {
  assert.equal(differingPart(parts, { ...parts }), null);
  for (const part of ['planFile', 'commit', 'toolVersion', 'lockFile', 'variables'] as const) {
    const other = { ...parts, [part]: 'other' };
    assert.notEqual(approvedHash(other), approvedHash(parts));
    assert.match(differingPart(parts, other) ?? '', /^the /);
  }
});

test('the hash of variables depends on names, values, kinds and formats, not on their order', () => {
  const one = { name: 'a', value: '1', isSensitive: false };
  const two = { name: 'b', value: '2', isSensitive: true };
  const hash = variablesHash({ environment: [], terraform: [one, two] });
  assert.equal(variablesHash({ environment: [], terraform: [two, one] }), hash);
  assert.notEqual(variablesHash({ environment: [one], terraform: [two] }), hash);
  assert.notEqual(variablesHash({ environment: [], terraform: [{ ...one, value: '3' }, two] }), hash);
  assert.notEqual(variablesHash({ environment: [], terraform: [{ ...one, format: 'HCL' }, two] }), hash);
});
