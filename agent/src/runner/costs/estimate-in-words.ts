/** An estimate as lines for people. */
import type { CostEstimation } from '#contract/deployments/plan.ts';

const mostLines = 50;

function amount(value: number): string {
  return value.toFixed(2);
}

function changeInWords(difference: number): string {
  if (difference === 0) return 'as before';
  return `${amount(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than before`;
}

function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** @param estimate as `readEstimate` returns it */
export function estimateInWords(estimate: CostEstimation): string {
  const { totalMonthlyCost = 0, monthlyCostDiff = 0, currency = 'USD', projects = [] } = estimate;
  const rows = projects.flatMap(({ name, breakdown }) =>
    (breakdown?.resources ?? []).map((row) => ({ ...row, unit: name === undefined ? '' : `${name}: ` })),
  );
  const lines = rows.slice(0, mostLines).map(({ unit, name, monthlyCost, isWithoutPrice }) => {
    const cost = monthlyCost === undefined ? 'by usage' : amount(Number(monthlyCost));
    return `  ${cost.padStart(12)}  ${unit}${name}${isWithoutPrice ? ' (a price is missing)' : ''}`;
  });
  const left = rows.length - lines.length + (estimate.omitted ?? 0);
  const unknown = projects.flatMap(({ unsupported = {} }) => Object.entries(unsupported));
  return [
    `Costs per month: ${amount(totalMonthlyCost)} ${currency}, ${changeInWords(monthlyCostDiff)}.`,
    ...lines,
    ...(left > 0 ? [`  and ${plural(left, 'other resource')}`] : []),
    ...(estimate.withoutPrice === undefined
      ? []
      : [
          `A price is missing for ${plural(estimate.withoutPrice, 'resource')}: they count less than they cost.`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `Not included, because Infracost does not know them: ${unknown.map(([type, count]) => `${count} ${type}`).join(', ')}.`,
        ]),
  ].join('\n');
}
