/**
 * References to outputs of other environments, in both forms that clients write. They are stored and shown as they
 * were written; what they refer to is looked up right before a run.
 */
import type { VariableScope } from '#contract/schema/enumerations.ts';
import { badField, pointerTo, Refusal } from '../../ground/errors.ts';
import type { VariableValues } from '../../rows/variables/variable-store.ts';
import { approvalVariableName } from './approval-variable.ts';
import { isReference } from './unusable-value.ts';

/** `environmentId` is any text: clients store ids of environments that do not exist. */
export type OutputReference =
  | { readonly environmentId: string; readonly outputName: string }
  | { readonly subEnvironmentAlias: string; readonly outputName: string };

const textForm = /^\$\{envarium:([^:{}]+):([^{}]+)\}$/;

const bothForms =
  '{"environmentId": "…", "outputName": "…"}, the same with subEnvironmentAlias, or ${envarium:<environmentId>:<outputName>}';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Reads the value of a variable. @returns null for a text that is not a reference */
export function parseOutputReference(value: string): OutputReference | null {
  const text = value.trim();
  const [, id, output] = textForm.exec(text) ?? [];
  if (id !== undefined && output !== undefined) return { environmentId: id, outputName: output };
  const fields = parsed(text) as Readonly<Record<string, unknown>> | null;
  if (typeof fields !== 'object' || fields === null) return null;
  const { environmentId, subEnvironmentAlias, outputName } = fields;
  if (!isText(outputName)) return null;
  if (isText(environmentId)) return { environmentId, outputName };
  return isText(subEnvironmentAlias) ? { subEnvironmentAlias, outputName } : null;
}

const allowedScopes: readonly VariableScope[] = ['PROJECT', 'ENVIRONMENT', 'WORKFLOW', 'DEPLOYMENT'];

/**
 * Checks a variable that refers to an output before it is stored; others pass.
 * @param field location of the variable in the request, as `body.configurationChanges.0`
 * @throws Refusal 400 that names the field, or 422 for another value
 */
export function checkOutputReference(values: VariableValues, scope: VariableScope, field: string): void {
  if (!isReference(values)) return;
  const of = `of "${values.name}" (scope ${scope})`;
  if (!allowedScopes.includes(scope))
    throw badField(
      `${field}.schema.format`,
      `${of} is ENVIRONMENT_OUTPUT, which variables have only in the scopes ${allowedScopes.join(', ')}`,
    );
  if (values.isReadonly && scope !== 'PROJECT')
    throw badField(
      `${field}.isReadonly`,
      `${of}: a reference to an output can be read-only only in scope PROJECT`,
    );
  if (values.type === 0 && values.name === approvalVariableName)
    throw badField(
      `${field}.schema.format`,
      `${of} is ENVIRONMENT_OUTPUT: whether a run requires approval must be known before it starts`,
    );
  if (values.value && parseOutputReference(values.value) === null)
    throw new Refusal(
      'unprocessable',
      `${pointerTo(field)}/value ${of} is not a reference to an output: send ${bothForms}`,
    );
}
