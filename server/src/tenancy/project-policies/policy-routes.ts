/** Policies of projects: read, and replaced as a whole. */
import type { UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import { operations } from '#contract/project-policies/operations.ts';
import type { LimitsCheck, Policy } from '#contract/project-policies/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { countActive } from '../../rows/environments/environment-store.ts';
import { inProject } from '../../rows/places.ts';
import { getPolicyRow, type PolicyRow, putPolicyRow } from '../../rows/project-policies/policy-store.ts';
import { getProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';
import { lockProject } from '../projects/archive-project.ts';
import { checkPolicy } from './check-policy.ts';
import { isReached, mayExceed } from './environment-limits.ts';
import { requireLift } from './lift-approval.ts';
import { ownColumns, ownSettingsOf } from './own-settings.ts';
import {
  columnsOf,
  flagsOf,
  type PolicySettings,
  readPolicySettings,
  settingsOf,
} from './policy-settings.ts';
import { projectDemands } from './project-demands.ts';

function policyView(
  project: ProjectRow,
  row: PolicyRow | undefined,
  isSelfApprovalForbidden: boolean,
): Policy {
  return {
    id: project.id,
    projectId: project.id,
    organizationId: project.organization_id,
    updatedBy: row?.updated_by ?? project.created_by,
    ...settingsOf(row),
    ...ownSettingsOf(row),
    isSelfApprovalForbidden,
  };
}

async function readPolicy(db: Connection, projectId: string): Promise<Policy> {
  const [project, row, demands] = await Promise.all([
    getProjectRow(db, projectId),
    getPolicyRow(db, projectId),
    projectDemands({ db }, projectId),
  ]);
  return policyView(orNotFound(project, 'project', projectId), row, demands.length > 0);
}

/** Replacement of the policy by a request: nothing of the old one stays. */
function settingsFrom(body: UpdatePolicyBody): PolicySettings {
  return {
    numberOfEnvironments: body.numberOfEnvironments ?? null,
    numberOfEnvironmentsTotal: body.numberOfEnvironmentsTotal ?? null,
    maxTtl: body.maxTtl ?? null,
    defaultTtl: body.defaultTtl ?? null,
    ...flagsOf((name) => body[name] ?? false),
    driftDetectionEnabled: body.driftDetectionEnabled ?? false,
    driftDetectionCron: body.driftDetectionCron ?? '',
    autoDriftRemediation: body.autoDriftRemediation ?? 'DISABLED',
  };
}

const auditedOf = (row: PolicyRow | undefined) => ({ ...settingsOf(row), ...ownSettingsOf(row) });

/** Settings that projects above forbid can be allowed by their own administrators. @throws MissingRight 403 */
async function requireSelfApproval(
  context: ActorContext,
  project: ProjectRow,
  { selfApprovalForbidden }: UpdatePolicyBody,
  before: PolicyRow | undefined,
): Promise<void> {
  if (selfApprovalForbidden !== false || before?.self_approval_forbidden === false) return;
  const above = await projectDemands(context, project.parent_project_id);
  requireLift(context.actor, above, '/body/selfApprovalForbidden false');
}

/** The right was checked. @throws Refusal 400 that names the field, 403 where a project above is stricter */
async function updatePolicy(context: ActorContext, body: UpdatePolicyBody): Promise<Policy> {
  return inTransaction(context, async (context) => {
    const project = await lockProject(context.db, body.projectId);
    const before = await getPolicyRow(context.db, project.id);
    const settings = settingsFrom(body);
    checkPolicy(settings, context.now());
    await requireSelfApproval(context, project, body, before);
    const { actor, requestId } = context;
    await context.react('policyChanging', {
      projectId: project.id,
      before: settingsOf(before),
      after: settings,
      by: { actor, requestId },
    });
    const row = await putPolicyRow(context.db, {
      project_id: project.id,
      ...columnsOf(settings),
      ...ownColumns(context, body, before),
      updated_by: context.actor.userId,
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId: project.organization_id,
      projectId: project.id,
      action: 'project.policyUpdated',
      entity: 'project',
      entityId: project.id,
      ...changesOf(auditedOf(before), auditedOf(row)),
    });
    const demands = await projectDemands(context, project.id);
    return policyView(project, row, demands.length > 0);
  });
}

/** Checks whether the limits allow one more environment of the caller. The right was checked. */
async function checkLimits({ db, actor }: ActorContext, projectId: string): Promise<LimitsCheck> {
  const [project, policy, { total, ofUser }] = await Promise.all([
    getProjectRow(db, projectId),
    readPolicySettings(db, projectId),
    countActive(db, { projectId, userId: actor.userId }),
  ]);
  const place = inProject(orNotFound(project, 'project', projectId));
  return {
    warnings: {
      total: isReached(policy.numberOfEnvironmentsTotal, total),
      user: isReached(policy.numberOfEnvironments, ofUser) && !mayExceed(actor.access, place),
    },
    total,
    user: ofUser,
  };
}

export const policyRoutes = [
  route(operations.getPolicy, ({ db }, { query }) => readPolicy(db, query.projectId)),
  route(operations.checkPolicyLimits, (context, { query }) => checkLimits(context, query.projectId)),
  route(operations.updatePolicy, (context, { body }) => updatePolicy(context, body)),
];
