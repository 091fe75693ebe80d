/** Leaves fields out of a reply, by comma-separated dotted paths. */
import { isRecord } from '#contract/schema/is-record.ts';

function paths(list: string): string[][] {
  return list
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '')
    .map((path) => path.split('.'));
}

type Tree = Record<string, unknown>;

/** The elements of a list are checked one by one. */
function eachTree(value: unknown, change: (tree: Tree) => Tree): unknown {
  if (Array.isArray(value)) return value.map((element) => eachTree(element, change));
  return isRecord(value) ? change(value) : value;
}

function without(value: Tree, [head = '', ...rest]: readonly string[]): Tree {
  if (!Object.hasOwn(value, head)) return value;
  if (rest.length === 0) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== head));
  return { ...value, [head]: eachTree(value[head], (inner) => without(inner, rest)) };
}

function only(value: Tree, wanted: readonly string[][]): Tree {
  const heads = new Map<string, string[][]>();
  for (const [head = '', ...rest] of wanted) heads.set(head, [...(heads.get(head) ?? []), rest]);
  const kept = Object.entries(value).filter(([name]) => heads.has(name));
  return Object.fromEntries(
    kept.map(([name, inner]) => {
      const rests = heads.get(name) ?? [];
      return [
        name,
        rests.every((rest) => rest.length > 0) ? eachTree(inner, (tree) => only(tree, rests)) : inner,
      ];
    }),
  );
}

/** The object without the named paths; unknown ones are nothing to leave out. */
export function excludeFields<T extends object>(value: T, list: string | undefined): T {
  return list ? (paths(list).reduce<Tree>(without, value as Tree) as T) : value;
}

/** The object with the named paths only. */
export function pickFields<T extends object>(value: T, list: string | undefined): T {
  return list ? (only(value as Tree, paths(list)) as T) : value;
}
