/** Moves a project, with everything below it, to another place of its organization's tree. */
import { requireRight } from '../../framework/access/check-right.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { inOrganization, inProject } from '../../rows/places.ts';
import {
  getProjectRow,
  hasSiblingNamed,
  lockProjectTree,
  moveProjectRows,
  type ProjectRow,
} from '../../rows/projects/project-store.ts';

async function targetOf(
  tx: Connection,
  project: ProjectRow,
  targetId: string | null,
): Promise<ProjectRow | null> {
  if (targetId === null) return null;
  const target = await getProjectRow(tx, targetId);
  if (target?.organization_id !== project.organization_id || target.is_testing)
    throw badField('body.targetProjectId', 'does not match a project of this organization');
  if (target.hierarchy.split('|').includes(project.id))
    throw badField(
      'body.targetProjectId',
      `refers to "${target.name}", which is the project itself or is below it`,
    );
  if (target.is_archived)
    throw badField('body.targetProjectId', `refers to "${target.name}", which is archived: restore it first`);
  return target;
}

/**
 * Roles, variables and credentials of the new place reach the project, and policies of the old one no longer do: the
 * caller must be able to edit both.
 * @param left ids of the projects that the project is no longer below, from the top
 * @throws MissingRight 403
 */
async function requireRightsOfPlaces(
  { actor, db }: ActorContext,
  project: ProjectRow,
  target: ProjectRow | null,
  left: readonly string[],
): Promise<void> {
  const place = target ? inProject(target) : inOrganization(project.organization_id);
  requireRight(actor, place, 'CREATE_PROJECT', '/body/targetProjectId');
  if (target) requireRight(actor, place, 'EDIT_PROJECT_SETTINGS', '/body/targetProjectId');
  // Rights in the highest one reach the others.
  const highest = left[0] === undefined ? undefined : await getProjectRow(db, left[0]);
  if (highest)
    requireRight(
      actor,
      inProject(highest),
      'EDIT_PROJECT_SETTINGS',
      `Moving the project out of "${highest.name}"`,
    );
}

/**
 * The right was checked on the project. Moved to where it is, nothing happens.
 * @param targetId the new parent; null: the top
 * @throws Refusal 400 for a target that cannot be one, 403 as `requireRightsOfPlaces` does, or 409 where the place has a project of this name; whatever a
 * reaction refuses the move with
 */
export async function moveProject(context: ActorContext, id: string, targetId: string | null): Promise<null> {
  return inTransaction(context, async (context) => {
    const found = orNotFound(await getProjectRow(context.db, id), 'project', id);
    await lockProjectTree(context.db, found.organization_id);
    const project = (await getProjectRow(context.db, id)) ?? found;
    const target = await targetOf(context.db, project, targetId);
    if (project.is_testing) throw conflict('The module-testing project cannot be moved');
    if (project.parent_project_id === (target?.id ?? null)) return null;
    const above = target?.hierarchy.split('|') ?? [];
    const left = project.hierarchy.split('|').filter((each) => each !== id && !above.includes(each));
    await requireRightsOfPlaces(context, project, target, left);
    const isTaken =
      !project.is_archived &&
      (await hasSiblingNamed(context.db, { ...project, parent_project_id: target?.id ?? null }));
    if (isTaken)
      throw conflict(`A project named "${project.name}" already exists there: rename one of them first`);
    const checks: (() => Promise<void>)[] = [];
    const { actor, requestId } = context;
    const afterwards = (check: () => Promise<void>) => void checks.push(check);
    await context.react('projectMoving', { projectId: id, left, by: { actor, requestId }, afterwards });
    await moveProjectRows(context.db, project, target, context.now());
    for (const check of checks) await check();
    await recordAudit(context, {
      organizationId: project.organization_id,
      projectId: id,
      action: 'project.moved',
      entityId: id,
      details: { from: project.parent_project_id, to: target?.id ?? null },
      before: { parentProjectId: project.parent_project_id },
      after: { parentProjectId: target?.id ?? null },
    });
    return null;
  });
}
