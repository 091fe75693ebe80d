/** The credentials that runs of a project get: for each cloud, that of the nearest assignment. */
import { type Cloud, clouds, kindOf } from '#contract/credentials/kinds.ts';
import type { Connection } from '../../framework/context.ts';
import { type AssignedCredential, runCredentialRows } from '../../rows/credentials/credential-store.ts';
import type { ProjectPlace } from '../../rows/projects/project-store.ts';

/**
 * @param assigned the nearest first, the newest first in each project
 * @returns at most one for each cloud
 */
export function nearestOf(assigned: readonly AssignedCredential[]): AssignedCredential[] {
  const nearest = new Map<Cloud, AssignedCredential>();
  for (const row of assigned) {
    const { cloud, isForRuns } = kindOf(row.type);
    if (isForRuns && !nearest.has(cloud)) nearest.set(cloud, row);
  }
  return clouds.flatMap((cloud) => nearest.get(cloud) ?? []);
}

export async function effectiveCredentials(
  db: Connection,
  place: ProjectPlace,
): Promise<AssignedCredential[]> {
  return nearestOf((await runCredentialRows(db, place)).rows);
}
