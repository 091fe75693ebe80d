/** Checks lists of projects in requests. */
import type { Connection } from '../context.ts';
import { unknownEntity } from '../http/errors.ts';
import { projectHome } from './project-store.ts';

/**
 * @param field where the list stands, as `body.projectIds`
 * @returns each id once, in their order
 * @throws Refusal 400 that names the first id that is not a project of the organization
 */
export async function requireProjects(
  tx: Connection,
  organizationId: string,
  ids: readonly string[],
  field: string,
): Promise<string[]> {
  for (const [index, id] of ids.entries()) {
    const home = await projectHome(tx, id);
    if (home?.organizationId !== organizationId) throw unknownEntity(`${field}.${index}`, 'project');
  }
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
