/** The project whose costs a request is about. */
import type { ActorContext } from '../context.ts';
import { orNotFound } from '../http/errors.ts';
import { holdProjectRow, type ProjectRow } from '../projects/project-store.ts';

/** The project, which nobody archives or moves until the transaction ends. @throws Refusal 404 */
export async function requireProject({ db }: ActorContext, projectId: string): Promise<ProjectRow> {
  return orNotFound(await holdProjectRow(db, projectId), 'project', projectId);
}
