/** Whether an environment needs, through outputs of others, an output of its own. */

import type { Context } from '../../../framework/context.ts';
import { environmentHome, levelsOf } from '../../../inputs/variables/levels.ts';
import { parseOutputReference } from '../../../inputs/variables/output-reference.ts';
import { resolvePrecedence } from '../../../inputs/variables/precedence.ts';
import { readLayers } from '../../../inputs/variables/read-layers.ts';
import type { ReferenceVariable } from '../../../inputs/variables/resolve-variables.ts';
import { isReference } from '../../../inputs/variables/unusable-value.ts';
import { isUuid } from '../../../rows/entity-home.ts';
import { type EnvironmentRow, getEnvironmentRows } from '../../../rows/environments/environment-store.ts';
import { getProjectRows } from '../../../rows/projects/project-store.ts';
import { openValue } from '../../../rows/variables/variable-store.ts';

/** Ids of the environments that some variables refer to. */
export function sourceIdsOf(references: readonly Pick<ReferenceVariable, 'text'>[]): string[] {
  const parsed = references.map(({ text }) => parseOutputReference(text));
  return [
    ...new Set(parsed.flatMap((each) => (each && 'environmentId' in each ? [each.environmentId] : []))),
  ];
}

/** Ids of the environments whose outputs an environment needs, by the variables that it has now. */
async function needsOf(context: Context, environment: EnvironmentRow, hierarchy: string): Promise<string[]> {
  const levels = levelsOf(environmentHome(environment, hierarchy));
  const resolved = resolvePrecedence(await readLayers(context.db, levels));
  const references = [...resolved.values()].filter(({ winner }) => isReference(winner));
  const texts = references.map(({ winner }) => ({ text: openValue(context, winner) ?? '' }));
  return sourceIdsOf(texts).filter((id) => isUuid(id));
}

/**
 * Follows the variables that the environments have now.
 * @param sourceIds of the environments whose outputs it needs itself
 * @returns the environments of the shortest cycle, from the specified one to itself; null if there is none
 */
export async function findCycle(
  context: Context,
  environment: EnvironmentRow,
  sourceIds: readonly string[],
): Promise<EnvironmentRow[] | null> {
  if (sourceIds.includes(environment.id)) return [environment, environment];
  /** Predecessor of each environment that was reached. */
  const paths = new Map<string, readonly EnvironmentRow[]>(sourceIds.map((id) => [id, [environment]]));
  for (let ids = sourceIds.filter((id) => isUuid(id)); ids.length > 0; ) {
    const rows = await getEnvironmentRows(context.db, ids);
    const projects = await getProjectRows(
      context.db,
      rows.map((row) => row.project_id),
    );
    const next: string[] = [];
    for (const row of rows.filter((each) => each.organization_id === environment.organization_id)) {
      const path = [...(paths.get(row.id) ?? []), row];
      const hierarchy = projects.find(({ id }) => id === row.project_id)?.hierarchy ?? row.project_id;
      for (const id of await needsOf(context, row, hierarchy)) {
        if (id === environment.id) return [...path, environment];
        if (paths.has(id)) continue;
        paths.set(id, path);
        next.push(id);
      }
    }
    ids = next;
  }
  return null;
}
