/** Units that are planned once a plan is applied, in the same deployment: what an approval covers of them, in words. */
import type { PlannedUnit } from './plan.ts';

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function changesText({ unit, changes = {} }: PlannedUnit): string {
  const kinds = Object.entries(changes).map(([kind, count]) => `${count} × ${kind}`);
  return `${unit} (${kinds.length === 0 ? 'no changes' : kinds.join(', ')})`;
}

/** Sentences without a full stop; none if nothing follows. */
export function followingSentences(units: readonly PlannedUnit[] | null | undefined): string[] {
  const following = (units ?? []).filter(({ follows }) => follows === true);
  const planned = following.filter(({ changes }) => changes !== undefined).map(changesText);
  const unplanned = following.filter(({ changes }) => changes === undefined).map(({ unit }) => unit);
  const [has, waits] = unplanned.length === 1 ? ['has', 'waits'] : ['have', 'wait'];
  return [
    ...(planned.length === 0
      ? []
      : [`The approval also covers what follows with real outputs, up to these changes: ${listed(planned)}`]),
    ...(unplanned.length === 0
      ? []
      : [`${listed(unplanned)} ${has} no plan yet and ${waits} for another approval`]),
  ];
}
