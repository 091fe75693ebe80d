/** Secrets inside sensitive values that are structured: tools print the parts of such a value separately. */
import { isConstantTemplate, unescapeTemplate } from '#guards/hcl/constant-template.ts';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { readableBodies } from '../drivers/terraform/code/hcl.ts';
import { innerTexts } from '../logs/secret-forms.ts';

/** Whether a tool reads the value as HCL. Terraform does so with environment variables for lists and objects. */
function isHcl({ format, name, value }: JobVariable, isEnvironment: boolean): boolean {
  return isEnvironment ? name.startsWith('TF_VAR_') && /^\s*[[{]/.test(value) : format === 'HCL';
}

/**
 * The texts in HCL values, also next to expressions, which terragrunt passes on; masking finds those in JSON on its
 * own. A value that cannot be read ends the run before a tool gets it.
 */
export async function innerSecrets({ environment, terraform }: Job['variables']): Promise<string[]> {
  const values = [
    ...environment.filter((each) => each.isSensitive && isHcl(each, true)),
    ...terraform.filter((each) => each.isSensitive && isHcl(each, false)),
  ].map(({ value }) => value);
  const withTexts = values.filter((value) => /"|<</.test(value));
  const texts = (await readableBodies(withTexts)).flatMap(innerTexts);
  return texts.filter(isConstantTemplate).map(unescapeTemplate);
}
