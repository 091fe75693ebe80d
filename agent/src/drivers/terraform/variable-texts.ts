/** The values of a tool's own variables as JSON. */
import type { JobVariable } from '#protocol/messages/job.ts';
import { variableTitle } from '../interface/variable-title.ts';
import { constantsOfHcl } from './code/hcl.ts';

function jsonText(variable: JobVariable): string {
  try {
    JSON.parse(variable.value);
  } catch {
    throw new Error(
      variable.reference === undefined
        ? `${variableTitle(variable)}: its value is not valid JSON; correct it or clear the variable's format`
        : `${variableTitle(variable)}: the secret that it refers to is not valid JSON`,
    );
  }
  return variable.value;
}

/**
 * JSON texts of values by the names of their variables, in the order of the variables: HCL converted, JSON as it was
 * written, so that no digit is lost, and text as a string.
 * @throws an Error that names the variable whose value does not match its format
 */
export async function variableTexts(variables: readonly JobVariable[]): Promise<Map<string, string>> {
  const hcl = variables.filter((variable) => variable.format === 'HCL');
  const constants = await constantsOfHcl(
    hcl.map((variable) => ({
      name: variableTitle(variable),
      text: variable.value,
      isSecret: variable.reference !== undefined,
    })),
  );
  const texts = new Map<string, string>();
  for (const variable of variables) {
    if (variable.format === 'HCL') texts.set(variable.name, JSON.stringify(constants[hcl.indexOf(variable)]));
    else
      texts.set(
        variable.name,
        variable.format === 'JSON' ? jsonText(variable) : JSON.stringify(variable.value),
      );
  }
  return texts;
}
