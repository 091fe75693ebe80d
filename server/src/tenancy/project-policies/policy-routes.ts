/** Policies of projects: read, and replaced as a whole. */
import { operations, type UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import type { LimitsCheck, Policy } from '#contract/project-policies/shapes.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, orNotFound } from '../../ground/errors.ts';
import { countActive } from '../../rows/environments/environment-store.ts';
import { inProject } from '../../rows/places.ts';
import { getPolicyRow, type PolicyRow, putPolicyRow } from '../../rows/project-policies/policy-store.ts';
import { getProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';
import { checkTtls } from '../lifetimes/policy-ttl.ts';
import { lockProject } from '../projects/archive-project.ts';
import { isReached, mayExceed } from './environment-limits.ts';
import { requireLift } from './lift-approval.ts';
import {
  columnsOf,
  flagsOf,
  type PolicySettings,
  readPolicySettings,
  settingsOf,
} from './policy-settings.ts';
import { projectDemands } from './project-demands.ts';

/**
 * Settings of a policy beyond the interface, as replies show them. A request without one leaves it unchanged.
 * @param row undefined: the policy was never changed
 */
function ownSettingsOf(row: PolicyRow | undefined): Pick<Policy, 'selfApprovalForbidden'> {
  return withoutNulls({ selfApprovalForbidden: row?.self_approval_forbidden });
}

/** Changes that an update stores. A request that repeats what is stored does not set it. */
function ownColumns(
  { actor }: Pick<ActorContext, 'actor'>,
  { selfApprovalForbidden: wanted }: Pick<UpdatePolicyBody, 'selfApprovalForbidden'>,
  before: PolicyRow | undefined,
): Pick<PolicyRow, 'self_approval_forbidden' | 'self_approval_set_by'> {
  const [value, setBy] = [before?.self_approval_forbidden ?? null, before?.self_approval_set_by ?? null];
  if (wanted === undefined || wanted === value)
    return { self_approval_forbidden: value, self_approval_set_by: setBy };
  return { self_approval_forbidden: wanted, self_approval_set_by: actor.userId };
}

const inherit = 'inherit';

/** @throws Refusal 400 that names the field: lifetimes of the project's own and inherited ones do not mix */
function checkInheritance({ maxTtl, defaultTtl }: PolicySettings): void {
  if ((maxTtl === inherit) === (defaultTtl === inherit)) return;
  const field = maxTtl === inherit ? 'defaultTtl' : 'maxTtl';
  const other = maxTtl === inherit ? 'maxTtl' : 'defaultTtl';
  throw badField(
    `body.${field}`,
    `must be inherit, too, as ${other} is: a project has both lifetimes from its organization, or both of its own`,
  );
}

/**
 * Rules for the content of a policy. Pure.
 * The schedule of drift detection is checked by the family that runs it.
 * @throws Refusal 400 that names the field
 */
function checkPolicy(settings: PolicySettings, now: Date): void {
  checkInheritance(settings);
  const { maxTtl, defaultTtl, driftDetectionEnabled, driftDetectionCron } = settings;
  if (maxTtl !== inherit) checkTtls(maxTtl, defaultTtl, now);
  if (driftDetectionEnabled && driftDetectionCron.trim() === '')
    throw badField('body.driftDetectionCron', 'is required with driftDetectionEnabled');
}

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
