/** The variables of the code, as the environment variables that terraform and OpenTofu read. */
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { variableTitle } from '../variable-title.ts';

/** A text in which the tools evaluate nothing. */
function literal(text: string): string {
  return text.replaceAll(/[$%](?=\{)/g, (sign) => sign + sign);
}

function jsonValue(variable: JobVariable): unknown {
  try {
    return JSON.parse(variable.value);
  } catch (cause) {
    throw new Error(
      variable.reference === undefined
        ? `${variableTitle(variable)}: its value is not valid JSON; correct it or clear the variable's format`
        : `${variableTitle(variable)}: the secret that it refers to is not valid JSON`,
      { cause },
    );
  }
}

function textOf(variable: JobVariable): string {
  const { value, format } = variable;
  if (format === 'HCL') return /^"(?:[^"\\$%]|\\.)*"$/.test(value.trim()) ? String(JSON.parse(value)) : value;
  if (format !== 'JSON') return value;
  const parsed = jsonValue(variable);
  return typeof parsed === 'string' ? parsed : literal(JSON.stringify(parsed));
}

/**
 * Terragrunt passes `inputs` in the same way and leaves those alone that are set already: variables of the environment
 * take precedence.
 * @throws an Error that names the variable whose value is not what its format says
 */
export function inputVariables({ variables }: Pick<Job, 'variables'>): Record<string, string> {
  return Object.fromEntries(variables.terraform.map((each) => [`TF_VAR_${each.name}`, textOf(each)]));
}
