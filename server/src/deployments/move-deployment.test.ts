import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driftStatusAfter } from './move-deployment.ts';

test('a drift run says what it found, and ERROR when it could not look', () => {
  const run = { type: 'driftDetection', driftDetected: true } as const;
  assert.equal(driftStatusAfter('NEVER_RUN', { ...run, status: 'SUCCESS' }), 'DRIFTED');
  assert.equal(driftStatusAfter('DRIFTED', { ...run, driftDetected: false, status: 'SUCCESS' }), 'OK');
  for (const status of ['FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT'] as const)
    assert.equal(driftStatusAfter('OK', { ...run, status }), 'ERROR');
  assert.equal(driftStatusAfter('DRIFTED', { ...run, status: 'ABORTED' }), 'DRIFTED');
});

test('a deployment that ended well leaves no drift, but says nothing where nobody ever looked', () => {
  const deploy = { type: 'deploy', driftDetected: null } as const;
  assert.equal(driftStatusAfter('DRIFTED', { ...deploy, status: 'SUCCESS' }), 'OK');
  assert.equal(driftStatusAfter('NEVER_RUN', { ...deploy, status: 'SUCCESS' }), 'NEVER_RUN');
  assert.equal(driftStatusAfter('DRIFTED', { ...deploy, status: 'FAILURE' }), 'DRIFTED');
  assert.equal(
    driftStatusAfter('DRIFTED', { type: 'prPlan', driftDetected: null, status: 'SUCCESS' }),
    'DRIFTED',
  );
});
