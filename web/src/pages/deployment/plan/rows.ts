/** The rows of a plan: in the order in which people read them, searched and filtered. */
import { type ChangeKind, changeKinds } from '#contract/deployments/change-kinds.ts';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { kindOf, kindsOf } from '#contract/deployments/plan-counts.ts';
import { shownValue } from './values.ts';

export interface PlanRow {
  readonly change: ResourceChange;
  readonly kind: ChangeKind;
  /** Unique within the plan, also where a tool names an address twice. */
  readonly key: string;
}

/** Order of rows: possible losses first; within a kind by module and address, as the tool orders them. */
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

/** Name for resources that are in no module. */
const rootModule = '(root)';

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
    ({ change }) =>
      (kinds.size === 0 || kindsOf(change).some((kind) => kinds.has(kind))) &&
      (module === undefined || moduleOf(change) === module) &&
      (provider === undefined || change.providerName === provider) &&
      words.every((word) => textOf(change).includes(word)),
  );
}

/** The values of a field of all rows, each once and in order, for a filter. */
export function choicesOf(rows: readonly PlanRow[], field: (change: ResourceChange) => string): string[] {
  return [...new Set(rows.map(({ change }) => field(change)))].toSorted();
}

/** Summary of a closed row's attributes: their names if they change, otherwise their number. */
export function attributeSummary({ kind, change: { attributes } }: PlanRow): string {
  if (attributes.length === 0) return '';
  if (kind !== 'update' && kind !== 'replace')
    return attributes.length === 1 ? '1 attribute' : `${attributes.length} attributes`;
  const forcing = attributes.filter(({ forcesReplacement }) => forcesReplacement === true);
  const named = (forcing.length > 0 ? forcing : attributes).map(({ name }) => name);
  const rest = named.length > 4 ? `, and ${named.length - 4} more` : '';
  return `${forcing.length > 0 ? 'because of ' : ''}${named.slice(0, 4).join(', ')}${rest}`;
}

export interface ShownAttributes {
  readonly listed: ResourceChange['attributes'];
  /** Names of those of a new resource about which nothing is known before it is made. */
  readonly unknown: readonly string[];
}

/** The attributes of an open row: those that force a replacement first. */
export function shownAttributes({ attributes }: ResourceChange, kind: ChangeKind): ShownAttributes {
  const isUnknown = ({ after }: ResourceChange['attributes'][number]) =>
    kind === 'create' && shownValue(after).kind === 'unknown';
  const forcing = attributes.filter(({ forcesReplacement }) => forcesReplacement === true);
  const others = attributes.filter((each) => each.forcesReplacement !== true && !isUnknown(each));
  return {
    listed: [...forcing, ...others],
    unknown: attributes.filter(isUnknown).map(({ name }) => name),
  };
}
