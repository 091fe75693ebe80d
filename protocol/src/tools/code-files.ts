/** Files that environments are discovered by, for the types of code that discovery makes environments of. */
import type { CreatableTemplateType } from '#contract/schema/template-types.ts';

export interface CodeFiles {
  /** Paths of files with code. */
  readonly paths: RegExp;
  /** The file that most folders with such code have. */
  readonly usual: string;
}

const blocks = { paths: /\.(?:tf|tofu)(?:\.json)?$/, usual: 'main.tf' };

export const codeFiles = {
  opentofu: blocks,
  terraform: { ...blocks, paths: /\.tf(?:\.json)?$/ },
  terragrunt: { paths: /(?:^|\/)terragrunt\.hcl$/, usual: 'terragrunt.hcl' },
  workflow: { paths: /(?:^|\/)envarium\.workflow\.ya?ml$/, usual: 'envarium.workflow.yml' },
} as const satisfies Readonly<Partial<Record<CreatableTemplateType, CodeFiles>>>;

/** Types of code that discovery makes environments of. */
export type DiscoveredType = keyof typeof codeFiles;

/** Folders of the tools with copies of other code, as part of a path. */
export const copiesFolder = /(?:^|\/)(\.terraform|\.terragrunt-cache)\//;
