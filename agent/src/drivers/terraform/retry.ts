/** Whether a plan only does what is left of another one, whose apply has failed on its way. */
import { isDeepStrictEqual } from 'node:util';
import type { Change, ResourceChange, TerraformPlan } from './plan-json.ts';

function isNothing({ actions, importing }: Change): boolean {
  return importing === undefined && actions.every((action) => action === 'no-op' || action === 'read');
}

/** Whether a value is one that was approved: equal, or known only now. */
function isWithin(approved: unknown, unknown: unknown, now: unknown): boolean {
  if (unknown === true) return true;
  if (Array.isArray(approved) && Array.isArray(now)) {
    const parts = Array.isArray(unknown) ? unknown : [];
    return (
      approved.length === now.length &&
      approved.every((value, index) => isWithin(value, parts[index], now[index]))
    );
  }
  if (isRecord(approved) && isRecord(now)) {
    const parts = isRecord(unknown) ? unknown : {};
    const names = new Set([...Object.keys(approved), ...Object.keys(now)]);
    return [...names].every((name) => isWithin(approved[name], parts[name], now[name]));
  }
  return isDeepStrictEqual(approved ?? null, now ?? null);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasSameValues(approved: Change, now: Change): boolean {
  return isWithin(approved.after, approved.after_unknown, now.after);
}

/**
 * Same actions, or those that are left of them: what was half made is made again, what was replaced but not
 * removed is removed.
 */
function isLeftOf(approved: ResourceChange, now: ResourceChange): boolean {
  const before = new Set(approved.change.actions);
  const { actions } = now.change;
  if (actions.length === before.size && actions.every((action) => before.has(action))) return true;
  if (actions.length === 1 && actions[0] === 'create') return before.has('create');
  return now.action_reason === 'replace_because_tainted' && before.has('create');
}

function problemOf(now: ResourceChange, approved: readonly ResourceChange[]): string | null {
  const place = now.deposed === undefined ? now.address : `${now.address} (deposed object ${now.deposed})`;
  const isDeletion = now.change.actions.length === 1 && now.change.actions[0] === 'delete';
  const atAddress = approved.filter((each) => each.address === now.address);
  // An object of this very run, or the one that it replaces.
  if (now.deposed !== undefined && isDeletion && atAddress.some(({ change }) => !isNothing(change)))
    return null;
  const found = atAddress.find((each) => each.deposed === now.deposed);
  const verb = now.change.importing === undefined ? now.change.actions.join(' and ') : 'import';
  if (found === undefined || isNothing(found.change) || !isLeftOf(found, now)) return `${verb} ${place}`;
  if (now.change.importing !== undefined && now.change.importing.id !== found.change.importing?.id)
    return `import ${place}`;
  return isDeletion || hasSameValues(found.change, now.change) ? null : `${verb} ${place} with other values`;
}

/**
 * @param approved the plan that a person has approved
 * @param replanned what would be done now
 * @returns what goes beyond the approved plan, in words; null where nothing does
 */
export function beyondApproved(approved: TerraformPlan, replanned: TerraformPlan): string | null {
  const known = approved.resource_changes ?? [];
  for (const resource of replanned.resource_changes ?? []) {
    const problem = isNothing(resource.change) ? null : problemOf(resource, known);
    if (problem !== null) return problem;
  }
  for (const [name, change] of Object.entries(replanned.output_changes ?? {})) {
    const before = approved.output_changes?.[name];
    if (!isNothing(change) && (before === undefined || isNothing(before) || !hasSameValues(before, change)))
      return `change output ${name}`;
  }
  return null;
}
