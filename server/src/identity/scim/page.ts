/** Pages of resources, and the attributes that a request asks for. */
import { isRecord } from '#contract/schema/is-record.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { withoutSchema } from './filter.ts';
import type { ScimResource } from './resource.ts';

/** Maximum and default size of a page. */
export const mostResults = 1000;
const usualResults = 100;
/** A resource has far fewer attributes. */
const mostNames = 100;

export type ScimQuery = Readonly<Record<string, unknown>>;

export function textOf(query: ScimQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw new ScimRefusal('invalidValue', `${name} must be one string`);
  return value;
}

function numberOf(query: ScimQuery, name: string, usual: number): number {
  const text = textOf(query, name);
  if (text === undefined) return usual;
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimRefusal('invalidValue', `${name} must be a whole number`);
  return Number(text);
}

function namesOf(query: ScimQuery, name: string): string[] | undefined {
  const names = textOf(query, name)?.split(',', mostNames + 1);
  if (names !== undefined && names.length > mostNames)
    throw new ScimRefusal('invalidValue', `${name} has more than ${mostNames} names`);
  return names?.map((each) => withoutSchema(each.trim()).toLowerCase()).filter((each) => each !== '');
}

type ScimFields = Record<string, unknown>;

/** Keeps the fields for which `keeps` holds by their path in lower case; undefined decides by their parts. */
function picked(fields: ScimFields, keeps: (path: string) => boolean | undefined, above = ''): ScimFields {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    const path = `${above}${name.toLowerCase()}`;
    const isKept = keeps(path);
    if (isKept !== undefined) return isKept ? [[name, value]] : [];
    const inner = (each: unknown) => (isRecord(each) ? picked(each, keeps, `${path}.`) : each);
    return [[name, Array.isArray(value) ? (value as unknown[]).map(inner) : inner(value)]];
  });
  return Object.fromEntries(entries);
}

/**
 * Projection of resources by `attributes` or `excludedAttributes`; their ids are always
 * there.
 * @throws ScimRefusal 400 for too many names
 */
export function selection(query: ScimQuery): (resource: ScimResource) => object {
  const only = namesOf(query, 'attributes');
  const without = namesOf(query, 'excludedAttributes');
  const always = new Set(['id', 'schemas']);
  const select = (keeps: (path: string) => boolean | undefined) => (resource: ScimResource) =>
    picked(resource as unknown as ScimFields, keeps);
  if (only !== undefined)
    return select((path) => {
      if (always.has(path) || only.some((each) => path === each || path.startsWith(`${each}.`))) return true;
      return only.some((each) => each.startsWith(`${path}.`)) ? undefined : false;
    });
  if (without === undefined) return (resource) => resource;
  return select((path) => {
    if (always.has(path)) return true;
    if (without.includes(path)) return false;
    return without.some((each) => each.startsWith(`${path}.`)) ? undefined : true;
  });
}

/** Whether an answer has an attribute, or a part of it. */
export function isRequested(query: ScimQuery, name: string): boolean {
  const only = namesOf(query, 'attributes');
  if (only !== undefined) return only.some((each) => each === name || each.startsWith(`${name}.`));
  return namesOf(query, 'excludedAttributes')?.includes(name) !== true;
}

/** The part of a list that a request asks for. Numbers below the least mean the least. */
export function pageOf<T>(
  all: readonly T[],
  query: ScimQuery,
): { readonly start: number; readonly items: T[] } {
  const start = Math.max(1, numberOf(query, 'startIndex', 1));
  const count = Math.min(mostResults, Math.max(0, numberOf(query, 'count', usualResults)));
  return { start, items: all.slice(start - 1, start - 1 + count) };
}

/** The answer with a page of a list. */
export function listResponse(total: number, start: number, resources: readonly object[]): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: start,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
