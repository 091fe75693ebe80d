/**
 * Changes of a plan to resources: kinds, counts and words, for all programs.
 *
 * `action` of a row keeps its five values, because clients that were generated from the interface refuse others; `kind`
 * says more. A row can count for several kinds, such as a resource that is moved and changed. `added` and `destroyed`
 * include replacements, as clients expect; a replacement that leaves the old object alone is one added and one
 * forgotten. What is deferred is in no other count. Only the driver knows whether a plan is empty: that is never
 * derived from counts.
 */
import { type ChangeKind, changeKinds } from './change-kinds.ts';
import type { Plan, PlanSummary, ResourceChange } from './plan.ts';

export interface KindWords {
  /** Of one resource. */
  readonly word: string;
  /** After a number, before it is done. */
  readonly toDo: string;
  /** After a number, once it is done. */
  readonly done: string;
}

export const kindWords: Readonly<Record<ChangeKind, KindWords>> = {
  destroy: { word: 'Destroy', toDo: 'to destroy', done: 'destroyed' },
  replace: { word: 'Replace', toDo: 'to replace', done: 'replaced' },
  forget: { word: 'Forget', toDo: 'to forget', done: 'forgotten' },
  update: { word: 'Change', toDo: 'to change', done: 'changed' },
  create: { word: 'Add', toDo: 'to add', done: 'added' },
  import: { word: 'Import', toDo: 'to import', done: 'imported' },
  move: { word: 'Move', toDo: 'to move', done: 'moved' },
  invoke: { word: 'Invoke', toDo: 'to invoke', done: 'invoked' },
  unknown: { word: 'Unknown', toDo: 'with an unknown result', done: 'with an unknown result' },
  defer: { word: 'Defer', toDo: 'deferred', done: 'deferred' },
  note: { word: 'Note', toDo: 'to note', done: 'noted' },
};

const kindOfAction = { create: 'create', update: 'update', delete: 'destroy', recreate: 'replace' } as const;

type CountedChange = Pick<ResourceChange, 'action' | 'kind' | 'importing' | 'previousAddress'>;

/** The main thing that happens to a resource, for its word, shape and colour. */
export function kindOf({ action, kind, importing, previousAddress }: CountedChange): ChangeKind {
  // Tools set a kind only where the action does not say it.
  if (kind !== undefined) return kind;
  if (action !== 'metadata') return kindOfAction[action];
  if (importing !== undefined) return 'import';
  return previousAddress === undefined ? 'note' : 'move';
}

/** All that happens to a resource, the main thing first: it can be moved and changed, or imported and changed. */
export function kindsOf(change: CountedChange): ChangeKind[] {
  const main = kindOf(change);
  if (main === 'defer') return [main];
  const kinds: ChangeKind[] = [main];
  // The new object of a replacement whose old one is left alone.
  if (main === 'forget' && change.action === 'create') kinds.push('create');
  // It is changed, and perhaps more happens.
  if (main === 'unknown' && change.action === 'update') kinds.push('update');
  if (change.importing !== undefined) kinds.push('import');
  if (change.previousAddress !== undefined) kinds.push('move');
  return [...new Set(kinds)];
}

/** Changes that count as drift: moves and unknown results do not. */
const driftKinds: readonly ChangeKind[] = ['destroy', 'replace', 'forget', 'update', 'create', 'import'];

/** Whether a change in the plan of a drift run is drift. */
export function isDrift(change: CountedChange): boolean {
  return kindsOf(change).some((kind) => driftKinds.includes(kind));
}

/** Whether the plan of a drift run with this summary found drift. */
export function hasDrift(summary: PlanSummary): boolean {
  const counts = countsOfSummary(summary);
  return driftKinds.some((kind) => counts[kind] > 0);
}

export type ChangeCounts = Readonly<Record<ChangeKind, number>>;

/** Number of a plan's resources with each kind of change. */
export function countsOf(changes: readonly CountedChange[]): ChangeCounts {
  const counts = Object.fromEntries(changeKinds.map((kind) => [kind, 0])) as Record<ChangeKind, number>;
  for (const change of changes) for (const kind of kindsOf(change)) counts[kind]++;
  return counts;
}

/** The counts that published clients do not know, by their kinds. */
const ownCounts = {
  replaced: 'replace',
  forgotten: 'forget',
  moved: 'move',
  invoked: 'invoke',
  unknown: 'unknown',
  deferred: 'defer',
} as const satisfies Partial<Record<keyof PlanSummary, ChangeKind>>;

const optionalCounts = { imported: 'import', ...ownCounts } as const;

/** The summary of a plan. A replacement is one added and one destroyed, as terraform counts it. */
export function planSummaryOf({ resourceChanges }: Pick<Plan, 'resourceChanges'>): PlanSummary {
  const counts = countsOf(resourceChanges);
  const optional = Object.entries(optionalCounts).filter(([, kind]) => counts[kind] > 0);
  return {
    added: counts.create + counts.replace,
    changed: counts.update,
    destroyed: counts.destroy + counts.replace,
    ...Object.fromEntries(optional.map(([name, kind]) => [name, counts[kind]])),
  };
}

/** The counts of a plan from its summary. */
export function countsOfSummary(summary: PlanSummary): ChangeCounts {
  const { added, changed, destroyed, replaced = 0 } = summary;
  const optional = Object.entries(optionalCounts) as [keyof typeof optionalCounts, ChangeKind][];
  return {
    ...countsOf([]),
    ...Object.fromEntries(optional.map(([name, kind]) => [kind, summary[name] ?? 0])),
    destroy: destroyed - replaced,
    update: changed,
    create: added - replaced,
  };
}

/**
 * Such as "1 to destroy, 2 to replace"; notes are left out.
 * @param tense whether it is still to be done
 * @returns empty where no resource changes
 */
export function countsText(counts: ChangeCounts, tense: 'toDo' | 'done'): string {
  return changeKinds
    .filter((kind) => kind !== 'note' && counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kindWords[kind][tense]}`)
    .join(', ');
}

/**
 * A plan in a few words: what it changes, or that it changes nothing.
 * @param isPlanEmpty as the deployment has it
 */
export function planText(
  {
    planSummary,
    isPlanEmpty,
  }: { readonly planSummary: PlanSummary; readonly isPlanEmpty?: boolean | undefined },
  tense: 'toDo' | 'done' = 'toDo',
): string {
  const text = countsText(countsOfSummary(planSummary), tense);
  return text === '' ? (isPlanEmpty === true ? 'no changes' : 'no resource changes') : text;
}
