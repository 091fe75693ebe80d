/**
 * Three-way strategic merge patches, as the libraries of Kubernetes create them
 * (k8s.io/apimachinery/pkg/util/strategicpatch): what a new manifest adds to an object of the cluster and changes in it,
 * and what it has no more of the last one. Also what these libraries do with several elements of one key is the same,
 * because a plan shows what an apply will do.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { type Fields, typeOfJson, valueAt } from './json-values.ts';
import type { MergeRule } from './merge-rules.ts';

/** Relevant part of a difference. */
type DifferencePart = 'additions' | 'deletions';
type FieldEntry = readonly [key: string, value: unknown];

const directives = {
  patch: '$patch',
  retainKeys: '$retainKeys',
  order: '$setElementOrder/',
  deleted: '$deleteFromPrimitiveList/',
} as const;

function ruleOf(rule: MergeRule, key: string): MergeRule {
  return (rule.fields !== undefined && Object.hasOwn(rule.fields, key) ? rule.fields[key] : undefined) ?? {};
}

function differenceOfMaps(from: Fields, to: Fields, rule: MergeRule, part: DifferencePart): Fields {
  const isAddition = part === 'additions';
  const entries = Object.entries(to).flatMap(([key, value]): readonly FieldEntry[] => {
    const before = valueAt(from, key);
    if (typeOfJson(before) !== typeOfJson(value)) return isAddition ? [[key, value]] : [];
    if (isRecord(before) && isRecord(value)) return mapEntries(key, before, value, ruleOf(rule, key), part);
    if (Array.isArray(before) && Array.isArray(value))
      return listEntries(key, before, value, ruleOf(rule, key), part);
    return isAddition && !isDeepStrictEqual(before, value) ? [[key, value]] : [];
  });
  const gone = isAddition ? [] : Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  const all = [...entries, ...gone.map((key): FieldEntry => [key, null])];
  return Object.fromEntries([...all, ...retained(from, to, rule, all.length > 0)]);
}

/** The keys that a map keeps, where it keeps no others. */
function retained(from: Fields, to: Fields, { retainsKeys }: MergeRule, differs: boolean): FieldEntry[] {
  const keys = Object.keys(to).filter((key) => to[key] !== null);
  const hasOthers = Object.keys(from).some((key) => from[key] !== null && !Object.hasOwn(to, key));
  const isNeeded = retainsKeys === true && keys.length > 0 && (differs || hasOthers);
  return isNeeded ? [[directives.retainKeys, keys.sort()]] : [];
}

function mapEntries(
  key: string,
  from: Fields,
  to: Fields,
  rule: MergeRule,
  part: DifferencePart,
): FieldEntry[] {
  if (rule.isReplaced === true) return part === 'additions' ? [[key, to]] : [];
  const found = differenceOfMaps(from, to, rule, part);
  return Object.keys(found).length === 0 ? [] : [[key, found]];
}

type ValueList = readonly unknown[];

function listEntries(
  key: string,
  from: ValueList,
  to: ValueList,
  rule: MergeRule,
  part: DifferencePart,
): readonly FieldEntry[] {
  const isMerged = rule.mergeKey !== undefined || rule.isSet === true;
  if (isMerged && from.length > 0)
    return rule.mergeKey === undefined
      ? entriesOfSets(key, from, to, part)
      : entriesOfMaps(key, elementsOf(key, from, rule.mergeKey), elementsOf(key, to, rule.mergeKey), {
          ...rule,
          mergeKey: rule.mergeKey,
          part,
        });
  return part === 'additions' && !isDeepStrictEqual(from, to) ? [[key, to]] : [];
}

/** An element of a list that is merged by a key. */
interface Element {
  readonly id: unknown;
  readonly fields: Fields;
}

function elementsOf(key: string, list: ValueList, mergeKey: string): Element[] {
  return list.map((fields) => {
    if (!isRecord(fields) || !Object.hasOwn(fields, mergeKey))
      throw new Error(`an element of ${key} has no ${mergeKey}, by which helm tells the elements apart`);
    return { id: fields[mergeKey], fields };
  });
}

