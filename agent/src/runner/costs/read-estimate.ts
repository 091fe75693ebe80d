/**
 * Reads what infracost prints, which depends on code and on a service that are unknown here: nothing of it is
 * trusted.
 */
import type { CostBreakdown, CostEstimation, CostProject, CostResource } from '#contract/deployments/plan.ts';
import { isRecord } from '#contract/schema/is-record.ts';

type CutText = (text: string, mostCharacters: number) => string;

/** In each list of all projects together. */
const mostResources = 300;
const mostTypes = 100;
const longestName = 500;
const unusable = 'what infracost printed is not an estimate';

function numberText(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,40})?$/.test(value)) return undefined;
  return value;
}

/** A total, which is null or absent where nothing has costs. */
function total(value: unknown, cut: CutText): string {
  if (value === undefined || value === null) return '0';
  const text = numberText(value);
  if (text === undefined)
    throw new Error(`${unusable}: ${cut(JSON.stringify(value), 60)} should be an amount`);
  return text;
}

function nameOf(value: unknown, cut: CutText): string | undefined {
  return typeof value === 'string' && value !== '' ? cut(value, longestName) : undefined;
}

function recordsIn(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Resources have parts, which have parts; no real ones are deeper than this. */
function lacksPrice(resource: Record<string, unknown>, depth = 0): boolean {
  if (depth > 8) return false;
  return (
    recordsIn(resource['costComponents']).some((part) => part['priceNotFound'] === true) ||
    recordsIn(resource['subresources']).some((part) => lacksPrice(part, depth + 1))
  );
}

function resourceOf(resource: Record<string, unknown>, cut: CutText): CostResource | null {
  const name = nameOf(resource['name'], cut);
  if (name === undefined) return null;
  const resourceType = nameOf(resource['resourceType'], cut);
  const monthlyCost = numberText(resource['monthlyCost']);
  return {
    name,
    ...(resourceType === undefined ? {} : { resourceType }),
    ...(monthlyCost === undefined ? {} : { monthlyCost }),
    ...(lacksPrice(resource) ? { isWithoutPrice: true } : {}),
  };
}

const sizeOf = ({ monthlyCost }: CostResource) => Math.abs(Number(monthlyCost ?? 0));

function resourcesOf(breakdown: unknown, cut: CutText): CostResource[] {
  const rows = isRecord(breakdown) ? recordsIn(breakdown['resources']) : [];
  return rows
    .map((row) => resourceOf(row, cut))
    .filter((row) => row !== null)
    .toSorted((one, other) => sizeOf(other) - sizeOf(one));
}

function countsOf(summary: unknown, cut: CutText): CostProject['unsupported'] {
  const counts = isRecord(summary) ? summary['unsupportedResourceCounts'] : undefined;
  if (!isRecord(counts)) return undefined;
  const entries = Object.entries(counts)
    .filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && Number(entry[1]) > 0)
    .slice(0, mostTypes)
    .map(([type, count]) => [cut(type, longestName), count] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

interface ReadProject {
  readonly project: CostProject;
  readonly now: readonly CostResource[];
  readonly changed: readonly CostResource[];
}

const totalOf = (part: unknown, cut: CutText) =>
  total(isRecord(part) ? part['totalMonthlyCost'] : undefined, cut);

function readProject(found: Record<string, unknown>, unit: string | null, cut: CutText): ReadProject {
  const { breakdown, pastBreakdown, diff, summary } = found;
  if (!isRecord(breakdown)) throw new Error(`${unusable}: a project has no breakdown`);
  const unsupported = countsOf(summary, cut);
  const project: CostProject = {
    ...(unit === null ? {} : { name: cut(unit, longestName) }),
    pastBreakdown: { totalMonthlyCost: totalOf(pastBreakdown, cut) },
    breakdown: { totalMonthlyCost: totalOf(breakdown, cut) },
    diff: { totalMonthlyCost: totalOf(diff, cut) },
    ...(unsupported === undefined ? {} : { unsupported }),
  };
  return { project, now: resourcesOf(breakdown, cut), changed: resourcesOf(diff, cut) };
}

/** The dearest of all projects stay. */
function dearest(lists: readonly (readonly CostResource[])[]): ReadonlySet<CostResource> {
  const all = lists.flat().toSorted((one, other) => sizeOf(other) - sizeOf(one));
  return new Set(all.slice(0, mostResources));
}

const sum = (texts: readonly (string | undefined)[]) =>
  Number(texts.reduce((all, text) => all + Number(text ?? 0), 0).toFixed(6));

function withLists(
  part: CostBreakdown | undefined,
  rows: readonly CostResource[],
  keptResources: ReadonlySet<CostResource>,
): CostBreakdown {
  return { ...part, resources: rows.filter((row) => keptResources.has(row)) };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The same message: the text may be anything.
  }
  throw new Error(unusable);
}

/**
 * @param text what `infracost breakdown --format json` printed
 * @param units the path of the unit of each project, null where there are none; projects are named by their index
 * @param cut shortens a text to that many characters, without leaving a part of a secret
 * @throws Error with a message for people, also if no price at all was found
 */
export function readEstimate(text: string, units: readonly (string | null)[], cut: CutText): CostEstimation {
  const estimate = parse(text);
  const found = new Map(recordsIn(estimate['projects']).map((project) => [project['name'], project]));
  const read = units.map((unit, index) => {
    const project = found.get(projectName(index));
    if (project === undefined) throw new Error(`${unusable}: it lacks a project`);
    return readProject(project, unit, cut);
  });
  const all = read.flatMap(({ now }) => now);
  const withoutPrice = all.filter((row) => row.isWithoutPrice).length;
  if (withoutPrice > 0 && withoutPrice === all.length)
    throw new Error('the pricing service has no price for any of the resources');
  const [now, changed] = [dearest(read.map((one) => one.now)), dearest(read.map((one) => one.changed))];
  const currency = estimate['currency'];
  return {
    totalMonthlyCost: sum(read.map(({ project }) => project.breakdown?.totalMonthlyCost)),
    monthlyCostDiff: sum(read.map(({ project }) => project.diff?.totalMonthlyCost)),
    ...(typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? { currency } : {}),
    projects: read.map((one) => ({
      ...one.project,
      breakdown: withLists(one.project.breakdown, one.now, now),
      diff: withLists(one.project.diff, one.changed, changed),
    })),
    ...(withoutPrice > 0 ? { withoutPrice } : {}),
    ...(all.length > now.size ? { omitted: all.length - now.size } : {}),
  };
}

/** Paths of units are anything, and so are names of files that say them. */
export function projectName(index: number): string {
  return `plan-${index}`;
}

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
