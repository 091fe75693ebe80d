/** The rows of the table of costs. */
import type { CostEstimation, CostResource } from '#contract/deployments/plan.ts';

export interface CostRow {
  readonly name: string;
  readonly type: string;
  /** Path of its unit; empty where there are none. */
  readonly unit: string;
  /** After the deployment; undefined: by usage. */
  readonly monthly: number | undefined;
  readonly change: number;
  readonly isWithoutPrice: boolean;
}

function amountOf({ monthlyCost }: CostResource): number | undefined {
  const amount = Number(monthlyCost);
  return monthlyCost === undefined || !Number.isFinite(amount) ? undefined : amount;
}

/** Everything that exists after the deployment, the dearest first, and what it removes. */
export function costRows({ projects = [] }: CostEstimation): CostRow[] {
  const rows = projects.flatMap(({ name: unit = '', breakdown, diff }) => {
    const changes = new Map((diff?.resources ?? []).map((row) => [row.name, row]));
    const now = (breakdown?.resources ?? []).map((row) => {
      const change = changes.get(row.name);
      changes.delete(row.name);
      return { row, monthly: amountOf(row), change: (change && amountOf(change)) ?? 0 };
    });
    const gone = [...changes.values()].map((row) => ({ row, monthly: 0, change: amountOf(row) ?? 0 }));
    return [...now, ...gone].map(({ row, ...amounts }) => ({
      name: row.name,
      type: row.resourceType ?? '',
      unit,
      isWithoutPrice: row.isWithoutPrice ?? false,
      ...amounts,
    }));
  });
  return rows.toSorted((one, other) => (other.monthly ?? 0) - (one.monthly ?? 0));
}
