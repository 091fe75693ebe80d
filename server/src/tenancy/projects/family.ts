/** Projects and their tree. */
import { operations } from '#contract/operations.ts';
import type { CreateProjectBody } from '#contract/projects/operations.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';
import {
  getProjectRow,
  getTestingProjectRow,
  insertProject,
  lockProjectTree,
  type ProjectRow,
  projectHome,
} from '../../rows/projects/project-store.ts';
import { archiveProject, lockProject } from './archive-project.ts';
import { listProjects } from './list-projects.ts';
import { moveProject } from './move-project.ts';
import { auditedProject, projectView } from './project-view.ts';
import { updateProject } from './update-project.ts';

/** Deletes a project, which archives it: what was deployed in it remains readable. The right was checked. */
async function deleteProject(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    await archiveProject(context, await lockProject(context.db, id));
    return { id };
  });
}

async function parentOf(tx: Connection, body: CreateProjectBody): Promise<ProjectRow | null> {
  if (!body.parentProjectId) return null;
  const parent = await getProjectRow(tx, body.parentProjectId);
  if (parent?.organization_id !== body.organizationId || parent.is_testing)
    throw badField('body.parentProjectId', 'does not match a project of this organization');
  if (parent.is_archived) throw conflict(`Project "${parent.name}" is archived`);
  return parent;
}

function auditCreated(context: ActorContext, row: ProjectRow): Promise<void> {
  return recordAudit(context, {
    organizationId: row.organization_id,
    projectId: row.id,
    action: 'project.created',
    entityId: row.id,
    details: { name: row.name },
    ...changesOf(null, auditedProject(row)),
  });
}

/** @param home where the right was checked: the organization, or the parent */
async function createProject(
  context: ActorContext,
  body: CreateProjectBody,
  home: Place | null,
): Promise<Project> {
  if (home?.organizationId !== body.organizationId)
    throw badField('body.parentProjectId', 'does not match a project of this organization');
  return inTransaction(context, async (context) => {
    await lockProjectTree(context.db, body.organizationId);
    const parent = await parentOf(context.db, body);
    const row = await insertProject(context.db, context, {
      organizationId: body.organizationId,
      name: body.name,
      description: body.description ?? '',
      tags: body.tags ?? [],
      parent,
    });
    if (!row) throw conflict(`A project named "${body.name}" already exists here: choose another name`);
    await auditCreated(context, row);
    return projectView(context, row);
  });
}

async function testingProject(context: ActorContext, organizationId: string): Promise<Project> {
  return inTransaction(context, async (context) => {
    await lockProjectTree(context.db, organizationId);
    const known = await getTestingProjectRow(context.db, organizationId);
    const testing = {
      organizationId,
      name: 'Tests of modules',
      description: '',
      tags: [],
      parent: null,
      isTesting: true,
    };
    const row = known ?? (await insertProject(context.db, context, testing));
    if (!row) throw new Error(`Organization ${organizationId} did not accept a module-testing project`);
    if (!known) await auditCreated(context, row);
    return projectView(context, row);
  });
}

const projectRoutes: Route[] = [
  route(operations.listProjects, (context, { query }) =>
    listProjects(context, query.organizationId, query.isArchived),
  ),
  route(operations.createProject, (context, { body, home }) => createProject(context, body, home)),
  route(operations.getProject, async (context, { params }) => {
    const row = orNotFound(await getProjectRow(context.db, params.id), 'project', params.id);
    return projectView(context, row);
  }),
  route(operations.updateProject, (context, { params, body }) => updateProject(context, params.id, body)),
  route(operations.deleteProject, (context, { params }) => deleteProject(context, params.id)),
  route(operations.moveProject, (context, { params, body }) =>
    moveProject(context, params.id, body.targetProjectId),
  ),
  route(operations.getTestingProject, (context, { params }) =>
    testingProject(context, params.organizationId),
  ),
];

export const family: Family = {
  name: 'projects',
  routes: projectRoutes,
  entities: { project: projectHome },
  locks: { project: lockProject },
  tables: ['project'],
};
