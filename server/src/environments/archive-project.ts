/** Changes a project, and archives it with what that means for the environments in it. */
import type { Updateable } from 'kysely';
import type { Project } from '#contract/projects/shapes.ts';
import type { UpdateProjectBody } from '#contract/projects/operations.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import type { ProjectTable } from '../database/schema.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict, notFound } from '../http/errors.ts';
import {
  archiveProjectRows,
  unarchivedIds,
  getProjectRow,
  hasSiblingNamed,
  lockProjectTree,
  type ProjectRow,
  updateProjectRow,
} from '../projects/project-store.ts';
import { projectView } from '../projects/project-view.ts';
import { cancelDeployments } from '../deployments/cancel-deployment.ts';
import { lockEnvironmentRow } from './environment-store.ts';

async function lockProject(tx: Connection, id: string): Promise<ProjectRow> {
  const found = await getProjectRow(tx, id);
  if (!found) throw notFound('project', id);
  await lockProjectTree(tx, found.organization_id);
  return (await getProjectRow(tx, id)) ?? found;
}

/** Destroys stay in the queue: a client asks for them and then deletes the project. */
async function cancelQueued(context: ActorContext, projectIds: readonly string[]): Promise<void> {
  if (projectIds.length === 0) return;
  const queued = await context.db
    .selectFrom('deployment')
    .select('environment_id')
    .distinct()
    .where('project_id', 'in', [...projectIds])
    .where('status', '=', 'QUEUED')
    .where('type', '<>', 'destroy')
    .orderBy('environment_id')
    .execute();
  for (const { environment_id } of queued) {
    const environment = await lockEnvironmentRow(context.db, environment_id);
    if (environment)
      await cancelDeployments(
        context,
        environment,
        (row) => row.status === 'QUEUED' && row.type !== 'destroy',
      );
  }
}

async function archive(context: ActorContext, project: ProjectRow): Promise<void> {
  if (project.is_testing) throw conflict('The project for tests of modules stays');
  // Environments are locked before projects, as everywhere; what was queued meanwhile is found once the
  // projects are ours.
  await cancelQueued(context, await unarchivedIds(context.db, project));
  const ids = await archiveProjectRows(context.db, project, context.now());
  if (ids.length === 0) return;
  await cancelQueued(context, ids);
  await recordAudit(context, {
    organizationId: project.organization_id,
    action: 'project.archived',
    entity: 'project',
    entityId: project.id,
    details: { projects: ids },
  });
}

/** The right was checked. */
export async function deleteProject(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    await archive(context, await lockProject(context.db, id));
    return { id };
  });
}

async function checkReturn(tx: Connection, project: ProjectRow): Promise<void> {
  const parent = project.parent_project_id ? await getProjectRow(tx, project.parent_project_id) : undefined;
  if (parent?.is_archived)
    throw conflict(`Project "${parent.name}", which it lies in, is archived: bring that back first`);
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
 * The right was checked. @throws Refusal 409 for a name that is taken, or a return below an archived project
 */
export async function updateProject(
  context: ActorContext,
  id: string,
  body: UpdateProjectBody,
): Promise<Project> {
  return inTransaction(context, async (context) => {
    const project = await lockProject(context.db, id);
    if (body.isArchived === false && project.is_archived) await checkReturn(context.db, project);
    const changed = { ...project, ...columns(body) } as ProjectRow;
    if (!changed.is_archived && !project.is_testing && (await hasSiblingNamed(context.db, changed)))
      throw conflict(`There is a project named "${changed.name}" at this place already: choose another name`);
    if (body.isArchived === true) await archive(context, project);
    await updateProjectRow(context.db, id, { ...columns(body), updated_at: context.now() });
    await recordAudit(context, {
      organizationId: project.organization_id,
      action: 'project.updated',
      entity: 'project',
      entityId: id,
      details: { fields: Object.keys(body) },
    });
    return projectView(context, (await getProjectRow(context.db, id)) ?? project);
  });
}
