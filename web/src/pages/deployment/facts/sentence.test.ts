import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf } from '#contract/deployments/plan-counts.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { decisionsOf, verbOf } from '../decide/actions.ts';
import { timedSteps } from '../parts/steps.ts';
import { type DeploymentHead, levelText, type SentenceFacts, sentenceOf } from './sentence.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const now = Date.parse(at(600));
const user = { user_id: 'u', name: 'Grace', email: '', created_at: '', updated_at: '' };

function sentence(deployment: Partial<DeploymentHead>, more: Partial<SentenceFacts> = {}): string {
  const whole = {
    type: 'deploy',
    queuedAt: at(0),
    reviewersUsers: [],
    ...deployment,
  } as unknown as DeploymentHead;
  return sentenceOf({ deployment: whole, steps: [], counts: undefined, now, ...more });
}

function step(name: string, status: Step['status'], startedAt?: string, completedAt?: string): Step {
  return { name, status, startedAt, completedAt } as Step;
}

const changes = (...actions: ('create' | 'delete' | 'recreate')[]) =>
  countsOf(
    actions.map((action) => ({ action, path: '', name: '', type: '', providerName: '', attributes: [] })),
  );

test('a plan that waits says what it would do, and since when', () => {
  const waitingFor = { kind: 'approval', since: at(-120), text: '' } as const;
  assert.equal(
    sentence(
      { status: 'WAITING_FOR_USER', waitingFor },
      { counts: changes('recreate', 'recreate', 'delete') },
    ),
    'Waiting for approval · 1 to destroy, 2 to replace · requested 12 min ago',
  );
  assert.equal(
    sentence({ status: 'WAITING_FOR_USER', waitingFor }, { counts: changes() }),
    'Waiting for approval · no resource changes · requested 12 min ago',
  );
  assert.equal(
    sentence({ status: 'WAITING_FOR_USER', waitingFor, isPlanEmpty: true }, { counts: changes() }),
    'Waiting for approval · nothing to apply · requested 12 min ago',
  );
});

test('a queued deployment says behind which one, and what that does', () => {
  const waitingFor = {
    kind: 'deployment',
    id: 'x',
    since: at(0),
    text: 'Queued behind the deploy x',
  } as const;
  assert.equal(
    sentence(
      { status: 'QUEUED', waitingFor },
      { ahead: { type: 'destroy', status: 'IN_PROGRESS', startedAt: at(240) } },
    ),
    'Queued behind a destroy (running for 6 min) · requested 10 min ago',
  );
  const lock = { kind: 'lock', since: at(0), text: 'The environment is locked: holidays' } as const;
  assert.equal(
    sentence({ status: 'QUEUED', waitingFor: lock }),
    'Queued · The environment is locked: holidays · requested 10 min ago',
  );
});

test('a running deployment names its step', () => {
  assert.equal(
    sentence(
      { status: 'IN_PROGRESS', startedAt: at(0) },
      { steps: [step('tf:apply', 'IN_PROGRESS', at(588))] },
    ),
    'Running tf:apply for 12 s · started 10 min ago',
  );
});

test('a failed one says where, after how long, and the first error of the tool', () => {
  const steps = [step('tf:plan', 'SUCCESS', at(0), at(5)), step('tf:apply', 'FAIL', at(10), at(180))];
  const error = { message: '\n╷\n│ Error: quota exceeded\n│ more' };
  assert.equal(
    sentence({ status: 'FAILURE', startedAt: at(0), finishedAt: at(180), error }, { steps }),
    'Failed in tf:apply after 3 min: quota exceeded',
  );
});

test('the wait for approval does not count as time of work', () => {
  const steps = [step('approval:wait', 'SUCCESS', at(10), at(3610))];
  assert.equal(
    sentence(
      { status: 'SUCCESS', startedAt: at(0), finishedAt: at(3642) },
      { steps, counts: changes('create', 'create', 'create') },
    ),
    'Succeeded in 42 s: 3 added',
  );
});

