/**
 * The steps of a deployment, by tool and type of deployment: all are created up front, so that a reader knows
 * what will come. A driver's command labels are these names. Names are unique within a deployment (clients
 * look a step up by its name).
 */
import type { DeploymentType, TemplateType } from '#contract/schema/enumerations.ts';

/** Where the code comes from: a repository, or what a person uploaded. */
export function sourceStep(type: DeploymentType): string {
  return type === 'remotePlan' ? 'source:unpack' : 'git:clone';
}

/** Steps of the terraform family, with its prefix (`tf`, `opentofu`). */
function terraformSteps(prefix: string, type: DeploymentType): string[] {
  const prepared = [sourceStep(type), 'variables:setup', `${prefix}:init`, `${prefix}:workspace`];
  if (type === 'task') return [...prepared, 'task:run', 'state:store'];
  const planned = [...prepared, `${prefix}:plan`];
  if (type === 'deploy')
    return [
      ...planned,
      'approval:wait',
      'apply:prepare',
      `${prefix}:apply`,
      `${prefix}:output`,
      'state:store',
    ];
  if (type === 'destroy')
    return [...planned, 'approval:wait', 'apply:prepare', `${prefix}:destroy`, 'state:store'];
  return planned;
}

/** Tools that this version can run. */
export const runnableTools = ['terraform', 'opentofu'] as const satisfies readonly TemplateType[];
export type RunnableTool = (typeof runnableTools)[number];

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

/**
 * The ordered step names of a deployment.
 * @param tool what runs it; only tools of `runnableTools` have steps today
 * @param type the deployment's type
 */
export function deploymentSteps(tool: RunnableTool, type: DeploymentType): string[] {
  switch (tool) {
    case 'terraform':
      return terraformSteps('tf', type);
    case 'opentofu':
      return terraformSteps('opentofu', type);
  }
}
