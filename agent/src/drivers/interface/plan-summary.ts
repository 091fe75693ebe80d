import type { Plan } from '#contract/deployments/plan.ts';
import { kindOf, planSummaryOf } from '#contract/deployments/plan-counts.ts';
import type { PlanReading } from './driver.ts';

/** A plan whose rows have their kinds, with its summary. */
export function withSummary(plan: Plan): Pick<PlanReading, 'plan' | 'planSummary'> {
  const resourceChanges = plan.resourceChanges.map((row) => ({ ...row, kind: kindOf(row) }));
  return { plan: { ...plan, resourceChanges }, planSummary: planSummaryOf({ resourceChanges }) };
}
