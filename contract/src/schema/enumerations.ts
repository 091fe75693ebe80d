/**
 * The closed lists of the interface, once. Source: the interface specification and its appendix of unshown
 * shapes.
 */
import { Type } from 'typebox';

/** A schema of a closed list of strings, written in JSON Schema as `enum`. */
export function oneOf<const Values extends readonly string[]>(values: Values, description?: string) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    enum: [...values],
    ...(description ? { description } : {}),
  });
}

export { type Right, rights } from './rights.ts';
export {
  type AssignedTemplateType,
  assignedTemplateTypes,
  type CreatableTemplateType,
  creatableTemplateTypes,
  type StoredTemplateType,
  storedTemplateTypes,
  type TemplateType,
  templateTypes,
} from './template-types.ts';

export const terragruntTfBinaries = ['terraform', 'opentofu'] as const;

export const deploymentTypes = [
  'deploy',
  'destroy',
  'prPlan',
  'driftDetection',
  'task',
  'remotePlan',
  'dryRun',
  'moduleTest',
] as const;
export type DeploymentType = (typeof deploymentTypes)[number];

/** Types that the deploy operation accepts: destroy has its own operation. */
export const startableDeploymentTypes = [
  'deploy',
  'prPlan',
  'driftDetection',
  'task',
  'remotePlan',
  'dryRun',
  'moduleTest',
] as const;

export const deploymentStatuses = [
  'IN_PROGRESS',
  'WAITING_FOR_USER',
  'TIMEOUT',
  'FAILURE',
  'SUCCESS',
  'CANCELLED',
  'INTERNAL_FAILURE',
  'ABORTING',
  'ABORTED',
  'QUEUED',
  'SKIPPED',
  'NEVER_DEPLOYED',
] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];

export const environmentStatuses = [
  'CREATED',
  'INACTIVE',
  'ACTIVE',
  'FAILED',
  'TIMEOUT',
  'WAITING_FOR_USER',
  'DEPLOY_IN_PROGRESS',
  'DESTROY_IN_PROGRESS',
  'TASK_IN_PROGRESS',
  'ABORTING',
  'ABORTED',
  'NEVER_DEPLOYED',
  'DRIFTED',
  'DRY_RUN_IN_PROGRESS',
] as const;
export type EnvironmentStatus = (typeof environmentStatuses)[number];

export const driftStatuses = ['ERROR', 'DRIFTED', 'OK', 'NEVER_RUN', 'DISABLED'] as const;
export type DriftStatus = (typeof driftStatuses)[number];

export const eventsScanStatuses = [
  'CAN_RUN',
  'FAILING',
  'RUNNING',
  'NO_SCAN_NEEDED',
  'NOT_CONFIGURED',
] as const;

export const stepStatuses = [
  'NOT_STARTED',
  'IN_PROGRESS',
  'WAITING_FOR_USER',
  'TIMEOUT',
  'FAIL',
  'SUCCESS',
  'CANCELLED',
  'SKIPPED',
  'WARNING',
] as const;
export type StepStatus = (typeof stepStatuses)[number];

export const variableScopes = [
  'SET',
  'GLOBAL',
  'BLUEPRINT',
  'SUB_ENVIRONMENT_BLUEPRINT',
  'PROJECT',
  'WORKFLOW',
  'ENVIRONMENT',
  'DEPLOYMENT',
] as const;
export type VariableScope = (typeof variableScopes)[number];

/** 0 = environment variable, 1 = terraform variable. */
export const variableTypes = [0, 1] as const;
export type VariableType = (typeof variableTypes)[number];

export const variableFormats = ['HCL', 'JSON', 'ENVIRONMENT_OUTPUT'] as const;
export type VariableFormat = (typeof variableFormats)[number];

/**
 * Values of `triggerName` in requests and replies; the full cause of a deployment is
 * `trigger`.
 */
export const triggerNames = ['user', 'terraform-cli', 'workflow'] as const;

export const triggers = [
  'user',
  'terraform-cli',
  'workflow',
  'cd',
  'prPlan',
  'driftDetection',
  'ttl',
  'scheduled',
  'comment',
  'import',
  'driftRemediation',
] as const;
export type Trigger = (typeof triggers)[number];

export const autoDriftRemediations = [
  'DISABLED',
  'CODE_TO_CLOUD',
  'CLOUD_TO_CODE',
  'SMART_REMEDIATION',
] as const;
export type AutoDriftRemediation = (typeof autoDriftRemediations)[number];

/** Those that open pull requests. */
export const forgeRemediations = [
  'CLOUD_TO_CODE',
  'SMART_REMEDIATION',
] as const satisfies AutoDriftRemediation[];

/** Reasons why a plan waits for approval, from the strongest. */
export const approvalDeciders = [
  'planner',
  'variable',
  'policy',
  'project',
  'request',
  'environment',
] as const;
export type ApprovalDecider = (typeof approvalDeciders)[number];

export const reviewActions = ['approved', 'cancelled'] as const;
