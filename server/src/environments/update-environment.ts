/** Changes the settings of an environment, its archive mark and its lock. */
import type { Updateable } from 'kysely';
import type { UpdateEnvironmentBody } from '#contract/create-environment.ts';
import type { Environment } from '#contract/environment.ts';
import { requireRight } from '../access/check-right.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import type { EnvironmentTable } from '../database/schema.ts';
import { badField, conflict, notFound } from '../http/errors.ts';
import { advanceQueue } from './advance-queue.ts';
import { cancelAllQueued } from './cancel-deployment.ts';
import { openDeployments } from './deployment-store.ts';
import { type EnvironmentRow, getEnvironmentRow, lockEnvironmentRow, updateEnvironmentRow } from './environment-store.ts';
import { environmentView } from './environment-view.ts';
import { refreshEnvironment } from './move-deployment.ts';

function columns(body: UpdateEnvironmentBody): Updateable<EnvironmentTable> {
  const values: Updateable<EnvironmentTable> = {
    name: body.name,
    requires_approval: body.requiresApproval,
    is_archived: body.isArchived,
    continuous_deployment: body.continuousDeployment,
    pull_request_plan_deployments: body.pullRequestPlanDeployments,
    vcs_commands_alias: body.vcsCommandsAlias,
    vcs_pr_comments_enabled: body.vcsPrCommentsEnabled,
    auto_deploy_on_path_changes_only: body.autoDeployOnPathChangesOnly,
    auto_deploy_by_custom_glob: body.autoDeployByCustomGlob,
    terragrunt_working_directory: body.terragruntWorkingDirectory,
    is_remote_backend: body.isRemoteBackend,
    is_remote_apply_enabled: body.isRemoteApplyEnabled,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Archiving destroys nothing: what is queued is cancelled, what runs has to end first. */
async function archive(tx: Connection, context: ActorContext, environment: EnvironmentRow): Promise<void> {
  await cancelAllQueued(tx, context, environment);
  const [running] = await openDeployments(tx, environment.id);
  if (running) throw conflict(`Environment "${environment.name}" has a ${running.type} that is ${running.status}: end it before archiving`);
}

/** The right was checked. @throws Refusal 400 or 409 before anything is written */
export async function updateEnvironment(context: ActorContext, id: string, body: UpdateEnvironmentBody): Promise<Environment> {
  return inTransaction(context.db, async (tx) => {
    const environment = await lockEnvironmentRow(tx, id);
    if (!environment) throw notFound('environment', id);
    if (body.requiresApproval === false && environment.requires_approval)
      requireRight(context.actor, environment.organization_id, 'RUN_APPLY', '/body/requiresApproval false');
    const changes = columns(body);
    const remoteApply = body.isRemoteApplyEnabled ?? environment.is_remote_apply_enabled;
    const isFit = (body.isRemoteBackend ?? environment.is_remote_backend) && !(body.requiresApproval ?? environment.requires_approval);
    if (remoteApply && !isFit && (body.isRemoteApplyEnabled || environment.is_remote_apply_enabled)) {
      throw badField('body.isRemoteApplyEnabled', 'needs isRemoteBackend true and requiresApproval false');
    }
    if (body.isArchived === true && !environment.is_archived) await archive(tx, context, environment);
    const updated = await updateEnvironmentRow(tx, id, { ...changes, updated_at: context.now() });
    await recordAudit(tx, context, {
      organizationId: updated.organization_id,
      action: 'environment.updated',
      entity: 'environment',
      entityId: id,
      details: { fields: Object.keys(body) },
    });
    return environmentView(tx, context, await refreshEnvironment(tx, context, updated));
  });
}

/** Locks or unlocks; the same again changes only the reason. What was queued meanwhile goes on when the lock goes. */
export async function setEnvironmentLock(
  context: ActorContext,
  id: string,
  body: { isLocked: boolean; reason?: string },
): Promise<EnvironmentRow> {
  return inTransaction(context.db, async (tx) => {
    const environment = await lockEnvironmentRow(tx, id);
    if (!environment) throw notFound('environment', id);
    const now = context.now();
    const changes = {
      is_locked: body.isLocked,
      lock_reason: body.reason ?? null,
      locked_by: context.actor.userId,
      locked_at: now,
      updated_at: now,
    };
    const updated = await updateEnvironmentRow(tx, id, changes);
    const action = body.isLocked ? 'environment.locked' : 'environment.unlocked';
    await recordAudit(tx, context, {
      organizationId: updated.organization_id,
      action,
      entity: 'environment',
      entityId: id,
      details: body.reason ? { reason: body.reason } : {},
    });
    if (!body.isLocked) await advanceQueue(tx, context, updated);
    return (await getEnvironmentRow(tx, id)) as EnvironmentRow;
  });
}
