import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canMove, isActive, openStatuses, serialTypes } from '#contract/life-cycle/life-cycle.ts';
import {
  deploymentStatuses,
  deploymentTypes,
  environmentStatuses,
  templateTypes,
} from '#contract/schema/enumerations.ts';
import { runnableTools } from '#protocol/tools/index.ts';
import { planOnlyTypes, runnableDeploymentTypes } from '#protocol/tools/steps.ts';
import { isSerial, waitsFor } from '../../queue/queue-order.ts';
import { type ApprovalFacts, abortRefusal, approvalRefusal, cancelRefusal } from './decide-action.ts';
import { decideNext, type PhaseFacts } from './decide-next.ts';
import { decideStart, type StartFacts } from './decide-start.ts';

const queued = fc.record({
  id: fc.uuid(),
  type: fc.constantFrom(...deploymentTypes),
  status: fc.constantFrom(...openStatuses),
});
const queue = fc.array(queued, { maxLength: 6 });

const start = fc.record<StartFacts>({
  type: fc.constantFrom(...deploymentTypes),
  tool: fc.constantFrom(...templateTypes),
  environment: fc.record({
    name: fc.constant('network'),
    status: fc.constantFrom(...environmentStatuses),
    restingStatus: fc.constantFrom(...environmentStatuses),
    isLocked: fc.boolean(),
    lockReason: fc.constantFrom(null, 'audit'),
    isArchived: fc.boolean(),
  }),
  open: queue,
  mayHaveResources: fc.boolean(),
  hasLastDeploy: fc.boolean(),
});

const facts = (
  more: Partial<StartFacts> & { environment?: Partial<StartFacts['environment']> } = {},
): StartFacts => ({
  type: 'deploy',
  tool: 'terraform',
  open: [],
  mayHaveResources: true,
  hasLastDeploy: true,
  ...more,
  environment: {
    name: 'network',
    status: 'ACTIVE',
    restingStatus: 'ACTIVE',
    isLocked: false,
    lockReason: null,
    isArchived: false,
    ...more.environment,
  },
});

test('deployments that cannot run or are locked out are neither started nor queued', () => {
  fc.assert(
    fc.property(start, (input) => {
      const decision = decideStart(input);
      const isIdle = input.type === 'destroy' && !input.mayHaveResources && input.open.length === 0;
      const isRunnable = (runnableTools as readonly string[]).includes(input.tool) || isIdle;
      const cannot = !isRunnable;
      const isKnown = (runnableDeploymentTypes as readonly string[]).includes(input.type);
      if (decision.kind !== 'refuse') assert.equal(decision.kind === 'skip', !isKnown);
      if (cannot)
        assert.deepEqual(
          [decision.kind, decision.kind === 'refuse' && decision.code],
          ['refuse', 'bad_request'],
        );
      else if (input.environment.isLocked)
        assert.deepEqual(
          [decision.kind, decision.kind === 'refuse' && decision.code],
          ['refuse', 'conflict'],
        );
      if (decision.kind === 'refuse')
        assert.match(decision.message, cannot ? /cannot be run by this version/ : /network/);
    }),
  );
});

test('a serial deployment starts only where nothing serial is open', () => {
  fc.assert(
    fc.property(start, (input) => {
      const decision = decideStart(input);
      const isFree = !input.open.some(({ type }) => isSerial(type));
      if (isSerial(input.type) && decision.kind !== 'refuse')
        assert.equal(decision.kind === 'queue', !isFree);
      if (decision.kind === 'nothing-to-destroy')
        assert.deepEqual([input.type, input.mayHaveResources, isFree], ['destroy', false, true]);
    }),
  );
});