test('a success without changes, a drift check and a refusal have words of their own', () => {
  const ended = { startedAt: at(0), finishedAt: at(42) };
  assert.equal(
    sentence({ status: 'SUCCESS', isPlanEmpty: true, ...ended }, { counts: changes() }),
    'Succeeded in 42 s: there was nothing to change',
  );
  assert.equal(
    sentence({ status: 'SUCCESS', isPlanEmpty: false, ...ended }, { counts: changes() }),
    'Succeeded in 42 s: no resource changes',
  );
  assert.equal(
    sentence({ status: 'SUCCESS', type: 'driftDetection', driftDetected: true, ...ended }),
    'Drift was found in 42 s',
  );
  assert.equal(
    sentence({
      status: 'CANCELLED',
      finishedAt: at(540),
      reviewersUsers: [{ user, action: 'cancelled' }],
    }),
    'Refused by Grace 1 min ago',
  );
  const messages = { deny: ['no'], pending: [], allow: [], warn: [] };
  const verdict = { policyId: 'p', policyName: 'No', round: 1, decision: 'deny', messages } as const;
  assert.equal(
    sentence({
      status: 'CANCELLED',
      finishedAt: at(540),
      policyVerdicts: [{ ...verdict, at: at(540) } as never],
    }),
    'Denied by the approval policy No 1 min ago',
  );
});

test('the first line of an error is short, and without what draws its frame', () => {
  const failed = (message: string) => sentence({ status: 'FAILURE', error: { message } });
  assert.equal(failed('╷\n│ Error: no such image\n│ \n'), 'Failed: no such image');
  assert.equal(failed(''), 'Failed');
  assert.equal(failed('x'.repeat(1000)), `Failed: ${'x'.repeat(199)}…`);
});

test('the longest step sets the scale, and the wait for a person does not', () => {
  const steps = [
    step('a', 'SUCCESS', at(0), at(2)),
    step('approval:wait', 'SUCCESS', at(2), at(500)),
    step('b', 'IN_PROGRESS', at(596)),
    step('c', 'NOT_STARTED'),
  ];
  assert.deepEqual(
    timedSteps(steps, now).map(({ milliseconds, share }) => [milliseconds, share]),
    [
      [2000, 0.5],
      [498_000, 1],
      [4000, 1],
      [undefined, 0],
    ],
  );
});

test('the life cycle decides which buttons there are', () => {
  const buttons = (status: DeploymentHead['status'], more: object = {}) => {
    const facts = { status, type: 'deploy' as const, ...more };
    return decisionsOf(facts).map((decision) => verbOf(decision, facts));
  };
  assert.deepEqual(buttons('WAITING_FOR_USER'), ['Approve', 'Refuse']);
  assert.deepEqual(buttons('QUEUED'), ['Cancel']);
  assert.deepEqual(buttons('IN_PROGRESS'), ['Abort']);
  assert.deepEqual(buttons('IN_PROGRESS', { waitingFor: { kind: 'agent', id: 'a' } }), ['Abort', 'Release']);
  assert.deepEqual(buttons('ABORTING'), ['Release']);
  assert.deepEqual(buttons('FAILURE'), ['Deploy again']);
  assert.deepEqual(buttons('FAILURE', { type: 'task' }), []);
});

test('a level is planned, waits, is applied, or is left behind by the end of its deployment', () => {
  assert.equal(levelText({ status: 'IN_PROGRESS' }, []), 'is being planned');
  assert.equal(levelText({ status: 'WAITING_FOR_USER', planHash: 'abc' }, []), 'waits for approval');
  assert.equal(levelText({ status: 'IN_PROGRESS', planHash: 'abc' }, []), 'is being applied');
  assert.equal(levelText({ status: 'SUCCESS', planHash: 'abc' }, []), 'applied');
  for (const status of ['FAILURE', 'CANCELLED', 'ABORTED'] as const)
    assert.equal(levelText({ status, planHash: 'abc' }, []), 'was not completed');
  assert.equal(levelText({ status: 'ABORTING', planHash: 'abc' }, []), 'is being stopped');
  const checked = (status: 'IN_PROGRESS' | 'SUCCESS') =>
    levelText({ status: 'IN_PROGRESS', planHash: 'abc' }, [{ name: 'policy:check', status }]);
  assert.equal(checked('IN_PROGRESS'), 'is being checked');
  assert.equal(checked('SUCCESS'), 'is being applied');
});
