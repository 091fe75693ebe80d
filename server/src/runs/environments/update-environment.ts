/** Changes the settings of an environment and its archive mark. */

import type { Updateable } from 'kysely';
import type { UpdateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { normalizePath } from '#guards/source-guards.ts';
import { checkPath } from '../../code/templates/check-source.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf, isUnchanged } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict } from '../../ground/errors.ts';
import { openDeployments } from '../../rows/deployments/deployment-store.ts';
import {
  type EnvironmentRow,
  isIdle,
  type LockedEnvironment,
} from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';
import { checkEnvironmentLimits } from '../../tenancy/project-policies/environment-limits.ts';
import { lifterColumns } from '../../tenancy/project-policies/lift-approval.ts';
import { type PolicySettings, readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { projectDemands } from '../../tenancy/project-policies/project-demands.ts';
import { cancelDeployments } from '../deployments/cancel-deployment.ts';
import { resourcesOf } from '../deployments/inputs/start-facts.ts';
import { refreshEnvironment } from '../deployments/transitions/move-deployment.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { environmentView } from './environment-view.ts';
import { checkRemoteBackend } from './policy-defaults.ts';

/** Columns of the settings that an update may change, by field. */
export const settingColumns = {
  name: 'name',
  requiresApproval: 'requires_approval',
  isArchived: 'is_archived',
  continuousDeployment: 'continuous_deployment',
  pullRequestPlanDeployments: 'pull_request_plan_deployments',
  vcsCommandsAlias: 'vcs_commands_alias',
  vcsPrCommentsEnabled: 'vcs_pr_comments_enabled',
  autoDeployOnPathChangesOnly: 'auto_deploy_on_path_changes_only',
  autoDeployByCustomGlob: 'auto_deploy_by_custom_glob',
  terragruntWorkingDirectory: 'terragrunt_working_directory',
  isRemoteBackend: 'is_remote_backend',
  isRemoteApplyEnabled: 'is_remote_apply_enabled',
  description: 'description',
  tags: 'tags',
} as const satisfies Partial<Record<keyof UpdateEnvironmentBody, keyof EnvironmentRow>>;
type EnvironmentSetting = keyof typeof settingColumns;

const settings = Object.entries(settingColumns) as [
  EnvironmentSetting,
  (typeof settingColumns)[EnvironmentSetting],
][];

/** A request without the nulls whose meaning the policy of the project decides. */
type EnvironmentUpdate = UpdateEnvironmentBody & {
  readonly [Field in 'requiresApproval' | 'continuousDeployment' | 'pullRequestPlanDeployments']?: boolean;
} & { readonly isRemoteBackend?: boolean };

/** Null clears a setting: it is then as in a new environment of the project. */
function withDefaults(body: UpdateEnvironmentBody, policy: PolicySettings): EnvironmentUpdate {
  const orDefault = (value: boolean | null | undefined, ofPolicy: boolean) =>
    value === null ? ofPolicy : value;
  return {
    ...body,
    requiresApproval: orDefault(body.requiresApproval, policy.requiresApprovalDefault),
    continuousDeployment: orDefault(body.continuousDeployment, policy.continuousDeploymentDefault),
    pullRequestPlanDeployments: orDefault(body.pullRequestPlanDeployments, policy.runPullRequestPlanDefault),
    isRemoteBackend: orDefault(body.isRemoteBackend, policy.forceRemoteBackend),
    vcsPrCommentsEnabled:
      body.vcsPrCommentsEnabled === null
        ? policy.vcsPrCommentsEnabledDefault || null
        : body.vcsPrCommentsEnabled,
  };
}

function columns(body: EnvironmentUpdate): Updateable<EnvironmentTable> {
  return Object.fromEntries(
    settings.flatMap(([field, column]) => (body[field] === undefined ? [] : [[column, body[field]]])),
  );
}

/** For the audit trail. */
function audited(row: EnvironmentRow): Record<string, unknown> {
  const shown = Object.fromEntries(settings.map(([field, column]) => [field, row[column]]));
  return { ...shown, approvalLiftedBy: row.approval_lifted_by };
}

/**
 * Archiving destroys nothing: what is queued or waits for a person is cancelled, what runs has to end first.
 */
async function archive(context: ActorContext, environment: LockedEnvironment): Promise<LockedEnvironment> {
  const running = (await openDeployments(context.db, environment.id)).find(
    (row) => row.status === 'IN_PROGRESS' || row.status === 'ABORTING',
  );
  if (running)
    throw conflict(
      `Environment "${environment.name}" has a ${running.type} that is ${running.status}: let it end or abort it before archiving`,
    );
  return (await cancelDeployments(context, environment, () => true)).environment;
}

/** An environment that has expired in the meantime would be destroyed at once; others count as active again. */
async function checkReturn(
  context: ActorContext,
  environment: EnvironmentRow,
  policy: PolicySettings,
): Promise<void> {
  const end = environment.lifespan_end_at;
  if (end && end <= context.now())
    throw conflict(
      `Environment "${environment.name}" expired at ${end.toISOString()}: set another ttl (PUT /environments/${environment.id}/ttl), then restore it`,
    );
  if (!isIdle({ ...environment, is_archived: false }))
    await checkEnvironmentLimits(context, environment, environment.project_id, policy);
}

/**
 * A run that has begun keeps the state where its plan was made; what is queued goes by what is set when it
 * begins.
 */
async function checkStateStays(
  tx: Connection,
  environment: EnvironmentRow,
  isRemoteBackend: boolean | undefined,
): Promise<void> {
  if (isRemoteBackend === undefined || isRemoteBackend === environment.is_remote_backend) return;
  const running = (await openDeployments(tx, environment.id)).find(({ status }) => status !== 'QUEUED');
  if (running)
    throw conflict(
      `/body/isRemoteBackend cannot change while the ${running.type} ${running.id} is ${running.status}, because this setting decides where its state is kept. Wait until it ends`,
    );
}

/** The code of another folder would destroy what was deployed from this one. */
async function checkFolderStays(
  tx: Connection,
  environment: EnvironmentRow,
  folder: string | undefined,
): Promise<void> {
  const field = 'body.terragruntWorkingDirectory';
  const current = environment.terragrunt_working_directory ?? '';
  if (folder === undefined || normalizePath(folder) === normalizePath(current)) return;
  checkPath(folder, field);
  const [open] = await openDeployments(tx, environment.id);
  const reason =
    open === undefined
      ? (await resourcesOf(tx, environment)).mayExist && 'the environment may have resources'
      : `its ${open.type} ${open.id} is ${open.status}`;
  if (reason)
    throw conflict(
      `/${field.replace('.', '/')} cannot change from ${JSON.stringify(current)} while ${reason}: destroy it first, or create another environment for the other folder`,
    );
}

/** Event for readers of the organization's stream. */
function changeOf(environment: EnvironmentRow, body: EnvironmentUpdate): 'archived' | 'returned' | 'updated' {
  if (body.isArchived === undefined || body.isArchived === environment.is_archived) return 'updated';
  return body.isArchived ? 'archived' : 'returned';
}

/**
 * User who switched approvals off, after the request; none if the default of the project applies.
 * @param wanted null: the default of the project
 * @throws MissingRight 403 where it may not do so
 */
async function lifterOf(
  context: ActorContext,
  environment: EnvironmentRow,
  wanted: boolean | null | undefined,
): Promise<{ approval_lifted_by?: string | null }> {
  if (wanted === undefined) return {};
  if (wanted === null) return { approval_lifted_by: null };
  const demands = await projectDemands(context, environment.project_id);
  return lifterColumns(context, environment, wanted, demands, '/body/requiresApproval');
}

/** The right was checked. What changes nothing is not recorded. @throws Refusal 400 or 409 before anything is written */
export async function updateEnvironment(
  context: ActorContext,
  id: string,
  request: UpdateEnvironmentBody,
): Promise<Environment> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const policy = await readPolicySettings(context.db, environment.project_id);
    const body = withDefaults(request, policy);
    if (body.requiresApproval === false && environment.requires_approval)
      requireRight(context.actor, inEnvironment(environment), 'RUN_APPLY', '/body/requiresApproval false');
    if (
      (body.isRemoteApplyEnabled ?? environment.is_remote_apply_enabled) !==
      environment.is_remote_apply_enabled
    )
      requireRight(
        context.actor,
        inEnvironment(environment),
        'EDIT_ALLOW_REMOTE_APPLY',
        '/body/isRemoteApplyEnabled',
      );
    const remoteApply = body.isRemoteApplyEnabled ?? environment.is_remote_apply_enabled;
    const isFit =
      (body.isRemoteBackend ?? environment.is_remote_backend) &&
      !(body.requiresApproval ?? environment.requires_approval);
    if (remoteApply && !isFit && (body.isRemoteApplyEnabled || environment.is_remote_apply_enabled)) {
      throw badField('body.isRemoteApplyEnabled', 'requires isRemoteBackend true and requiresApproval false');
    }
    const lifter = await lifterOf(context, environment, request.requiresApproval);
    checkRemoteBackend(body.isRemoteBackend, policy);
    await checkStateStays(context.db, environment, body.isRemoteBackend);
    await checkFolderStays(context.db, environment, body.terragruntWorkingDirectory);
    const values = { ...columns(body), ...lifter };
    const changes = changesOf(audited(environment), audited({ ...environment, ...values } as EnvironmentRow));
    if (isUnchanged(changes)) return environmentView(context, environment);
    const change = changeOf(environment, body);
    if (change !== 'updated')
      requireRight(context.actor, inEnvironment(environment), 'ARCHIVE_ENVIRONMENT', '/body/isArchived');
    const current = change === 'archived' ? await archive(context, environment) : environment;
    if (change === 'returned') await checkReturn(context, environment, policy);
    const updated = await refreshEnvironment(context, current, values);
    const fields = Object.keys(request);
    await recordEnvironmentAudit(context, updated, 'environment.updated', { fields }, changes);
    await recordEnvironmentEvent(context, updated, change);
    return environmentView(context, updated);
  });
}
