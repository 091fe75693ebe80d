/** Filters of SCIM (RFC 7644, 3.4.2.2): read from text, and applied to resources. */
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import type { RequestBudget } from './request-budget.ts';

/** `ne` is the opposite of `eq` for all values of an attribute together. */
const comparisons = {
  eq: (actual: string, wanted: string) => actual === wanted,
  ne: (actual: string, wanted: string) => actual === wanted,
  co: (actual: string, wanted: string) => actual.includes(wanted),
  sw: (actual: string, wanted: string) => actual.startsWith(wanted),
  ew: (actual: string, wanted: string) => actual.endsWith(wanted),
  gt: (actual: string, wanted: string) => actual > wanted,
  ge: (actual: string, wanted: string) => actual >= wanted,
  lt: (actual: string, wanted: string) => actual < wanted,
  le: (actual: string, wanted: string) => actual <= wanted,
};
type Comparison = keyof typeof comparisons;
type Value = string | number | boolean | null;

export type Filter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  | { readonly op: 'pr'; readonly path: string }
  | { readonly op: 'some'; readonly path: string; readonly filter: Filter }
  | { readonly op: Comparison; readonly path: string; readonly value: Value };

/** Paths that a filter may name, by their spelling in lower case. */
export type FilterPaths = ReadonlyMap<string, string>;

const mostCharacters = 4000;
const mostNested = 20;

