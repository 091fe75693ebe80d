/** Policies of projects: read, and replaced as a whole. */
import type { Insertable } from 'kysely';
import type { UpdatePolicyBody } from '#contract/policies/operations.ts';
import { type Policy, policyFlags, type PolicyFlag } from '#contract/policies/shapes.ts';
import { operations } from '#contract/policies/operations.ts';
import { changesOf } from '../audit/changes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import type { ProjectPolicyTable } from '../database/schema.ts';
import { inTransaction } from '../database/transaction.ts';
import { orNotFound } from '../http/errors.ts';
import { route } from '../http/route.ts';
import { lockProject } from '../projects/archive-project.ts';
import { getProjectRow, type ProjectRow } from '../projects/project-store.ts';
import { ownColumns, ownSettingsOf } from './own-settings.ts';
import { checkStrategy } from './remediation-strategy.ts';
import { getPolicyRow, type PolicyRow, putPolicyRow } from './policy-store.ts';

/** The column of a flag. */
const flagColumns = {
  requiresApprovalDefault: 'requires_approval_default',
  includeCostEstimation: 'include_cost_estimation',
  skipApplyWhenPlanIsEmpty: 'skip_apply_when_plan_is_empty',
  disableDestroyEnvironments: 'disable_destroy_environments',
  forceCheckoutOnTtlDestroy: 'force_checkout_on_ttl_destroy',
  skipRedundantDeployments: 'skip_redundant_deployments',
  continuousDeploymentDefault: 'continuous_deployment_default',
  runPullRequestPlanDefault: 'run_pull_request_plan_default',
  vcsPrCommentsEnabledDefault: 'vcs_pr_comments_enabled_default',
  forceRemoteBackend: 'force_remote_backend',
  outputsAsInputsEnabled: 'outputs_as_inputs_enabled',
} as const satisfies Record<PolicyFlag, keyof ProjectPolicyTable>;

type Settings = Omit<Policy, 'id' | 'projectId' | 'organizationId' | 'updatedBy' | 'selfApprovalForbidden'>;

/** Of a project whose policy was never changed. */
const defaults: Settings = {
  numberOfEnvironments: null,
  numberOfEnvironmentsTotal: null,
  maxTtl: 'inherit',
  defaultTtl: 'inherit',
  ...flagsOf((name) => name === 'requiresApprovalDefault'),
  driftDetectionEnabled: false,
  driftDetectionCron: '',
  autoDriftRemediation: 'DISABLED',
};

function flagsOf(isOn: (name: PolicyFlag) => boolean): Record<PolicyFlag, boolean> {
  return Object.fromEntries(policyFlags.map((name) => [name, isOn(name)])) as Record<PolicyFlag, boolean>;
}

function settingsOf(row: PolicyRow | undefined): Settings {
  if (!row) return defaults;
  return {
    numberOfEnvironments: row.number_of_environments,
    numberOfEnvironmentsTotal: row.number_of_environments_total,
    maxTtl: row.max_ttl,
    defaultTtl: row.default_ttl,
    ...flagsOf((name) => row[flagColumns[name]]),
    driftDetectionEnabled: row.drift_detection_enabled,
    driftDetectionCron: row.drift_detection_cron,
    autoDriftRemediation: row.auto_drift_remediation,
  };
}

function policyView(project: ProjectRow, row: PolicyRow | undefined): Policy {
  return {
    id: project.id,
    projectId: project.id,
    organizationId: project.organization_id,
    updatedBy: row?.updated_by ?? project.created_by,
    ...settingsOf(row),
    ...ownSettingsOf(row),
  };
}

async function readPolicy(db: Connection, projectId: string): Promise<Policy> {
  const [project, row] = await Promise.all([getProjectRow(db, projectId), getPolicyRow(db, projectId)]);
  return policyView(orNotFound(project, 'project', projectId), row);
}

/** What a request replaces the policy by: nothing of the old one stays. */
function columnsOf(
  body: UpdatePolicyBody,
): Omit<Insertable<ProjectPolicyTable>, 'updated_by' | 'updated_at'> {
  const flags = Object.fromEntries(policyFlags.map((name) => [flagColumns[name], body[name] ?? false]));
  return {
    project_id: body.projectId,
    number_of_environments: body.numberOfEnvironments ?? null,
    number_of_environments_total: body.numberOfEnvironmentsTotal ?? null,
    max_ttl: body.maxTtl ?? null,
    default_ttl: body.defaultTtl ?? null,
    ...(flags as Record<(typeof flagColumns)[PolicyFlag], boolean>),
    drift_detection_enabled: body.driftDetectionEnabled ?? false,
    drift_detection_cron: body.driftDetectionCron ?? '',
    auto_drift_remediation: body.autoDriftRemediation ?? 'DISABLED',
  };
}

const auditedOf = (row: PolicyRow | undefined) => ({ ...settingsOf(row), ...ownSettingsOf(row) });

/** The right was checked. */
async function updatePolicy(context: ActorContext, body: UpdatePolicyBody): Promise<Policy> {
  return inTransaction(context, async (context) => {
    const project = await lockProject(context.db, body.projectId);
    const before = await getPolicyRow(context.db, project.id);
    checkStrategy(body.autoDriftRemediation, before?.auto_drift_remediation, 'body.autoDriftRemediation');
    const row = await putPolicyRow(context.db, {
      ...columnsOf(body),
      ...ownColumns(body, before),
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
    return policyView(project, row);
  });
}

export const policyRoutes = [
  route(operations.getPolicy, ({ db }, { query }) => readPolicy(db, query.projectId)),
  route(operations.updatePolicy, (context, { body }) => updatePolicy(context, body)),
];
