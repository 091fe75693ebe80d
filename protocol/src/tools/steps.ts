/**
 * The steps of a deployment, by tool and type of deployment: all are created up front, so that a reader knows
 * what will come. Drivers run their commands in these steps. Names are unique within a deployment (clients
 * look a step up by its name).
 */
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { ToolFacts } from './tool.ts';

/** Source of the code: a repository, or a person's upload. */
export function sourceStep(type: DeploymentType): string {
  return type === 'remotePlan' ? 'source:unpack' : 'git:clone';
}

/** The step that finds the tool and writes the files of variables. */
export const variablesStep = 'variables:setup';
/** The step that brings the approved tree back. */
export const restoreStep = 'apply:prepare';
/** The step that keeps a state that is ours; only tools with a state have it. */
export const storeStateStep = 'state:store';
/** The step that estimates the costs of a plan. */
export const costStep = 'cost:estimation';
/** The step in which the service evaluates the approval policies of a plan. */
export const policyStep = 'policy:check';

/** Steps that only some deployments have. */
export interface ExtraSteps {
  /** Costs are estimated; only of types whose plan shows what the code would change. */
  readonly estimatesCosts?: boolean;
  /** Approval policies are assigned. */
  readonly hasPolicies?: boolean;
}

/** Types of deployment whose costs can be estimated. */
export const estimatedTypes: readonly DeploymentType[] = [
  'deploy',
  'destroy',
  'prPlan',
  'dryRun',
  'remotePlan',
];

/** Types of deployment that approval policies decide about. */
export const policyCheckedTypes: readonly DeploymentType[] = ['deploy', 'destroy'];

/** Deployment types that this version can run. */
export const runnableDeploymentTypes = [
  'deploy',
  'destroy',
  'prPlan',
  'driftDetection',
  'dryRun',
  'task',
  'remotePlan',
] as const satisfies readonly DeploymentType[];
export type RunnableDeploymentType = (typeof runnableDeploymentTypes)[number];

/** Types of deployment that end after their plan: nothing is ever applied. */
export const planOnlyTypes: readonly DeploymentType[] = ['prPlan', 'driftDetection', 'dryRun', 'remotePlan'];

/** The ordered step names of a deployment with a tool. */
export function stepsOf(
  { steps, state }: ToolFacts,
  type: DeploymentType,
  { estimatesCosts = false, hasPolicies = false }: ExtraSteps = {},
): string[] {
  const stored = state === null ? [] : [storeStateStep];
  const prepared = [sourceStep(type), variablesStep, ...steps.prepare];
  if (type === 'task') return [...prepared, 'task:run', ...stored];
  const planned = [...prepared, steps.plan, ...(estimatesCosts ? [costStep] : [])];
  const checked = hasPolicies ? [policyStep] : [];
  const approved = [...planned, ...checked, 'approval:wait', restoreStep];
  const outputs = steps.outputs === null ? [] : [steps.outputs];
  if (type === 'deploy') return [...approved, steps.apply, ...outputs, ...stored];
  if (type === 'destroy') return [...approved, steps.destroy, ...stored];
  return planned;
}
