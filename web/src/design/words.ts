/** What people call what the wire has names for. */
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { CreatableTemplateType } from '#contract/schema/template-types.ts';

export const deploymentTypeWords: Readonly<Record<DeploymentType, string>> = {
  deploy: 'Deploy',
  destroy: 'Destroy',
  prPlan: 'Plan of a pull request',
  driftDetection: 'Drift check',
  task: 'Task',
  remotePlan: 'Remote plan',
  dryRun: 'Plan',
  moduleTest: 'Module test',
};

export const templateTypeWords: Readonly<Record<CreatableTemplateType, string>> = {
  opentofu: 'OpenTofu',
  terraform: 'Terraform',
  terragrunt: 'Terragrunt',
  pulumi: 'Pulumi',
  k8s: 'Kubernetes',
  cloudformation: 'CloudFormation',
  helm: 'Helm',
  ansible: 'Ansible',
  workflow: 'Workflow',
};
