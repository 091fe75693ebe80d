/** What a plan would do to a resource, in words, and in the order in which people should read it. */
import type { Plan, PlanSummary, ResourceChange } from '#contract/deployments/plan.ts';

/** What can be lost stands first. */
export const changeKinds = ['destroy', 'replace', 'update', 'create', 'import', 'move', 'other'] as const;
export type ChangeKind = (typeof changeKinds)[number];

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
  update: { word: 'Change', toDo: 'to change', done: 'changed' },
  create: { word: 'Create', toDo: 'to add', done: 'added' },
  import: { word: 'Import', toDo: 'to import', done: 'imported' },
  move: { word: 'Move', toDo: 'to move', done: 'moved' },
  other: { word: 'Note', toDo: 'to note', done: 'noted' },
};

const kindOfAction = { create: 'create', update: 'update', delete: 'destroy', recreate: 'replace' } as const;

/** What happens to a resource, for its word, shape and colour. */
export function kindOf(change: Pick<ResourceChange, 'action' | 'importing' | 'previousAddress'>): ChangeKind {
  if (change.action !== 'metadata') return kindOfAction[change.action];
  if (change.importing !== undefined) return 'import';
  return change.previousAddress === undefined ? 'other' : 'move';
}

export type Counts = Readonly<Record<ChangeKind, number>>;

/** How many resources of a plan have each kind of change. */
export function countsOf(changes: Plan['resourceChanges']): Counts {
  const counts = Object.fromEntries(changeKinds.map((kind) => [kind, 0])) as Record<ChangeKind, number>;
  for (const change of changes) counts[kindOf(change)]++;
  return counts;
}

/** The same from a summary, which counts a replacement as one added and one destroyed. */
export function countsOfSummary({ added, changed, destroyed, imported = 0 }: PlanSummary): Counts {
  return {
    destroy: destroyed,
    replace: 0,
    update: changed,
    create: added,
    import: imported,
    move: 0,
    other: 0,
  };
}

/**
 * Such as "1 to destroy, 2 to replace"; notes are left out.
 * @param tense whether it is still to be done
 * @returns empty where nothing changes
 */
export function countsText(counts: Counts, tense: 'toDo' | 'done'): string {
  return changeKinds
    .filter((kind) => kind !== 'other' && counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kindWords[kind][tense]}`)
    .join(', ');
}
