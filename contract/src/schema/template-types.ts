/** The tools of the interface; apart, so that the command line lists them without loading schemas. */
export const templateTypes = [
  'opentofu',
  'terraform',
  'terragrunt',
  'pulumi',
  'k8s',
  'cloudformation',
  'helm',
  'ansible',
] as const;
export type TemplateType = (typeof templateTypes)[number];
