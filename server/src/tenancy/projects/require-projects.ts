/** Checks lists of projects in requests. */

import type { Connection } from '../../framework/context.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { getProjectRows } from '../../rows/projects/project-store.ts';

/**
 * @param field path of the list, as `body.projectIds`
 * @returns each id once, in their order
 * @throws Refusal 400 that names the first id that is not a project of the organization
 */
export async function requireProjects(
  tx: Connection,
  organizationId: string,
  ids: readonly string[],
  field: string,
): Promise<string[]> {
  const plain = ids.map((id) => id.toLowerCase());
  const unique = [...new Set(plain)];
  const rows = await getProjectRows(tx, unique.filter(isUuid));
  const known = new Set(rows.filter((row) => row.organization_id === organizationId).map(({ id }) => id));
  const unknown = plain.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw unknownEntity(`${field}.${unknown}`, 'project');
  return unique;
}
