/** Query parameters that an operation does not have: answered as if they were absent, with a warning that names them. */
import type { Operation } from '#contract/schema/operation.ts';

/** What a header has room for: names, and characters of each. */
const mostNames = 20;
const longestName = 80;

/** @returns a sentence that names them; null where the operation has all of them */
export function unknownParameters({ query: schema }: Operation, query: object): string | null {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return null;
  const shown = unknown.slice(0, mostNames).map((name) => `"${name.slice(0, longestName)}"`);
  const more = unknown.length > mostNames ? ` and ${unknown.length - mostNames} more` : '';
  const [are, were] =
    unknown.length === 1 ? ['is not a query parameter', 'was'] : ['are not query parameters', 'were'];
  return `${shown.join(', ')}${more} ${are} of this operation and ${were} ignored.`;
}
