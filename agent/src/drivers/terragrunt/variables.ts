/** The variables of the code, as the environment variables that terraform and OpenTofu read. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { scalarOf, withoutBeginning } from '#guards/hcl/expression.ts';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { variableTitle } from '../interface/variable-title.ts';

/** A text in which the tools evaluate nothing. */
function literal(text: string): string {
  return text.replaceAll(/[$%](?=\{)/g, (sign) => sign + sign);
}

function jsonValue(variable: JobVariable): unknown {
  try {
    return parseExactly(variable.value);
  } catch (cause) {
    throw new Error(
      variable.reference === undefined
        ? `${variableTitle(variable)}: its value is not valid JSON; correct it or clear the variable's format`
        : `${variableTitle(variable)}: the secret that it refers to is not valid JSON`,
      { cause },
    );
  }
}

/** A variable of a simple type gets the text as it is; for others, the tools evaluate it. */
function expressionText(value: string): string {
  const scalar = scalarOf(value);
  return scalar?.startsWith('"') ? String(JSON.parse(scalar)) : (scalar ?? withoutBeginning(value));
}

function textOf(variable: JobVariable): string {
  const { value, format } = variable;
  if (format === 'HCL') return expressionText(value);
  if (format !== 'JSON') return value;
  const parsed = jsonValue(variable);
  return typeof parsed === 'string' ? parsed : literal(JSON.stringify(parsed));
}

/** Of one environment string on Linux, with its name. */
const longestVariableBytes = 131_000;

/** @returns why a variable of the code cannot be passed on, without its value; null: it can */
export function inputProblem(variable: JobVariable): string | null {
  const { name, value } = variable;
  const passes = `${name}: terragrunt passes variables through the environment`;
  if (Buffer.byteLength(value) > longestVariableBytes) return `${passes}, where one holds at most 128 KiB`;
  try {
    return textOf(variable).includes('\0') ? `${passes}, which cannot hold a zero character` : null;
  } catch {
    // It is refused where it is converted.
    return null;
  }
}

/**
 * Terragrunt passes `inputs` in the same way and leaves those alone that are set already: variables of the environment
 * take precedence.
 * @throws an Error that names the variable whose value is not what its format says
 */
export function inputVariables({ variables }: Pick<Job, 'variables'>): Record<string, string> {
  return Object.fromEntries(variables.terraform.map((each) => [`TF_VAR_${each.name}`, textOf(each)]));
}