test('a destroy is refused when there is nothing to destroy or another destroy is open', () => {
  const destroy = (more: Parameters<typeof facts>[0]) => decideStart(facts({ type: 'destroy', ...more }));
  for (const status of ['NEVER_DEPLOYED', 'INACTIVE'] as const)
    assert.equal(destroy({ environment: { status } as never }).kind, 'refuse');
  assert.equal(destroy({ environment: { isArchived: true, status: 'INACTIVE' } as never }).kind, 'refuse');
  assert.equal(destroy({ open: [{ id: 'd', type: 'destroy', status: 'QUEUED' }] }).kind, 'refuse');
  assert.deepEqual(
    destroy({
      open: [{ id: 'd', type: 'deploy', status: 'IN_PROGRESS' }],
      environment: { status: 'DEPLOY_IN_PROGRESS' } as never,
    }),
    { kind: 'queue', behind: 'd' },
  );
  assert.deepEqual(destroy({ mayHaveResources: false }), { kind: 'nothing-to-destroy' });
  assert.deepEqual(destroy({}), { kind: 'start' });
});

test('an archived environment accepts only a deploy', () => {
  const archived = { environment: { isArchived: true, status: 'INACTIVE' } as never };
  assert.equal(decideStart(facts(archived)).kind, 'start');
  for (const type of ['prPlan', 'driftDetection', 'dryRun'] as const)
    assert.equal(decideStart(facts({ type, ...archived })).kind, 'refuse');
});

test('the queue is ordered: the first never waits, the others wait for an earlier one, and all end', () => {
  fc.assert(
    fc.property(queue, (open) => {
      for (const [index, candidate] of open.entries()) {
        const ahead = waitsFor(candidate, open);
        if (ahead) assert.ok(open.findIndex(({ id }) => id === ahead.id) < index);
        if (ahead && !isSerial(candidate.type)) assert.equal(ahead.status, 'WAITING_FOR_USER');
      }
      const left = [...open];
      while (left.length > 0) {
        const free: number = left.findIndex((each) => !waitsFor(each, left));
        assert.ok(free >= 0, 'an agent is free');
        left.splice(free, 1);
      }
    }),
  );
});

test('at most one serial deployment can start at a time', () => {
  fc.assert(
    fc.property(queue, (open) => {
      const free = open.filter(
        (each) => (serialTypes as readonly string[]).includes(each.type) && !waitsFor(each, open),
      );
      assert.ok(free.length <= 1);
    }),
  );
});

const results = ['planned', 'applied', 'failed', 'aborted', 'timed-out', 'internal'] as const;
const phase = fc.record<PhaseFacts>({
  type: fc.constantFrom(...deploymentTypes),
  status: fc.constantFrom(
    ...deploymentStatuses.filter((status) => status === 'IN_PROGRESS' || status === 'ABORTING'),
  ),
  result: fc.constantFrom(...results),
  requiresApproval: fc.boolean(),
  hasPolicies: fc.boolean(),
  hasLostState: fc.boolean(),
  isOutdated: fc.boolean(),
  isApplySkipped: fc.boolean(),
  hasNextLevel: fc.boolean(),
  isApproved: fc.boolean(),
});

test('the end of a phase is always a move that the life cycle has', () => {
  fc.assert(
    fc.property(phase, (input) => {
      const decision = decideNext(input);
      assert.ok(isActive(input.status));
      if (decision.kind === 'end')
        assert.ok(canMove(input.status, decision.status), `${input.status} → ${decision.status}`);
      if (decision.kind === 'wait') assert.ok(canMove(input.status, 'WAITING_FOR_USER'));
    }),
  );
});

test('read-only, aborted, unapproved and outdated runs are not applied', () => {
  fc.assert(
    fc.property(phase, (input) => {
      const decision = decideNext(input);
      if (decision.kind !== 'apply') return;
      assert.ok(!planOnlyTypes.includes(input.type));
      assert.ok(input.isApproved || !input.requiresApproval);
      assert.deepEqual(
        [input.status, input.result, input.isOutdated, input.isApplySkipped],
        ['IN_PROGRESS', 'planned', false, false],
      );
    }),
  );
});

