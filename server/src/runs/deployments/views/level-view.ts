/** The plan of an earlier level as the interface answers it. */
import type { DeploymentLevel } from '#contract/deployments/shapes.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import type { LevelRow } from '../../../rows/deployments/level-store.ts';

export function levelView(row: LevelRow): DeploymentLevel {
  return {
    level: row.number,
    appliedAt: row.applied_at.toISOString(),
    ...withoutNulls({
      plan: row.plan,
      planSummary: row.plan_summary,
      planHash: row.plan_hash,
      units: row.planned_units,
    }),
  };
}
