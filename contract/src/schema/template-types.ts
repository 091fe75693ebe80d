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

/** Kinds of templates that people create: tools, and workflows of several environments. */
export const creatableTemplateTypes = [...templateTypes, 'workflow'] as const;
export type CreatableTemplateType = (typeof creatableTemplateTypes)[number];

/** Entities that are stored as templates, assigned to places, and have their own operations. */
export const assignedTemplateTypes = ['approval-policy', 'custom-flow'] as const;
export type AssignedTemplateType = (typeof assignedTemplateTypes)[number];

/** Entities that are stored as templates: these, and those with their own operations. */
export const storedTemplateTypes = [
  ...creatableTemplateTypes,
  'module',
  ...assignedTemplateTypes,
  'environment-discovery',
] as const;
export type StoredTemplateType = (typeof storedTemplateTypes)[number];
