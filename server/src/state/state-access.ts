/** Who may read a state over HTTP, besides those with the right READ_STATE. */
import type { StateAccess } from '#contract/state/shapes.ts';
import type { Actor } from '../access/actor.ts';
import { roleHas } from '../access/role-rights.ts';
import { recordEnvironmentAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { getEnvironmentRow, requireEnvironment } from '../environments/environment-store.ts';
import { notFound, unknownEntity } from '../http/errors.ts';
import { projectHome } from '../projects/project-store.ts';
import { deleteStateAccessRow, getStateAccessRow, putStateAccessRow } from './state-access-store.ts';

/** The setting, or the default: nobody else. */
export async function getStateAccess(db: Connection, environmentId: string): Promise<StateAccess> {
  const row = await getStateAccessRow(db, environmentId);
  return {
    ...(row ? { id: row.id } : {}),
    environmentId,
    accessibleFromEntireOrganization: row?.is_open_to_organization ?? false,
    allowedProjectIds: row?.allowed_project_ids ?? [],
  };
}

async function requireProjects(
  tx: Connection,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const home = await projectHome(tx, id);
    if (home?.organizationId !== organizationId)
      throw unknownEntity(`body.allowedProjectIds.${index}`, 'project');
  }
}

/** @throws Refusal 400 for a project that is unknown, 404 */
export async function setStateAccess(
  context: ActorContext,
  environmentId: string,
  body: { accessibleFromEntireOrganization: boolean; allowedProjectIds?: string[] },
): Promise<StateAccess> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const projects = [...new Set(body.allowedProjectIds ?? [])];
    await requireProjects(context.db, environment.organization_id, projects);
    await putStateAccessRow(context.db, {
      environment_id: environmentId,
      id: context.newId(),
      is_open_to_organization: body.accessibleFromEntireOrganization,
      allowed_project_ids: projects,
      updated_by: context.actor.userId,
      updated_at: context.now(),
    });
    await recordEnvironmentAudit(context, environment, 'state.accessChanged', { ...body });
    return getStateAccess(context.db, environmentId);
  });
}

export async function deleteStateAccess(
  context: ActorContext,
  environmentId: string,
): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const environment = await getEnvironmentRow(context.db, environmentId);
    if (!environment) throw notFound('environment', environmentId);
    await deleteStateAccessRow(context.db, environmentId);
    await recordEnvironmentAudit(context, environment, 'state.accessChanged', {
      accessibleFromEntireOrganization: false,
      allowedProjectIds: [],
    });
    return { id: environmentId };
  });
}

/** Whether somebody may read a state: by right, or because it is open to all members of the organization. */
export async function mayReadState(
  db: Connection,
  actor: Actor,
  environment: EnvironmentRow,
): Promise<boolean> {
  const role = actor.roles.get(environment.organization_id);
  if (role === undefined) return false;
  return (
    roleHas(role, 'READ_STATE') ||
    ((await getStateAccessRow(db, environment.id))?.is_open_to_organization ?? false)
  );
}
