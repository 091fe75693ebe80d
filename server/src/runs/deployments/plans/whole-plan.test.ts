import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plan, PlannedUnit } from '#contract/deployments/plan.ts';
import { fieldOf } from '../../../../testing/fields.ts';
import { startTests } from '../../../../testing/start.ts';
import { keepLevel } from '../../../rows/deployments/level-store.ts';
import { wholePlanColumns } from './whole-plan.ts';

const { app, sql, createEnvironment } = await startTests();

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

test('the plans of all levels are one plan of what was applied, whatever units are in each other', async () => {
  const waits = { reason: 'it waits', follows: true } as const;
  const { latestDeploymentLogId } = await createEnvironment();
  const id = latestDeploymentLogId ?? '';
  const plans = async (plan: Plan, units: readonly PlannedUnit[]) => {
    const values = [JSON.stringify(plan), JSON.stringify(units)];
    await sql('update deployment set plan = $2, planned_units = $3 where id = $1', id, ...values);
  };
  await plans(plan('vpc/t.it', 'vpc/app/t.it', 'far/t.it'), [
    { unit: 'vpc' },
    { unit: 'vpc/app', ...waits },
    { unit: 'far', reason: 'it waits' },
  ]);
  await keepLevel(app.context.db, id, 1, app.context.now());
  await plans(plan('vpc/app/t.it'), [{ unit: 'vpc/app' }]);
  const whole = await wholePlanColumns(app.context, id);
  const { resourceChanges, outputChanges } = JSON.parse(whole.plan as string) as Plan;
  assert.deepEqual(fieldOf(resourceChanges, 'path'), ['vpc/t.it', 'vpc/app/t.it']);
  assert.deepEqual(fieldOf(outputChanges, 'name'), ['vpc.id', 'vpc/app.id']);
  assert.equal((JSON.parse(whole.plan_summary as string) as { added: number }).added, 2);
  const units = JSON.parse(whole.planned_units as string) as PlannedUnit[];
  assert.deepEqual(fieldOf(units, 'unit'), ['vpc', 'far', 'vpc/app']);
});
