/** Lists in a query: clients send them with commas, or as several parameters, whose names may end in `[]`. */
import type { Operation } from '#contract/schema/operation.ts';
import { listMark } from '#contract/schema/schema.ts';

function listsOf({ query }: Operation): string[] {
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, { [listMark]?: true }> };
  return Object.keys(properties).filter((name) => properties[name]?.[listMark]);
}

/** Gives each list of a query its form with commas. */
export function joinLists(operation: Operation): (query: Record<string, unknown>) => void {
  const names = listsOf(operation);
  return (query) => {
    for (const name of names) {
      const several = `${name}[]`;
      if (!Array.isArray(query[name]) && query[several] === undefined) continue;
      const texts = [query[name], query[several]].flat().filter((value) => typeof value === 'string');
      query[name] = texts.join(',');
      delete query[several];
    }
  };
}
