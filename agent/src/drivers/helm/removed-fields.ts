/**
 * What helm removes from an object: what the last manifest had and the next one has no more. A server-side
 * application, by which plans are made, does not know of it, because helm manages its fields otherwise.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';

/** Fields that identify the parts of a list, as Kubernetes does it. */
const mergeKeys = ['name', 'containerPort', 'port', 'mountPath', 'devicePath', 'key', 'ip', 'uid', 'type'];

function partsBy(key: string, list: readonly unknown[]): Map<unknown, unknown> | null {
  const found = new Map(list.map((part) => [recordOf(part)[key], part]));
  return found.size === list.length && !found.has(undefined) ? found : null;
}

function pruneList(
  current: readonly unknown[],
  before: readonly unknown[],
  after: readonly unknown[],
): unknown[] {
  for (const key of mergeKeys) {
    const [now, old, next] = [current, before, after].map((list) => partsBy(key, list));
    if (!now || !old || !next) continue;
    return [...now]
      .filter(([name]) => next.has(name) || !old.has(name))
      .map(([name, part]) => (next.has(name) ? prune(part, old.get(name), next.get(name), false) : part));
  }
  return [...current];
}

/** @param keepsOthers a map that is gone as a whole loses only what it had: others add to it, too */
function prune(current: unknown, before: unknown, after: unknown, keepsOthers: boolean): unknown {
  if (Array.isArray(current) && Array.isArray(before) && Array.isArray(after))
    return pruneList(current, before, after);
  if (!isRecord(current) || !isRecord(before) || !isRecord(after)) return current;
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(current)) {
    const isGone = before[key] !== undefined && (after[key] === undefined || after[key] === null);
    if (!isGone) kept.push([key, prune(value, before[key], after[key], keepsOthers)]);
    else if (keepsOthers && isRecord(value) && isRecord(before[key])) {
      const rest = recordOf(prune(value, before[key], {}, true));
      if (Object.keys(rest).length > 0) kept.push([key, rest]);
    }
  }
  return Object.fromEntries(kept);
}

/**
 * An object without what helm removes from it.
 * @param current as it is, or as it would be otherwise
 */
export function withoutRemoved(
  current: KubernetesObject,
  before: KubernetesObject,
  after: KubernetesObject,
): KubernetesObject {
  const { metadata, ...rest } = current;
  const pruned = prune(rest, before, after, false);
  return {
    ...recordOf(pruned),
    metadata: recordOf(prune(metadata, before.metadata, after.metadata, true)),
  } as unknown as KubernetesObject;
}

/** Whether a manifest lacks something that an earlier one had. */
export function hasRemoved(before: KubernetesObject, after: KubernetesObject): boolean {
  return !isDeepStrictEqual(withoutRemoved(before, before, after), before);
}