export function pathsOf(names: readonly string[]): FilterPaths {
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

/** Filter between the brackets of `emails[…]` and `members[…]`. */
const insidePaths = pathsOf(['value', 'type', 'primary', 'display']);

function invalid(why: string): ScimRefusal {
  return new ScimRefusal('invalidFilter', `The filter is not supported: ${why}`);
}

function tokensOf(text: string): string[] {
  if (text.length > mostCharacters) throw invalid(`it has more than ${mostCharacters} characters`);
  const pattern = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) throw invalid(`it cannot be read from character ${at + 1}`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

class Parser {
  readonly #tokens: string[];
  #paths: FilterPaths;
  #depth = 0;

  constructor(text: string, paths: FilterPaths) {
    this.#tokens = tokensOf(text).toReversed();
    this.#paths = paths;
  }

  whole(): Filter {
    const filter = this.#any();
    const rest = this.#tokens.at(-1);
    if (rest !== undefined) throw invalid(`"${rest}" is one word too many`);
    return filter;
  }

  #next(): string {
    const token = this.#tokens.pop();
    if (token === undefined) throw invalid('its end is missing');
    return token;
  }

  #takes(word: string): boolean {
    if (this.#tokens.at(-1)?.toLowerCase() !== word) return false;
    this.#tokens.pop();
    return true;
  }

  #expect(word: string): void {
    if (!this.#takes(word)) throw invalid(`"${word}" is missing`);
  }

  #any(): Filter {
    if (++this.#depth > mostNested) throw invalid(`it is nested more than ${mostNested} times`);
    const filter = this.#joined('or', () => this.#joined('and', () => this.#single()));
    this.#depth--;
    return filter;
  }

  #joined(op: 'and' | 'or', part: () => Filter): Filter {
    const first = part();
    const filters = [first];
    while (this.#takes(op)) filters.push(part());
    return filters.length === 1 ? first : { op, filters };
  }

  #single(): Filter {
    const isNot = this.#takes('not');
    if (isNot && this.#tokens.at(-1) !== '(') throw invalid('"not" is followed by "("');
    if (!this.#takes('(')) return this.#attribute();
    const filter = this.#any();
    this.#expect(')');
    return isNot ? { op: 'not', filter } : filter;
  }

  #attribute(): Filter {
    const path = knownPath(this.#next(), this.#paths);
    if (this.#takes('[')) {
      const outside = this.#paths;
      this.#paths = insidePaths;
      const filter = this.#any();
      this.#paths = outside;
      this.#expect(']');
      return { op: 'some', path, filter };
    }
    const word = this.#next().toLowerCase();
    if (word === 'pr') return { op: 'pr', path };
    if (!Object.hasOwn(comparisons, word)) throw invalid(`"${word}" is not an operator`);
    return { op: word as Comparison, path, value: valueOf(this.#next()) };
  }
}

function valueOf(token: string): Value {
  try {
    const value: unknown = JSON.parse(/^(true|false|null)$/i.test(token) ? token.toLowerCase() : token);
    if (value === null || typeof value !== 'object') return value as Value;
  } catch {
    // The same as for an object.
  }
  throw invalid(`${token} cannot be read as a value: texts need quotation marks`);
}

/** Without the name of the schema that it may start with. */
export function withoutSchema(path: string): string {
  return path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i, '');
}

function knownPath(token: string, paths: FilterPaths): string {
  const known = paths.get(withoutSchema(token).toLowerCase());
  if (known === undefined)
    throw invalid(`"${token}" cannot be filtered by; use one of ${[...paths.values()].join(', ')}`);
  return known;
}

/** @throws ScimRefusal 400 invalidFilter, which names what cannot be read */
export function parseFilter(text: string, paths: FilterPaths): Filter {
  return new Parser(text, paths).whole();
}

/** A filter of the elements of one list: the part between brackets in a path. @throws ScimRefusal */
export function parseElementFilter(text: string): Filter {
  return parseFilter(text, insidePaths);
}

function valuesAt(resource: unknown, path: string): unknown[] {
  return path
    .split('.')
    .reduce<unknown[]>((found, step) => found.flatMap((each) => valuesOf(each, step)), [resource]);
}

function valuesOf(each: unknown, step: string): unknown[] {
  const value = (each as Record<string, unknown> | null)?.[step];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

/** Compared as they are written; everything else without regard to upper and lower case. */
const exactPaths = new Set(['id', 'externalId', 'members.value']);

function textOf(value: unknown, isExact: boolean): string {
  const inner = typeof value === 'object' && value !== null ? (value as { value?: unknown }).value : value;
  const text = typeof inner === 'string' ? inner : JSON.stringify(inner ?? null);
  return isExact ? text : text.toLowerCase();
}

/** A time in the form in which resources have it. */
function comparable(value: Value, path: string, isExact: boolean): string {
  if (path === 'meta.created' || path === 'meta.lastModified') {
    const time = new Date(String(value));
    if (Number.isNaN(time.getTime())) throw invalid(`${JSON.stringify(value)} cannot be read as a time`);
    return time.toISOString().toLowerCase();
  }
  return textOf(value, isExact);
}

/**
 * Whether a resource, or an element of a list, is what a filter asks for.
 * @throws ScimRefusal 400 where the request has compared too much
 */
export function matches(filter: Filter, resource: unknown, budget: RequestBudget): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((each) => matches(each, resource, budget));
    case 'or':
      return filter.filters.some((each) => matches(each, resource, budget));
    case 'not':
      return !matches(filter.filter, resource, budget);
    default: {
      const values = valuesAt(resource, filter.path);
      budget.spend(Math.max(1, values.length));
      return matchesAny(filter, values, budget);
    }
  }
}

function matchesAny(
  filter: Exclude<Filter, { readonly op: 'and' | 'or' | 'not' }>,
  values: readonly unknown[],
  budget: RequestBudget,
): boolean {
  if (filter.op === 'pr') return values.some((value) => value !== '');
  if (filter.op === 'some') return values.some((each) => matches(filter.filter, each, budget));
  const { op, path, value } = filter;
  const isExact = exactPaths.has(path);
  const wanted = comparable(value, path, isExact);
  const isFound = values.some((each) => comparisons[op](textOf(each, isExact), wanted));
  return op === 'ne' ? !isFound : isFound;
}

/** The value that a path must have for a filter to match, if the filter says so. */
export function requiredValue(filter: Filter, path: string): string | undefined {
  if (filter.op === 'and')
    return filter.filters.map((each) => requiredValue(each, path)).find((value) => value !== undefined);
  return filter.op === 'eq' && filter.path === path && typeof filter.value === 'string'
    ? filter.value
    : undefined;
}

/** Whether a filter asks for an attribute, or a part of it. */
export function namesPath(filter: Filter, name: string): boolean {
  if ('filters' in filter) return filter.filters.some((each) => namesPath(each, name));
  if (filter.op === 'not') return namesPath(filter.filter, name);
  return filter.path === name || filter.path.startsWith(`${name}.`);
}

/** Values that match a filter: for an element that is added because none matches. */
export function elementFor(filter: Filter): Record<string, unknown> {
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map(elementFor)) as never;
  return filter.op === 'eq' ? { [filter.path]: filter.value } : {};
}
