import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ApprovalDecider, approvalDeciders } from '#contract/schema/enumerations.ts';
import {
  type ApprovalSettings,
  type ApprovalVerdict,
  approvalAtStart,
  approvalOfPlan,
  type Unlifted,
  waitsForMore,
} from './decide-approval.ts';

const nothing: Unlifted = { isProjectUnlifted: false };

type Row = readonly [
  planner: boolean,
  variable: boolean | null,
  verdict: ApprovalVerdict | null,
  request: boolean | undefined,
  environment: boolean,
  waits: boolean,
  by: ApprovalDecider,
];

const rows: readonly Row[] = [
  // The setting of the environment decides where nothing else says anything.
  [false, null, null, undefined, true, true, 'environment'],
  [false, null, null, undefined, false, false, 'environment'],
  // The request is stronger.
  [false, null, null, false, true, false, 'request'],
  [false, null, null, true, false, true, 'request'],
  // Policies are stronger, in both directions; what they say nothing about waits.
  [false, null, 'allow', true, true, false, 'policy'],
  [false, null, 'pending', false, false, true, 'policy'],
  [false, null, 'none', false, false, true, 'policy'],
  // The variable is stronger than policies.
  [false, true, 'allow', false, false, true, 'variable'],
  [false, false, 'pending', true, true, false, 'variable'],
  [false, false, 'none', true, true, false, 'variable'],
  [false, true, null, false, false, true, 'variable'],
  [false, false, null, true, true, false, 'variable'],
  // Plans of users who may only plan are never applied without another user.
  [true, false, 'allow', false, false, true, 'planner'],
  [true, null, null, undefined, false, true, 'planner'],
];

for (const [isOnlyPlanner, variable, verdict, request, environment, waits, by] of rows) {
  const input = JSON.stringify({ isOnlyPlanner, variable, verdict, request, environment });
  test(`a plan ${waits ? 'waits' : 'is applied'} because of the ${by}: ${input}`, () => {
    const atStart = approvalAtStart({ isOnlyPlanner, variable, request, environment, unlifted: nothing });
    assert.deepEqual(approvalOfPlan(atStart, verdict), { isRequired: waits, decidedBy: by });
  });
}

const demanded: readonly (readonly [
  ApprovalSettings,
  verdict: ApprovalVerdict | null,
  waits: boolean,
  by: ApprovalDecider,
])[] = [
  // An outer `true` that an inner level hides.
  [lifting({ variable: false }, { variable: 'variable' }), 'allow', true, 'variable'],
  [lifting({ variable: null }, { variable: 'variable' }), null, true, 'variable'],
  // Policies decide in spite of the variable.
  [lifting({ variable: false }, { variable: 'policy' }), 'pending', true, 'policy'],
  [lifting({ variable: false }, { variable: 'policy' }), 'none', true, 'policy'],
  [lifting({ variable: false }, { variable: 'policy' }), 'allow', false, 'policy'],
  // A project that does not let people approve their own plans.
  [lifting({ variable: false }, { variable: 'project', isProjectUnlifted: true }), null, true, 'project'],
  [lifting({ request: false }, { isProjectUnlifted: true }), null, true, 'project'],
  [lifting({ request: true }, { isProjectUnlifted: true }), null, true, 'project'],
  [lifting({}, { isProjectUnlifted: true }), null, true, 'project'],
  [lifting({ environment: true }, { isProjectUnlifted: true }), null, true, 'project'],
  [lifting({}, { isProjectUnlifted: true }), 'allow', false, 'policy'],
  [lifting({}, { isProjectUnlifted: true }), 'pending', true, 'policy'],
  // The variable of a user who may lifts all of it.
  [lifting({ variable: false }, { isProjectUnlifted: true }), null, false, 'variable'],
];

function lifting(requested: Partial<ApprovalSettings>, unlifted: Partial<Unlifted>): ApprovalSettings {
  const settings = {
    isOnlyPlanner: false,
    variable: null,
    request: undefined,
    environment: false,
    ...requested,
  };
  return { ...settings, unlifted: { ...nothing, ...unlifted } };
}

test('what is demanded above is not lifted below', () => {
  assert.deepEqual(
    demanded.map(([input, verdict]) => approvalOfPlan(approvalAtStart(input), verdict)),
    demanded.map(([, , isRequired, decidedBy]) => ({ isRequired, decidedBy })),
  );
  const byProject = approvalAtStart(lifting({}, { isProjectUnlifted: true }));
  assert.deepEqual(
    approvalOfPlan(byProject, 'allow', 'project'),
    byProject,
    'policies below do not lift it either',
  );
  const byPolicy = { isRequired: true, decidedBy: 'policy' };
  assert.deepEqual(approvalOfPlan(approvalAtStart(lifting({}, {})), 'allow', 'policy'), byPolicy);
});

const verdicts = [null, 'allow', 'pending', 'none'] as const;
const settings = fc.record<ApprovalSettings>({
  isOnlyPlanner: fc.boolean(),
  variable: fc.constantFrom(null, true, false),
  request: fc.constantFrom(undefined, true, false),
  environment: fc.boolean(),
  unlifted: fc.constant(nothing),
});

test('what is weaker than what decides changes nothing', () => {
  fc.assert(
    fc.property(settings, settings, fc.constantFrom(...verdicts), (input, other, verdict) => {
      const { isRequired, decidedBy } = approvalOfPlan(approvalAtStart(input), verdict);
      const strength = decidedBy ? approvalDeciders.indexOf(decidedBy) : 0;
      const keep = <Value>(decider: ApprovalDecider, own: Value, another: Value) =>
        strength >= approvalDeciders.indexOf(decider) ? own : another;
      const changed = {
        isOnlyPlanner: keep('planner', input.isOnlyPlanner, other.isOnlyPlanner),
        variable: keep('variable', input.variable, other.variable),
        request: keep('request', input.request, other.request),
        environment: keep('environment', input.environment, other.environment),
        unlifted: nothing,
      };
      assert.deepEqual(approvalOfPlan(approvalAtStart(changed), verdict), { isRequired, decidedBy });
    }),
  );
});

test('after an approval, only policies that ask for more hold a plan', () => {
  assert.deepEqual(verdicts.map(waitsForMore), [false, false, true, false]);
});