test('each result leads to its own status', () => {
  const after = (result: PhaseFacts['result'], more: Partial<PhaseFacts> = {}) => {
    const decision = decideNext({
      type: 'deploy',
      status: 'IN_PROGRESS',
      requiresApproval: false,
      hasPolicies: false,
      hasLostState: false,
      isOutdated: false,
      isApplySkipped: false,
      hasNextLevel: false,
      isApproved: false,
      result,
      ...more,
    });
    return decision.kind === 'end' ? decision.status : decision.kind;
  };
  assert.deepEqual(
    results.map((result) => after(result)),
    ['apply', 'SUCCESS', 'FAILURE', 'ABORTED', 'TIMEOUT', 'INTERNAL_FAILURE'],
  );
  assert.equal(after('applied', { hasLostState: true }), 'INTERNAL_FAILURE');
  assert.equal(after('planned', { requiresApproval: true }), 'wait');
  assert.equal(after('planned', { isOutdated: true }), 'FAILURE');
  assert.equal(after('planned', { requiresApproval: true, isApplySkipped: true }), 'SUCCESS');
  assert.equal(after('planned', { isOutdated: true, isApplySkipped: true }), 'FAILURE');
  assert.equal(after('failed', { status: 'ABORTING' }), 'ABORTED');
  assert.equal(after('applied', { status: 'ABORTING' }), 'SUCCESS');
  for (const type of planOnlyTypes)
    assert.equal(after('planned', { type, requiresApproval: true }), 'SUCCESS');
});

test('a task starts only in an environment that is deployed', () => {
  const task = (more: Parameters<typeof facts>[0]) => decideStart(facts({ type: 'task', ...more }));
  assert.deepEqual(task({}), { kind: 'start' });
  assert.equal(task({ hasLastDeploy: false }).kind, 'refuse');
  assert.equal(task({ environment: { restingStatus: 'INACTIVE' } as never }).kind, 'refuse');
  const open = [{ id: 'd', type: 'deploy', status: 'IN_PROGRESS' }] as const;
  assert.deepEqual(
    task({ hasLastDeploy: false, open }),
    { kind: 'queue', behind: 'd' },
    'it is decided later',
  );
});

test('a plan is approved only while it waits, unlocked, unchanged and up to date', () => {
  const approval = (more: Partial<ApprovalFacts> = {}) =>
    approvalRefusal({
      status: 'WAITING_FOR_USER',
      planHash: 'hash',
      expectedHash: undefined,
      plannedOn: 'v1',
      currentState: 'v1',
      environment: { name: 'network', isLocked: false },
      approver: null,
      ...more,
    });
  assert.equal(approval(), null);
  assert.equal(approval({ expectedHash: 'hash' }), null);
  assert.match(approval({ status: 'QUEUED' }) ?? '', /is QUEUED/);
  assert.match(approval({ environment: { name: 'network', isLocked: true } }) ?? '', /locked/);
  assert.match(approval({ expectedHash: 'other' }) ?? '', /planHash/);
  assert.match(approval({ expectedHash: 'other', planHash: null }) ?? '', /has none yet/);
  assert.match(approval({ currentState: 'v2' }) ?? '', /outdated/);
  assert.match(approval({ approver: 'Not you' }) ?? '', /Not you/);
});

const noHash = { planHash: null, expectedHash: undefined };

test('a refused cancel points to abort, and a refused abort to cancel', () => {
  for (const status of deploymentStatuses) {
    const isOpen = (openStatuses as readonly string[]).includes(status);
    const [cancel, abort] = [cancelRefusal(status, noHash), abortRefusal(status)];
    assert.equal(cancel === null || abort === null, isOpen, status);
    if (cancel === null) assert.match(abort ?? '', /; cancel it instead$/);
    if (status === 'IN_PROGRESS') assert.match(cancel ?? '', /; abort it instead$/);
  }
});
