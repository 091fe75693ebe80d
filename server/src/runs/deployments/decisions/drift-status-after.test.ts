import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driftStatusAfter } from './drift-status-after.ts';

test('a drift run reports its result, and ERROR when it failed', () => {
  const run = { type: 'driftDetection', driftDetected: true } as const;
  assert.equal(driftStatusAfter('NEVER_RUN', { ...run, status: 'SUCCESS' }), 'DRIFTED');
  assert.equal(driftStatusAfter('DRIFTED', { ...run, driftDetected: false, status: 'SUCCESS' }), 'OK');
  for (const status of ['FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT'] as const)
    assert.equal(driftStatusAfter('OK', { ...run, status }), 'ERROR');
  assert.equal(driftStatusAfter('DRIFTED', { ...run, status: 'ABORTED' }), 'DRIFTED');
});

test('a successful deployment clears drift, but only in environments that were checked before', () => {
  const deploy = { type: 'deploy', driftDetected: null } as const;
  assert.equal(driftStatusAfter('DRIFTED', { ...deploy, status: 'SUCCESS' }), 'OK');
  assert.equal(driftStatusAfter('NEVER_RUN', { ...deploy, status: 'SUCCESS' }), 'NEVER_RUN');
  assert.equal(driftStatusAfter('DRIFTED', { ...deploy, status: 'FAILURE' }), 'DRIFTED');
  assert.equal(
    driftStatusAfter('DRIFTED', { type: 'prPlan', driftDetected: null, status: 'SUCCESS' }),
    'DRIFTED',
  );
});
