/** Commands of a deployment of each tool, in words for the preview. */
import type { CreatableTemplateType } from '#contract/schema/template-types.ts';
import { toolName } from '../../../design/words.ts';

export interface ToolWords {
  /** Commands that find out what would change. */
  readonly plan: readonly string[];
  /** Effect of applying the plan. */
  readonly apply: string;
  /** Completes "The approval covers …". */
  readonly covers: string;
}

const family = (command: string): ToolWords => ({
  plan: [`${command} init`, `${command} plan`],
  apply: `${command} apply carries out exactly this plan`,
  covers: 'the saved plan',
});

const words: Partial<Readonly<Record<CreatableTemplateType, ToolWords>>> = {
  terraform: family('terraform'),
  opentofu: family('tofu'),
  terragrunt: {
    plan: ['terragrunt find', 'terragrunt run -- plan, which initializes each unit'],
    apply: 'terragrunt run -- apply carries out the saved plans in the order of the units',
    covers: 'the saved plans of all units',
  },
  pulumi: {
    plan: ['pulumi preview --refresh --save-plan'],
    apply: 'pulumi up previews again, compares, and does nothing beyond the approved preview',
    covers: 'the operations and inputs of the preview',
  },
  k8s: {
    plan: ['kubectl kustomize', 'kubectl diff --server-side, a dry run on the cluster'],
    apply: 'kubectl apply --server-side sends the approved manifests and waits for their rollout',
    covers: 'exactly these manifests and deletions',
  },
  helm: {
    plan: ['helm upgrade --install --dry-run=server', 'kubectl diff of what it renders'],
    apply: 'helm upgrade --install --atomic, unless the chart now renders something else',
    covers: 'the chart, the values and the rendered manifests',
  },
  cloudformation: {
    plan: ['the template is validated by AWS', 'a change set is created'],
    apply: 'the change set is executed as AWS keeps it',
    covers: 'the change set',
  },
  ansible: {
    plan: ['ansible-galaxy install of the requirements', 'ansible-playbook --check --diff'],
    apply: 'ansible-playbook runs and looks at the hosts again',
    covers: 'the commit, the variables, the version, the installed roles and collections',
  },
};

/** Words for tools that have none of their own here. */
const generalWords = (type: CreatableTemplateType): ToolWords => ({
  plan: [`${toolName(type)} shows what would change`],
  apply: `${toolName(type)} applies the changes`,
  covers: 'the plan',
});

/** @returns undefined for workflows, which this version does not run */
export function toolWords(type: CreatableTemplateType): ToolWords | undefined {
  return type === 'workflow' ? undefined : (words[type] ?? generalWords(type));
}
