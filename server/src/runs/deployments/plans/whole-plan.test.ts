import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plan } from '#contract/deployments/plan.ts';
import { planSummaryOf } from '#contract/deployments/plan-counts.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { wholePlan } from './whole-plan.ts';

const plan = (...paths: readonly string[]): Plan => ({
  resourceChanges: paths.map((path) => ({
    ...{ name: 'it', providerName: 'p', type: 't', path, action: 'create', kind: 'create' },
    attributes: [],
  })),
  outputChanges: paths.map((path) => ({
    name: `${path.replace(/\/t\.it$/, '')}.id`,
    action: 'create',
    attributes: [],
  })),
});

test('the plans of all levels are one plan of what was applied, whatever units are in each other', () => {
  const waits = { reason: 'it waits', follows: true } as const;
  const whole = wholePlan([
    {
      plan: plan('vpc/t.it', 'vpc/app/t.it', 'far/t.it'),
      planned_units: [{ unit: 'vpc' }, { unit: 'vpc/app', ...waits }, { unit: 'far', reason: 'it waits' }],
    },
    { plan: plan('vpc/app/t.it'), planned_units: [{ unit: 'vpc/app' }] },
  ]);
  assert.deepEqual(fieldOf(whole.plan.resourceChanges, 'path'), ['vpc/t.it', 'vpc/app/t.it']);
  assert.deepEqual(fieldOf(whole.plan.outputChanges, 'name'), ['vpc.id', 'vpc/app.id']);
  assert.equal(planSummaryOf(whole.plan).added, 2);
  assert.deepEqual(fieldOf(whole.units, 'unit'), ['vpc', 'far', 'vpc/app']);
});