/** Their sorting turns elements of one key around. */
function byId(elements: readonly Element[]): Element[] {
  return elements.toReversed().sort((one, other) => compare(String(one.id), String(other.id)));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

interface ListRule extends MergeRule {
  readonly mergeKey: string;
  readonly part: DifferencePart;
}

function entriesOfMaps(
  key: string,
  from: readonly Element[],
  to: readonly Element[],
  rule: ListRule,
): readonly FieldEntry[] {
  const { mergeKey, part } = rule;
  const { changed, deleted } = pairUp(from, to, rule);
  const place = (element: Fields) => to.findIndex(({ id }) => id === element[mergeKey]);
  const list = [...changed.sort((one, other) => place(one) - place(other)), ...deleted];
  const isSorted = from.length === to.length && from.every(({ id }, index) => id === to[index]?.id);
  const order = to.map(({ id }) => ({ [mergeKey]: id }));
  const isOrdered = order.length > 0 && (list.length > 0 || (part === 'additions' && !isSorted));
  return [
    ...(list.length > 0 ? [[key, list] as const] : []),
    ...(isOrdered ? [[directives.order + key, order] as const] : []),
  ];
}

/** Goes through both lists in the order of their keys, so that the first elements of a key are a pair, and so on. */
function pairUp(
  from: readonly Element[],
  to: readonly Element[],
  { part, ...rule }: ListRule,
): { readonly changed: Fields[]; readonly deleted: readonly Fields[] } {
  const changed: Fields[] = [];
  const deleted: Fields[] = [];
  const [olds, news] = [byId(from), byId(to)];
  for (let [old, next] = [olds.shift(), news.shift()]; old !== undefined || next !== undefined; ) {
    const order = old === undefined ? 1 : next === undefined ? -1 : compare(String(old.id), String(next.id));
    if (order === 0 && old !== undefined && next !== undefined) {
      const found = differenceOfMaps(old.fields, next.fields, rule, part);
      if (Object.keys(found).length > 0) changed.push({ ...found, [rule.mergeKey]: next.id });
    } else if (order > 0 && next !== undefined) {
      if (part === 'additions') changed.push(next.fields);
    } else if (part === 'deletions') deleted.push({ [rule.mergeKey]: old?.id, [directives.patch]: 'delete' });
    if (order <= 0) old = olds.shift();
    if (order >= 0) next = news.shift();
  }
  return { changed, deleted };
}

/** Large numbers are objects with their digits. */
function hasValue(list: ValueList, value: unknown): boolean {
  return list.some((each) => isDeepStrictEqual(each, value));
}

function entriesOfSets(
  key: string,
  from: ValueList,
  to: ValueList,
  part: DifferencePart,
): readonly FieldEntry[] {
  if (part === 'deletions') {
    const gone = from.filter((value) => !hasValue(to, value));
    const order: readonly FieldEntry[] = to.length > 0 ? [[directives.order + key, to]] : [];
    return gone.length === 0 ? [] : [[directives.deleted + key, gone], ...order];
  }
  const added = to.filter((value) => !hasValue(from, value));
  if (isDeepStrictEqual(from, to) || to.length === 0) return [];
  return [...(added.length > 0 ? [[key, added] as const] : []), [directives.order + key, to]];
}

/** One patch of both parts. */
function merge(deletions: Fields, additions: Fields, rule: MergeRule): Fields {
  const entries = Object.entries(additions).map(([key, value]): FieldEntry => {
    const known = valueAt(deletions, key);
    const own = ruleOf(rule, key);
    if (isRecord(known) && isRecord(value)) return [key, merge(known, value, own)];
    if (!Array.isArray(known) || !Array.isArray(value) || own.mergeKey === undefined) return [key, value];
    const ordered = valueAt(additions, directives.order + key) ?? valueAt(deletions, directives.order + key);
    const list = mergeLists(known, value, own, own.mergeKey);
    return [key, inOrder(list, Array.isArray(ordered) ? ordered : value, own.mergeKey)];
  });
  return Object.fromEntries([...Object.entries(deletions), ...entries]);
}

function mergeLists(
  deletions: ValueList,
  additions: ValueList,
  rule: MergeRule,
  mergeKey: string,
): ValueList {
  const found = [...deletions];
  for (const element of additions) {
    if (!isRecord(element)) continue;
    const index = found.findIndex((other) => isRecord(other) && other[mergeKey] === element[mergeKey]);
    const known = found[index];
    if (isRecord(known)) found[index] = merge(known, element, rule);
    else found.push(element);
  }
  return found;
}

/** The cluster refuses elements in another order than the one that the patch sets; what is deleted has none. */
function inOrder(list: ValueList, ordered: ValueList, mergeKey: string): ValueList {
  const place = (element: unknown) =>
    Object.hasOwn(recordOf(element), directives.patch)
      ? ordered.length
      : ordered.findIndex((other) => recordOf(other)[mergeKey] === recordOf(element)[mergeKey]);
  return [...list].sort((one, other) => place(one) - place(other));
}

/**
 * The patch that turns an object of the cluster into what a new manifest says.
 * @param last the manifest that was applied before
 * @param live the object as it is
 * @returns without any key if there is nothing to change
 * @throws Error that names a list with an element that lacks its key
 */
export function strategicPatch(last: Fields, next: Fields, live: Fields, rule: MergeRule): Fields {
  const additions = differenceOfMaps(live, next, rule, 'additions');
  const deletions = differenceOfMaps(last, next, rule, 'deletions');
  return merge(deletions, additions, rule);
}

function withList(live: ValueList, next: ValueList, rule: MergeRule): ValueList {
  const { mergeKey } = rule;
  if (mergeKey === undefined) return next;
  const idOf = (element: unknown) => recordOf(element)[mergeKey];
  const known = new Map(live.map((element) => [idOf(element), element]));
  const ids = new Set(next.map(idOf));
  return [
    ...next.map((element) => withFields(recordOf(known.get(idOf(element))), recordOf(element), rule)),
    ...live.filter((element) => !ids.has(idOf(element))),
  ];
}

/** An object of the cluster with everything that a manifest says, whether the cluster accepts that or not. */
export function withFields(live: Fields, next: Fields, rule: MergeRule): Fields {
  const changed = Object.entries(next).map(([key, value]): FieldEntry => {
    const before = valueAt(live, key);
    const own = ruleOf(rule, key);
    if (isRecord(before) && isRecord(value)) return [key, withFields(before, value, own)];
    return [key, Array.isArray(before) && Array.isArray(value) ? withList(before, value, own) : value];
  });
  return Object.fromEntries([...Object.entries(live), ...changed]);
}
