/**
 * Places where the code of each tool declares its variables, and the names under which runs of the tool read
 * them.
 */
import type { TemplateType } from '#contract/schema/template-types.ts';

/** Form of the declarations of variables in a tool's code. */
export type DeclaredVariables =
  /** Blocks in HCL or JSON files of the folder. */
  | { readonly form: 'blocks'; readonly files: RegExp; readonly preferred?: string }
  /** Values of a chart, with a schema. */
  | { readonly form: 'chart values'; readonly prefix: string }
  /** Parameters of a stack's template: of the named file, or the first of these. */
  | { readonly form: 'stack parameters'; readonly prefix: string; readonly files: readonly string[] }
  /** Configuration of a project. */
  | { readonly form: 'project configuration'; readonly files: readonly string[] }
  /** Defaults of a role, and variables of all hosts. */
  | { readonly form: 'role defaults'; readonly prefix: string };

const blocks = { form: 'blocks', files: /\.(tf|tofu)(\.json)?$/, preferred: 'tofu' } as const;

/** Types without an entry have no variables of their own. */
export const declaredVariables: Readonly<Partial<Record<TemplateType, DeclaredVariables>>> = {
  opentofu: blocks,
  terraform: { form: 'blocks', files: /\.tf(\.json)?$/ },
  terragrunt: blocks,
  helm: { form: 'chart values', prefix: 'ENVARIUM_HELM_SET_' },
  cloudformation: {
    form: 'stack parameters',
    prefix: 'ENVARIUM_CF_PARAM_',
    files: ['template.yaml', 'template.yml', 'template.json'],
  },
  pulumi: { form: 'project configuration', files: ['Pulumi.yaml', 'Pulumi.yml'] },
  ansible: { form: 'role defaults', prefix: 'ANSIBLE_VAR_' },
};

/** Default tool for code whose tool is not specified. */
export const usualType: TemplateType = 'opentofu';
