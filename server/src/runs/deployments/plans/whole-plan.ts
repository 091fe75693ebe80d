/** Combined result of a deployment in levels, once its last level is applied. */
import type { Updateable } from 'kysely';
import type { Plan, PlannedUnit, ResourceChange } from '#contract/deployments/plan.ts';
import { planSummaryOf } from '#contract/deployments/plan-counts.ts';
import { versionsOfUnits } from '#contract/deployments/unit-names.ts';
import type { Context } from '../../../framework/context.ts';
import { type AppliedPlan, currentPlan, listLevels } from '../../../rows/deployments/level-store.ts';
import type { DeploymentTable } from '../../../rows/schema.ts';

/** The unit that something is in; a unit may be in a folder of another one. */
function unitOf(name: string, separator: string, units: readonly string[]): string | undefined {
  const within = units.filter((unit) => unit === '.' || name.startsWith(`${unit}${separator}`));
  return within.toSorted((one, other) => other.length - one.length)[0];
}

type PlanOfUnits = Pick<AppliedPlan, 'plan' | 'planned_units'>;

/** Part of a plan that its apply has carried out. */
function appliedOf({ plan, planned_units: units }: PlanOfUnits): Plan {
  const known: readonly PlannedUnit[] = units ?? [];
  const names = known.map(({ unit }) => unit);
  const left = new Set(known.flatMap(({ unit, reason }) => (reason === undefined ? [] : [unit])));
  const isApplied = (name: string, separator: string) => !left.has(unitOf(name, separator, names) ?? '');
  return {
    resourceChanges: (plan?.resourceChanges ?? []).filter(({ path }) => isApplied(path, '/')),
    outputChanges: (plan?.outputChanges ?? []).filter(({ name }) => isApplied(name, '.')),
  };
}

/** The plans of all levels as one, in the order in which they were applied. Pure. */
function wholePlan(plans: readonly PlanOfUnits[]): { plan: Plan; units: PlannedUnit[] } {
  const applied = plans.map(appliedOf);
  const resourceChanges: ResourceChange[] = applied.flatMap((plan) => plan.resourceChanges);
  return {
    plan: { resourceChanges, outputChanges: applied.flatMap((plan) => plan.outputChanges) },
    units: plans.flatMap(({ planned_units: units }) =>
      (units ?? []).filter(({ reason, follows }) => reason === undefined || follows !== true),
    ),
  };
}

/** The versions that the units were planned with, as an outcome has them. */
function versionColumns(units: readonly PlannedUnit[]): Updateable<DeploymentTable> {
  const { providerVersions: providers, moduleVersions: modules } = versionsOfUnits(units);
  return {
    ...(Object.keys(providers).length > 0 ? { provider_versions: JSON.stringify(providers) } : {}),
    ...(Object.keys(modules).length > 0 ? { module_versions: JSON.stringify(modules) } : {}),
  };
}

/** Columns of a deployment that ends well: its plan is that of all levels. */
export async function wholePlanColumns(
  { db }: Pick<Context, 'db'>,
  deploymentId: string,
): Promise<Updateable<DeploymentTable>> {
  const plans = [...(await listLevels(db, deploymentId)), ...(await currentPlan(db, deploymentId))];
  const { plan, units } = wholePlan(plans);
  return {
    plan: JSON.stringify(plan),
    plan_summary: JSON.stringify(planSummaryOf(plan)),
    planned_units: JSON.stringify(units),
    has_changes: plans.some((each) => each.has_changes === true),
    has_resource_changes: plans.some((each) => each.has_resource_changes === true),
    ...versionColumns(units),
  };
}
