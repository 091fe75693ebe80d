/** The page about the catalogue of approval policies. */
import type { CataloguePolicy } from '#contract/approval-policies/catalogue.ts';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { catalogue } from '../../server/src/rules/approval-policies/evaluation/catalogue.ts';

interface Property {
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
}

function settingsOf({ configurationSchema }: CataloguePolicy): string[] {
  const { properties = {}, required = [] } = (configurationSchema ?? {}) as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description = '', default: otherwise }]) => {
    const need = required.includes(name)
      ? 'required'
      : `default \`${JSON.stringify(otherwise) ?? 'built in'}\``;
    return `| \`${name}\` | ${need} | ${description.replaceAll('|', '\\|')} |`;
  });
}

function sectionOf(policy: CataloguePolicy): string {
  const { path, name, description, explanation, categories, tags, cloudProvider } = policy;
  const settings = settingsOf(policy);
  return [
    `### ${name}`,
    `\`${path}\` · ${categories.join(', ')} · ${cloudProvider === 'any' ? 'any cloud' : cloudProvider} · ${tags.join(', ')}`,
    `${description} ${explanation}`,
    ...(settings.length > 0 ? [['| Setting | | |', '|---|---|---|', ...settings].join('\n')] : []),
  ].join('\n\n');
}

const introduction = `# Catalogue of approval policies

These approval policies come with Envarium, in the folder [policies](../../policies) of its repository. No repository of yours is needed:
the address of the catalogue is \`${catalogueRepository}\`, and the path is the policy's folder.

\`\`\`sh
envarium approval-policies create "No public buckets" --catalogue deny-public-s3-buckets
envarium approval-policies assign "No public buckets" --project shop
\`\`\`

In the web interface: *Approval policies*, then *Catalogue*. To change a policy, copy its code into a repository of yours and name that one:
the file of its folder and, unless it has a rule of its own that allows, [plan.rego](../../policies/plan.rego) next to it.

All of them decide in the same way, about what a deployment creates, changes or replaces. Unchanged and deleted resources are not
checked.

| | When | Then |
|---|---|---|
| \`deny\` | something is against the policy | the deployment is cancelled; the messages name the resource and what to change |
| \`pending\` | the plan does not tell, because a value is known after the deployment only or is secret, or a protection is removed | a person has to approve |
| \`allow\` | nothing is against it, or a person has approved what was open | **the deployment is applied without approval**, also where the environment requires it |

With \`requireApproval\` in its configuration a policy asks for a person's approval of each plan that it has nothing against. The policies read
plans of OpenTofu, Terraform and Terragrunt; plans of other tools are left to a person. A value that the plan hides never counts as compliant.

## Policies`;

/** docs/use/policy-catalogue.md. */
export function cataloguePage(): string {
  return [introduction, ...catalogue().map(sectionOf)].join('\n\n');
}
