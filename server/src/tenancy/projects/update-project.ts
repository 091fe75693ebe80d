/** Changes, archives and restores a project. */
import type { Updateable } from 'kysely';
import type { UpdateProjectBody } from '#contract/projects/operations.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict } from '../../ground/errors.ts';
import {
  getProjectRow,
  hasSiblingNamed,
  type ProjectRow,
  updateProjectRow,
} from '../../rows/projects/project-store.ts';
import type { ProjectTable } from '../../rows/schema.ts';
import { archiveProject, lockProject } from './archive-project.ts';
import { auditedProject, projectView } from './project-view.ts';

async function checkRestore(tx: Connection, project: ProjectRow): Promise<void> {
  const parent = project.parent_project_id ? await getProjectRow(tx, project.parent_project_id) : undefined;
  if (parent?.is_archived)
    throw conflict(`Its parent project "${parent.name}" is archived; restore that first`);
}

function columns(body: UpdateProjectBody): Updateable<ProjectTable> {
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.tags === undefined ? {} : { tags: body.tags ?? [] }),
    ...(body.isArchived === false ? { is_archived: false } : {}),
  };
}

/**
 * The right was checked. @throws Refusal 409 for a name that is taken, or a restore below an archived project
 */
export async function updateProject(
  context: ActorContext,
  id: string,
  body: UpdateProjectBody,
): Promise<Project> {
  return inTransaction(context, async (context) => {
    const project = await lockProject(context.db, id);
    if (body.isArchived === false && project.is_archived) await checkRestore(context.db, project);
    const changed = { ...project, ...columns(body) } as ProjectRow;
    if (!changed.is_archived && !project.is_testing && (await hasSiblingNamed(context.db, changed)))
      throw conflict(`A project named "${changed.name}" already exists here: choose another name`);
    if (body.isArchived === true) await archiveProject(context, project);
    await updateProjectRow(context.db, id, { ...columns(body), updated_at: context.now() });
    const updated = (await getProjectRow(context.db, id)) ?? project;
    await recordAudit(context, {
      organizationId: project.organization_id,
      projectId: id,
      action: 'project.updated',
      entityId: id,
      details: { fields: Object.keys(body) },
      ...changesOf(auditedProject(project), auditedProject(updated)),
    });
    return projectView(context, updated);
  });
}
