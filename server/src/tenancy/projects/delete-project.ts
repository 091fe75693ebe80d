/** Deletes a project, which archives it: what was deployed in it remains readable. */
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { archiveProject, lockProject } from './archive-project.ts';

/** The right was checked. */
export async function deleteProject(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    await archiveProject(context, await lockProject(context.db, id));
    return { id };
  });
}
