import type { Job, JobVariable } from '#protocol/messages/job.ts';
import type { FileToWrite } from '../driver.ts';
import { constantsOfHcl } from './hcl.ts';

/**
 * Terraform loads all `*.auto.tfvars` and `*.auto.tfvars.json` in the order of their names: later ones take
 * precedence.
 */
export const variablesFileName = 'envarium.auto.tfvars.json';

function jsonText(variable: JobVariable): string {
  try {
    JSON.parse(variable.value);
  } catch {
    throw new Error(
      `${variable.name}: its value is not valid JSON; correct it or clear the variable's format`,
    );
  }
  return variable.value;
}

/**
 * The file with the terraform variables. Terraform reads strings in it literally, including `${` and `%{`
 * (tested with 1.11.4), and JSON values are written unchanged, so that no digit is lost.
 * @returns null if there are no variables
 * @throws an Error that names the variable whose value does not match its format
 */
export async function variablesFile(job: Pick<Job, 'variables'>): Promise<FileToWrite | null> {
  const variables = job.variables.terraform;
  if (variables.length === 0) return null;
  const hcl = variables.filter((variable) => variable.format === 'HCL');
  const constants = await constantsOfHcl(hcl.map(({ name, value }) => ({ name, text: value })));
  const texts = new Map<string, string>();
  for (const variable of variables) {
    if (variable.format === 'HCL') texts.set(variable.name, JSON.stringify(constants[hcl.indexOf(variable)]));
    else
      texts.set(
        variable.name,
        variable.format === 'JSON' ? jsonText(variable) : JSON.stringify(variable.value),
      );
  }
  const lines = [...texts].map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`);
  return { name: variablesFileName, content: `{\n${lines.join(',\n')}\n}\n`, isSecret: true };
}
