/** Readers of a state over HTTP, besides those with the right READ_STATE. */

import type { StateAccess } from '#contract/state/shapes.ts';
import type { Actor } from '../../framework/access/actor.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import {
  deleteStateAccessRow,
  getStateAccessRow,
  putStateAccessRow,
} from '../../rows/state/state-access-store.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';

/** The setting, or the default: no one else. */
export async function getStateAccess(db: Connection, environmentId: string): Promise<StateAccess> {
  const row = await getStateAccessRow(db, environmentId);
  return {
    ...(row ? { id: row.id } : {}),
    environmentId,
    accessibleFromEntireOrganization: row?.is_open_to_organization ?? false,
    allowedProjectIds: row?.allowed_project_ids ?? [],
  };
}

/** @throws Refusal 400 for a project that is unknown, 404 */
export async function setStateAccess(
  context: ActorContext,
  environmentId: string,
  body: { accessibleFromEntireOrganization: boolean; allowedProjectIds?: string[] },
): Promise<StateAccess> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const projects = await requireProjects(
      context.db,
      environment.organization_id,
      body.allowedProjectIds ?? [],
      'body.allowedProjectIds',
    );
    const before = await getStateAccess(context.db, environmentId);
    await putStateAccessRow(context.db, {
      environment_id: environmentId,
      id: context.newId(),
      is_open_to_organization: body.accessibleFromEntireOrganization,
      allowed_project_ids: projects,
      updated_by: context.actor.userId,
      updated_at: context.now(),
    });
    const after = await getStateAccess(context.db, environmentId);
    const changes = changesOf(before, after);
    await recordEnvironmentAudit(context, environment, 'state.accessChanged', { ...body }, changes);
    return after;
  });
}

export async function deleteStateAccess(
  context: ActorContext,
  environmentId: string,
): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const before = await getStateAccess(context.db, environmentId);
    await deleteStateAccessRow(context.db, environmentId);
    const after = { accessibleFromEntireOrganization: false, allowedProjectIds: [] };
    const changes = changesOf(before, { environmentId, ...after });
    await recordEnvironmentAudit(context, environment, 'state.accessChanged', after, changes);
    return { id: environmentId };
  });
}

/**
 * Whether a user may read a state: by right, because it is open to all members of the organization, or
 * because it is open to projects whose states the caller may read.
 */
export async function mayReadState(
  db: Connection,
  actor: Actor,
  environment: EnvironmentRow,
): Promise<boolean> {
  const { access } = actor;
  const organizationId = environment.organization_id;
  if (!access.isMember(organizationId)) return false;
  if (access.has('READ_STATE', inEnvironment(environment))) return true;
  const setting = await getStateAccessRow(db, environment.id);
  if (setting === undefined) return false;
  return (
    setting.is_open_to_organization ||
    setting.allowed_project_ids.some((projectId) =>
      access.has('READ_STATE', { organizationId, projectId, environmentId: null }),
    )
  );
}
