/** The project whose costs a request is about. */
import type { ActorContext } from '../../framework/context.ts';
import { orNotFound } from '../../ground/errors.ts';
import { holdProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';

/** The project, locked until the transaction ends. @throws Refusal 404 */
export async function requireProject({ db }: ActorContext, projectId: string): Promise<ProjectRow> {
  return orNotFound(await holdProjectRow(db, projectId), 'project', projectId);
}
