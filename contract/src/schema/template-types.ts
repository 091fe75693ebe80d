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

/** What people create templates of: tools, and workflows of several environments. */
export const creatableTemplateTypes = [...templateTypes, 'workflow'] as const;
export type CreatableTemplateType = (typeof creatableTemplateTypes)[number];

/** What is stored as a template, is assigned to places, and has operations of its own. */
export const assignedTemplateTypes = ['approval-policy', 'custom-flow'] as const;
export type AssignedTemplateType = (typeof assignedTemplateTypes)[number];

/** What is stored as a template: these, and what has operations of its own. */
export const storedTemplateTypes = [
  ...creatableTemplateTypes,
  'module',
  ...assignedTemplateTypes,
  'environment-discovery',
] as const;
export type StoredTemplateType = (typeof storedTemplateTypes)[number];
