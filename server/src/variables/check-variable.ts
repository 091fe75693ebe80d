/** Checks a variable before it is stored. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { checkHclValue } from '#guards/hcl/parse-hcl-value.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { badField, Refusal } from '../http/errors.ts';
import { valueRefusal } from './unusable-value.ts';
import type { VariableValues } from './variable-store.ts';

/** Environment variables have any name that a process can be started with; others have names of their tool. */
function checkName(name: string, type: VariableType, field: string): void {
  const shown = JSON.stringify(name);
  if (type === 0 && /[=\p{Cc}]/u.test(name))
    throw badField(
      `${field}.name`,
      `${shown} contains "=" or a control character, which names of environment variables cannot contain`,
    );
  const refusal = type === 1 ? variableRefusal(type, name, '') : null;
  if (refusal !== null) throw badField(`${field}.name`, refusal);
}

/** HCL and JSON values are read where they are written, so that the error names the field and not a run. */
async function checkFormat(values: VariableValues, field: string): Promise<void> {
  const format = values.schema?.format;
  if (!values.value || !format || format === 'ENVIRONMENT_OUTPUT') return;
  try {
    if (format === 'JSON') JSON.parse(values.value);
    else await checkHclValue(values.value);
  } catch (error) {
    throw new Refusal(
      'unprocessable',
      `/${field.replaceAll('.', '/')}/value of "${values.name}" is not valid ${format}: ${(error as Error).message}`,
    );
  }
}

function checkRegex(values: VariableValues, field: string): void {
  if (!values.regex) return;
  try {
    new RegExp(values.regex);
  } catch (error) {
    throw badField(
      `${field}.regex`,
      `of "${values.name}" is not a valid regular expression: ${(error as Error).message}`,
    );
  }
}

function checkSchema(values: VariableValues, field: string): void {
  const allowed = values.schema?.enum;
  if (!allowed || allowed.length === 0) return;
  if (values.schema?.format)
    throw badField(`${field}.schema`, `of "${values.name}" has both enum and format: leave one out`);
}

/** An empty value is checked when it is used: clients write definitions before values. */
function checkValue(values: VariableValues, field: string): void {
  const refusal = values.value ? valueRefusal(values, values.value) : null;
  if (refusal) throw badField(`${field}.value`, `of "${values.name}" ${refusal}`);
}

/**
 * @param field location of the variable in the request, as `body.configurationChanges.0`
 * @throws Refusal 400 that names the field, or 422 for HCL or JSON that does not parse
 */
export async function checkVariable(values: VariableValues, field: string): Promise<void> {
  checkName(values.name, values.type, field);
  if (values.type === 0 && values.value?.includes('\0'))
    throw badField(
      `${field}.value`,
      `of "${values.name}" has a NUL character, which environment variables cannot contain`,
    );
  const refusal = variableRefusal(values.type, values.name, values.value ?? '');
  if (refusal) throw badField(field, refusal);
  if ((values.description ?? '').length > 255)
    throw badField(`${field}.description`, 'must have at most 255 characters');
  checkRegex(values, field);
  checkSchema(values, field);
  checkValue(values, field);
  await checkFormat(values, field);
}
