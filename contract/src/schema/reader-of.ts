/**
 * Operations that accept the version of what they change (`If-Match`), and those that can be repeated under a key.
 * Both follow from the form of an operation.
 */
import type { TSchema } from 'typebox';
import { operations } from '../operations.ts';
import type { Operation } from './operation.ts';

const all: Readonly<Record<string, Operation>> = operations;
const updating = new Set(['PUT', 'PATCH', 'DELETE']);

function isList(schema: TSchema): boolean {
  return (schema as { type?: unknown }).type === 'array';
}

/** Whether its replies have a tag: those of reads that answer JSON. */
export function hasTag({ method, replyKind = 'json' }: Operation): boolean {
  return method === 'GET' && replyKind === 'json';
}

/**
 * @param others the operations to look among; absent: all of the contract
 * @returns the operation that reads what a change is about, if it can be made dependent on its version: the
 * GET of a single resource at the same path, or the one that the change names in `updates`
 */
export function readerOf(
  { method, path, updates }: Operation,
  others: Readonly<Record<string, Operation>> = all,
): Operation | undefined {
  if (updates !== undefined) return others[updates];
  if (!updating.has(method)) return undefined;
  return Object.values(others).find((each) => each.path === path && hasTag(each) && !isList(each.reply));
}

/** Whether an operation understands `If-Match`: changes of what can be read, and the reads themselves. */
export function isVersioned(operation: Operation): boolean {
  return hasTag(operation) || readerOf(operation) !== undefined;
}

/**
 * Whether an `Idempotency-Key` has an effect: changes by a known caller, whose body is not a file, and which wait for
 * no one outside.
 */
export function isRepeatable(operation: Operation): boolean {
  const { method, needs, bodyKind, replyKind = 'json', asksOthers = false } = operation;
  const isChange = method !== 'GET' && needs !== 'nothing' && !asksOthers;
  return isChange && bodyKind !== 'binary' && replyKind === 'json';
}
