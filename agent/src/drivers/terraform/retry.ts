/** Determines whether a plan only contains the rest of another one, whose apply has failed. */

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#contract/schema/is-record.ts';
import type { TerraformChange, TerraformPlan, TerraformResourceChange } from './plan-json.ts';

function isNothing({ actions, importing }: TerraformChange): boolean {
  return importing === undefined && actions.every((action) => action === 'no-op' || action === 'read');
}

/** Whether a value was approved: it is equal, or was unknown at the time. */
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

function hasSameValues(approved: TerraformChange, now: TerraformChange): boolean {
  return isWithin(approved.after, approved.after_unknown, now.after);
}

/**
 * The same actions or the rest of them: a half-created resource is created again, a replaced one that still
 * exists is removed.
 */
function isLeftOf(approved: TerraformResourceChange, now: TerraformResourceChange): boolean {
  const before = new Set(approved.change.actions);
  const { actions } = now.change;
  if (actions.length === before.size && actions.every((action) => before.has(action))) return true;
  if (actions.length === 1 && actions[0] === 'create') return before.has('create');
  return now.action_reason === 'replace_because_tainted' && before.has('create');
}

function problemOf(
  now: TerraformResourceChange,
  approved: readonly TerraformResourceChange[],
): string | null {
  const place = now.deposed === undefined ? now.address : `${now.address} (deposed object ${now.deposed})`;
  const isDeletion = now.change.actions.length === 1 && now.change.actions[0] === 'delete';
  const atAddress = approved.filter((each) => each.address === now.address);
  // An object that this run created, or the one that it replaces.
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
 * @param approved the plan that a person approved
 * @param replanned the new plan
 * @returns a description of the first change beyond the approved plan; null if there is none
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
