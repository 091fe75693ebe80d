import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventOfMove, type Move } from './event-of-move.ts';

const move = (more: Partial<Move>): Move => ({
  type: 'deploy',
  from: 'IN_PROGRESS',
  to: 'SUCCESS',
  driftDetected: null,
  driftBefore: 'OK',
  ...more,
});

test('each move of a deploy and a destroy has its event', () => {
  const expected: [Partial<Move>, string | null][] = [
    [{ from: null, to: 'QUEUED' }, null],
    [{ from: null, to: 'IN_PROGRESS' }, 'environmentDeployStarted'],
    [{ from: 'QUEUED', to: 'IN_PROGRESS' }, 'environmentDeployStarted'],
    [{ from: 'QUEUED', to: 'IN_PROGRESS', type: 'destroy' }, 'environmentDestroyStarted'],
    [{ to: 'WAITING_FOR_USER' }, 'deploymentWaitingForUser'],
    [{ from: 'WAITING_FOR_USER', to: 'IN_PROGRESS' }, 'environmentDeployResumed'],
    [{ from: 'WAITING_FOR_USER', to: 'IN_PROGRESS', type: 'destroy' }, 'environmentDestroyResumed'],
    [{}, 'deploySucceeded'],
    [{ type: 'destroy' }, 'destroySucceeded'],
    [{ to: 'FAILURE' }, 'deployFailed'],
    [{ to: 'INTERNAL_FAILURE', type: 'destroy' }, 'destroyFailed'],
    [{ from: 'WAITING_FOR_USER', to: 'TIMEOUT' }, 'deployFailed'],
    [{ to: 'ABORTING' }, null],
    [{ from: 'ABORTING', to: 'ABORTED' }, 'deploymentCancelled'],
    [{ from: 'QUEUED', to: 'CANCELLED' }, 'deploymentCancelled'],
    [{ from: 'QUEUED', to: 'SKIPPED' }, null],
    [{ type: 'task' }, null],
    [{ type: 'prPlan', to: 'FAILURE' }, null],
  ];
  for (const [input, event] of expected) assert.equal(eventOfMove(move(input)), event, JSON.stringify(input));
});

test('a drift run without drift is an event only where there was some before', () => {
  const drift = (more: Partial<Move>) => eventOfMove(move({ type: 'driftDetection', ...more }));
  assert.equal(drift({ driftDetected: true, driftBefore: 'DRIFTED' }), 'driftDetected');
  assert.equal(drift({ driftDetected: false, driftBefore: 'DRIFTED' }), 'driftUndetected');
  assert.equal(drift({ driftDetected: false }), null);
  assert.equal(drift({ to: 'FAILURE' }), 'driftFailed');
  assert.equal(drift({ to: 'CANCELLED' }), null);
});
