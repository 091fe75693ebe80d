/** Whether deployments would follow each other without end. Pure. */
import type { Edge } from '../../rows/triggers/downstream-store.ts';

/**
 * @param upstream what gets new environments after it
 * @param added those environments
 * @param edges everything that follows them already
 * @returns the ids of the shortest cycle, from `upstream` to itself; null where there is none
 */
export function findCycle(
  upstream: string,
  added: readonly string[],
  edges: readonly Edge[],
): readonly string[] | null {
  const below = Map.groupBy(edges, ({ from }) => from);
  const seen = new Set<string>();
  for (let paths = added.map((id) => [upstream, id]); paths.length > 0; ) {
    const next: string[][] = [];
    for (const path of paths) {
      const last = path.at(-1) ?? '';
      if (last === upstream) return path;
      if (seen.has(last)) continue;
      seen.add(last);
      for (const { to } of below.get(last) ?? []) next.push([...path, to]);
    }
    paths = next;
  }
  return null;
}
