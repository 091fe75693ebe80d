/** Words of people for names on the wire. */
import type { AutoDriftRemediation, DeploymentType, Trigger } from '#contract/schema/enumerations.ts';
import type { StoredTemplateType } from '#contract/schema/template-types.ts';

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

/** Causes of a deployment. */
export const triggerWords: Readonly<Record<Trigger, string>> = {
  user: 'on request',
  'terraform-cli': 'from the command line of the tool',
  workflow: 'after the deployment of another environment',
  cd: 'because of a push',
  prPlan: 'because of a pull request',
  driftDetection: 'by the schedule of drift checks',
  ttl: 'because its lifetime ended',
  scheduled: 'by its schedule',
  comment: 'by a comment',
  import: 'by an import',
  driftRemediation: 'to repair drift',
};

const toolNames: Partial<Readonly<Record<StoredTemplateType, string>>> = {
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

/** @returns the name of a tool, or of another type of templates; the type itself where it has no name here */
export function toolName(type: StoredTemplateType): string {
  return toolNames[type] ?? type;
}

/** Reactions to a drift check that finds drift. */
export const remediationWords: Readonly<Record<AutoDriftRemediation, string>> = {
  DISABLED: 'Nothing: a person decides',
  CODE_TO_CLOUD: 'Deploy the newest code',
  CLOUD_TO_CODE: 'Open a pull request (not possible yet)',
  SMART_REMEDIATION: 'A pull request or a deployment (not possible yet)',
};

/** Those that have an effect, and the one that is stored. */
export function remediationChoices(stored: AutoDriftRemediation): { value: string; label: string }[] {
  return Object.entries(remediationWords)
    .filter(([value]) => value === 'DISABLED' || value === 'CODE_TO_CLOUD' || value === stored)
    .map(([value, label]) => ({ value, label }));
}
