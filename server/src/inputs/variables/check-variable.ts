/** Checks a variable before it is stored. */
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import { NotConstant } from '#guards/hcl/constant-value.ts';
import { checkHclValue } from '#guards/hcl/parse-hcl-value.ts';
import { secretReferenceOf } from '#protocol/secret-references.ts';
import { tools } from '#protocol/tools/index.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { badField, pointerTo, Refusal } from '../../ground/errors.ts';
import type { VariableRow, VariableValues } from '../../rows/variables/variable-store.ts';
import { isReference, outerRefusal, valueRefusal } from './unusable-value.ts';

/** Place of a new variable. */
export interface Surroundings {
  readonly scope: VariableScope;
  /** Hidden variables there, from the outermost to the innermost. */
  readonly hides: readonly VariableRow[];
  /** The one tool that can get it; undefined: any. */
  readonly tool: () => Promise<ToolFacts | undefined>;
}

/** Environment variables have any name that a process can be started with; others have names of their tool. */
function checkName(name: string, type: VariableType, field: string, used: readonly ToolFacts[]): void {
  const shown = JSON.stringify(name);
  if (type === 0 && /[=\p{Cc}]/u.test(name))
    throw badField(
      `${field}.name`,
      `${shown} contains "=" or a control character, which names of environment variables cannot contain`,
    );
  const refusal = type === 1 ? variableRefusal(type, name, '', used) : null;
  if (refusal !== null) throw badField(`${field}.name`, refusal);
}

/** The tools whose rules count: the one that gets it, which matters only where they differ. */
async function toolsFor(
  { type, name }: VariableValues,
  { tool }: Surroundings,
): Promise<readonly ToolFacts[]> {
  const all = Object.values(tools);
  const isRefused = type === 1 && all.some((facts) => facts.variableRefusal(type, name, '') !== null);
  const own = isRefused ? await tool() : undefined;
  return own === undefined ? all : [own];
}

/** Name of a variable in messages. */
function shownAs({ name }: Pick<VariableValues, 'name'>, scope: VariableScope): string {
  return `of "${name}" (scope ${scope})`;
}

/**
 * HCL and JSON values are read where they are written, so that the error names the field and not a run. Environment
 * variables reach tools as they are, and terragrunt evaluates expressions.
 */
async function checkFormat(
  values: VariableValues,
  { scope, tool }: Surroundings,
  field: string,
): Promise<void> {
  const format = values.schema?.format;
  if (!values.value || !format || format === 'ENVIRONMENT_OUTPUT') return;
  // Only the agent knows the value of a secret store.
  if (secretReferenceOf(values.value) !== null) return;
  try {
    if (format === 'JSON') JSON.parse(values.value);
    else {
      // Environments of any tool may be below a place that has none of its own.
      const facts = values.type === 0 ? undefined : await tool();
      await checkHclValue(values.value, facts === undefined || facts.evaluatesHcl === true);
    }
  } catch (error) {
    // The message of the parser quotes the value.
    const isShown = !values.isSensitive || error instanceof NotConstant;
    const reason = isShown ? `: ${(error as Error).message}` : '';
    throw new Refusal(
      'unprocessable',
      `${pointerTo(field)}/value ${shownAs(values, scope)} is not valid ${format}${reason}`,
    );
  }
}

function checkRegex(values: VariableValues, scope: VariableScope, field: string): void {
  if (!values.regex) return;
  try {
    new RegExp(values.regex);
  } catch (error) {
    throw badField(
      `${field}.regex`,
      `${shownAs(values, scope)} is not a valid regular expression: ${(error as Error).message}`,
    );
  }
}

function checkSchema(values: VariableValues, scope: VariableScope, field: string): void {
  const allowed = values.schema?.enum;
  if (!allowed || allowed.length === 0) return;
  if (values.isSensitive)
    throw badField(
      `${field}.isSensitive`,
      `${shownAs(values, scope)} must be false: everybody can read the choices of its enum`,
    );
  if (values.schema?.format)
    throw badField(`${field}.schema`, `${shownAs(values, scope)} has both enum and format: leave one out`);
}

/** An empty value is checked when it is used: clients write definitions before values. */
async function checkValue(
  values: VariableValues,
  { scope, hides }: Surroundings,
  field: string,
): Promise<void> {
  if (!values.value || isReference(values)) return;
  const refusal = (await valueRefusal(values, values.value)) ?? (await outerRefusal(hides, values.value));
  if (refusal) throw badField(`${field}.value`, `${shownAs(values, scope)} ${refusal}`);
}

/** It could never get a value below. */
function checkRequired(values: VariableValues, scope: VariableScope, field: string): void {
  if (values.isReadonly && values.isRequired && !values.value)
    throw badField(
      `${field}.value`,
      `${shownAs(values, scope)} must not be empty: it is required and read-only`,
    );
}

/**
 * @param field location of the variable in the request, as `body.configurationChanges.0`
 * @throws Refusal 400 that names the field, or 422 for HCL or JSON that no run can use
 */
export async function checkVariable(
  values: VariableValues,
  surroundings: Surroundings,
  field: string,
): Promise<void> {
  const { scope } = surroundings;
  const used = await toolsFor(values, surroundings);
  checkName(values.name, values.type, field, used);
  if (values.type === 0 && values.value?.includes('\0'))
    throw badField(
      `${field}.value`,
      `${shownAs(values, scope)} has a NUL character, which environment variables cannot contain`,
    );
  const refusal = variableRefusal(values.type, values.name, values.value ?? '', used);
  if (refusal) throw badField(field, refusal);
  if ((values.description ?? '').length > 255)
    throw badField(`${field}.description`, `${shownAs(values, scope)} must have at most 255 characters`);
  checkRegex(values, scope, field);
  checkSchema(values, scope, field);
  checkRequired(values, scope, field);
  await checkValue(values, surroundings, field);
  await checkFormat(values, surroundings, field);
}
