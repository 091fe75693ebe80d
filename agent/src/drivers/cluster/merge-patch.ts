/** JSON merge patches (RFC 7396), by which objects of kinds that others have defined are changed. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#contract/schema/is-record.ts';
import { type Fields, valueAt } from './json-values.ts';

/** The patch that turns one map into the other. */
export function mergePatch(from: Fields, to: Fields): Fields {
  const changed = Object.entries(to).flatMap(([key, value]): (readonly [string, unknown])[] => {
    const before = valueAt(from, key);
    if (!isRecord(before) || !isRecord(value)) return isDeepStrictEqual(before, value) ? [] : [[key, value]];
    const inner = mergePatch(before, value);
    return Object.keys(inner).length === 0 ? [] : [[key, inner]];
  });
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null] as const)]);
}

/** Result of a patch on a value. */
export function withMergePatch(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = isRecord(value) ? value : {};
  const kept = Object.entries(fields).filter(([key]) => valueAt(patch, key) === undefined);
  const changed = Object.entries(patch).flatMap(([key, part]) =>
    part === null ? [] : [[key, withMergePatch(valueAt(fields, key), part)] as const],
  );
  return Object.fromEntries([...kept, ...changed]);
}

/** The patch that adds what a map lacks and changes what differs, and deletes nothing. */
export function addingMergePatch(from: Fields, to: Fields): Fields {
  return additionsOf(mergePatch(from, to));
}

function additionsOf(patch: Fields): Fields {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([key, part]) =>
      part === null ? [] : [[key, isRecord(part) ? additionsOf(part) : part] as const],
    ),
  );
}
