/** Archives a project with everything below it, which stops what is queued in their environments. */
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { conflict, orNotFound } from '../../ground/errors.ts';
import {
  archiveProjectRows,
  getProjectRow,
  lockProjectTree,
  type ProjectRow,
  unarchivedIds,
} from '../../rows/projects/project-store.ts';

/** @returns the project, in a tree locked against other changes. @throws Refusal 404 */
export async function lockProject(tx: Connection, id: string): Promise<ProjectRow> {
  const found = orNotFound(await getProjectRow(tx, id), 'project', id);
  await lockProjectTree(tx, found.organization_id);
  return (await getProjectRow(tx, id)) ?? found;
}

/** The project comes from `lockProject`. @throws Refusal 409 for the module-testing project */
export async function archiveProject(context: ActorContext, project: ProjectRow): Promise<void> {
  if (project.is_testing) throw conflict('The module-testing project cannot be archived');
  const { actor, requestId } = context;
  const by = { actor, requestId };
  await context.react('projectsArchiving', { projectIds: await unarchivedIds(context.db, project), by });
  const projectIds = await archiveProjectRows(context.db, project, context.now());
  if (projectIds.length === 0) return;
  await context.react('projectsArchived', { projectIds, by });
  await recordAudit(context, {
    organizationId: project.organization_id,
    projectId: project.id,
    action: 'project.archived',
    entityId: project.id,
    details: { projects: projectIds },
    before: { isArchived: false },
    after: { isArchived: true },
  });
}
