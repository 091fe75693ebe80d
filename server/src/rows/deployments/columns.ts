/** Types of columns that are text, numbers or JSON to the database. */

import type { CustomServiceEnvironmentVariables } from '#contract/deployments/custom-variables.ts';
import type { GitUserData } from '#contract/deployments/deploy-request.ts';
import type { Diagnostic } from '#contract/deployments/diagnostics.ts';
import type {
  CostEstimation,
  DeploymentErrorBody,
  GitMetadata,
  Plan,
  PlannedUnit,
  PlanSummary,
  Resource,
  UnrecordedResource,
} from '#contract/deployments/plan.ts';
import { type Outputs } from '#contract/deployments/plan.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type {
  ApprovalDecider,
  AutoDriftRemediation,
  DeploymentStatus,
  DeploymentType,
  TemplateType,
  Trigger,
} from '#contract/schema/enumerations.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import type { ApprovedParts, Job } from '#protocol/messages/job.ts';
import type { RunSettings } from '#protocol/tools/run-settings.ts';

/** Whether a plan waits, as far as it is decided before there is one. */
export interface StoredApproval {
  readonly isRequired: boolean;
  readonly decidedBy: ApprovalDecider;
  /** Ids of the projects that demand the approval, that no one with the right to do so has lifted. */
  readonly demandedIn: readonly string[];
}

/** The columns of a deployment that keep what was decided before there is a plan. */
export function approvalColumns(atStart: StoredApproval) {
  return {
    requires_approval: atStart.isRequired,
    approval_decided_by: atStart.decidedBy,
    approval_at_start: JSON.stringify(atStart),
  };
}

export interface Columns {
  'deployment.approval_at_start': StoredApproval;
  'deployment.approval_decided_by': ApprovalDecider;
  'deployment.approved_parts': ApprovedParts;
  'deployment.tool': TemplateType;
  'deployment.cost_estimation': CostEstimation;
  'deployment.custom_environment_variables': CustomServiceEnvironmentVariables;
  'deployment.diagnostics': Diagnostic[];
  'deployment.drift_cause': NonNullable<Deployment['driftCause']>;
  'deployment.drift_remediation': AutoDriftRemediation;
  'deployment.error': DeploymentErrorBody;
  'deployment.facts': Record<string, string>;
  'deployment.git_metadata': GitMetadata;
  'deployment.git_user_data': GitUserData;
  'deployment.module_versions': Record<string, string>;
  'deployment.output': StoredOutputs;
  'deployment.plan': Plan;
  'deployment.level': NonNullable<Job['level']>;
  'deployment.plan_summary': PlanSummary;
  'deployment.planned_units': PlannedUnit[];
  'deployment.provider_versions': Record<string, string>;
  'deployment.remediation': NonNullable<Deployment['remediation']>;
  'deployment.resources': Resource[];
  'deployment.run_settings': RunSettings;
  'deployment.status': DeploymentStatus;
  'deployment.trigger': Trigger;
  'deployment.type': DeploymentType;
  'deployment.unrecorded_resources': UnrecordedResource[];
  'deployment.variables': DeploymentVariable[];
  'deployment.workflow_deployment_options': NonNullable<Deployment['workflowDeploymentOptions']>;
  'deployment_level.approved_parts': ApprovedParts;
  'deployment_level.plan': Plan;
  'deployment_level.plan_summary': PlanSummary;
  'deployment_level.planned_units': PlannedUnit[];
  'review.action': 'approved' | 'cancelled';
}

/** The value of a sensitive output is in `sealed_output` only, and null here. */
export type StoredOutputs = Outputs;
