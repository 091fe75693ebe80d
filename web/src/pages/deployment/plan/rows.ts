/** The rows of a plan: in the order in which people read them, searched and filtered. */
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { type ChangeKind, changeKinds, kindOf } from './kinds.ts';

export interface PlanRow {
  readonly change: ResourceChange;
  readonly kind: ChangeKind;
  /** Unique within the plan, also where a tool names an address twice. */
  readonly key: string;
}

/** What can be lost first; within a kind by module and address, as the tool orders them. */
export function rowsOf(changes: readonly ResourceChange[]): PlanRow[] {
  const seen = new Map<string, number>();
  const rows = changes.map((change) => {
    const times = seen.get(change.path) ?? 0;
    seen.set(change.path, times + 1);
    return { change, kind: kindOf(change), key: times === 0 ? change.path : `${change.path} (${times + 1})` };
  });
  const rank = new Map(changeKinds.map((kind, at) => [kind, at]));
  return rows.toSorted((one, other) => rank.get(one.kind)! - rank.get(other.kind)!);
}

export interface PlanFilter {
  /** Words that the address, the name, the type or an attribute's name has to contain. */
  readonly text: string;
  /** Empty: all. */
  readonly kinds: ReadonlySet<ChangeKind>;
  readonly module: string | undefined;
  readonly provider: string | undefined;
}

/** What stands for resources that are in no module. */
export const rootModule = '(root)';

export function moduleOf({ moduleName }: Pick<ResourceChange, 'moduleName'>): string {
  return moduleName === undefined || moduleName === '' ? rootModule : moduleName;
}

function searchedText({ path, name, type, id, previousAddress, attributes }: ResourceChange): string {
  const names = attributes.map((attribute) => attribute.name);
  return [path, name, type, id, previousAddress, ...names].join('\n').toLowerCase();
}

const textOfChange = new WeakMap<ResourceChange, string>();

function textOf(change: ResourceChange): string {
  const known = textOfChange.get(change);
  if (known !== undefined) return known;
  const text = searchedText(change);
  textOfChange.set(change, text);
  return text;
}

/** The rows that fit all parts of a filter. */
export function filterRows(
  rows: readonly PlanRow[],
  { text, kinds, module, provider }: PlanFilter,
): PlanRow[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return rows.filter(
    ({ change, kind }) =>
      (kinds.size === 0 || kinds.has(kind)) &&
      (module === undefined || moduleOf(change) === module) &&
      (provider === undefined || change.providerName === provider) &&
      words.every((word) => textOf(change).includes(word)),
  );
}

/** The values of a field of all rows, each once and in order, for a filter. */
export function choicesOf(rows: readonly PlanRow[], field: (change: ResourceChange) => string): string[] {
  return [...new Set(rows.map(({ change }) => field(change)))].toSorted();
}
