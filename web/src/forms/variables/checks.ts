/** Problems of a row of the variables' form before it is sent, and the field that fits its value. Pure. */
import { changesOf, isChanged, mask, type VariableFormRow } from './rows.ts';

export type VariableFieldKind =
  | 'sensitive'
  | 'choice'
  | 'switch'
  | 'flag'
  | 'json'
  | 'hcl'
  | 'composite'
  | 'output'
  | 'number'
  | 'text';

const composite = /^(list|set|map|object|tuple)\(|^(list|map|array|object)$/;

/** A switch has two places: it cannot show that there is no value. */
function kindOfType(valueType: string, value: string): VariableFieldKind {
  if (/^(bool|boolean)$/.test(valueType)) return /^(true|false)$/.test(value) ? 'switch' : 'flag';
  if (/^(number|integer)$/.test(valueType)) return 'number';
  return composite.test(valueType) ? 'composite' : 'text';
}

/** The field in which people enter a value. */
export function fieldKindOf(row: VariableFormRow): VariableFieldKind {
  const { format, choices, isSensitive, isText, before, type, valueType } = row;
  if (isSensitive) return 'sensitive';
  if (choices.length > 0) return 'choice';
  if (format === 'JSON') return 'json';
  if (format === 'HCL') return 'hcl';
  if (format === 'ENVIRONMENT_OUTPUT') return 'output';
  if (isText || type === 0) return 'text';
  if (valueType !== undefined) return kindOfType(valueType, row.value);
  if (/^(true|false)$/.test(before?.value ?? '') && /^(true|false)$/.test(row.value)) return 'switch';
  return /^-?\d+(\.\d+)?$/.test(before?.value ?? '') ? 'number' : 'text';
}

/**
 * Whether a foreign expression can be tried here without a risk to stop the page: few repetitions, none of
 * them of a group. The service checks all of them with a time limit.
 */
function isHarmlessRegex(regex: string): boolean {
  return !/\)[*+{?]|\\\d/.test(regex) && (regex.match(/[*+{]/g)?.length ?? 0) <= 3;
}

function regexProblem({ regex, value }: VariableFormRow): string | undefined {
  if (regex === '' || value === '' || value === mask || value.length > 200 || !isHarmlessRegex(regex))
    return undefined;
  try {
    return new RegExp(regex).test(value) ? undefined : `Must match ${regex}`;
  } catch {
    return `The expression ${regex} is invalid`;
  }
}

function jsonProblem({ format, value, isSensitive }: VariableFormRow): string | undefined {
  if (format !== 'JSON' || value === '' || isSensitive) return undefined;
  try {
    JSON.parse(value);
    return undefined;
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}

/** References are looked up before a run: only then it shows what they are. */
function typeProblem({ valueType = '', value, isSensitive, format }: VariableFormRow): string | undefined {
  if (isSensitive || format !== undefined || value.startsWith('${')) return undefined;
  if (/^(number|integer)$/.test(valueType) && !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value.trim()))
    return 'A number is required';
  if (/^(bool|boolean)$/.test(valueType) && !/^(true|false)$/.test(value)) return 'true or false';
  return undefined;
}

/** Problem of the value. */
export function valueProblem(row: VariableFormRow): string | undefined {
  const { value, isRequired, choices, before, isSensitive } = row;
  if (isRequired && value === '') return 'A value is required';
  if (value === '') return undefined;
  if (before?.isSensitive && !isSensitive && value === mask)
    return 'Enter the value again to make it visible';
  if (choices.length > 0 && value !== mask && !choices.includes(value)) return `One of ${choices.join(', ')}`;
  return jsonProblem(row) ?? typeProblem(row) ?? regexProblem(row);
}

/** Problem of the name. @param rows all of the form */
export function nameProblem(row: VariableFormRow, rows: readonly VariableFormRow[]): string | undefined {
  const { name, type } = row;
  if (row.before !== undefined) return undefined;
  if (name === '') return 'A name is required';
  if (type === 1 && !/^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(name))
    return 'Letters, digits, _ and -; no digit or - first';
  if (/[=\p{Cc}]/u.test(name)) return 'No "=" and no control characters';
  const isTaken = rows.some((each) => each.key !== row.key && each.name === name && each.type === type);
  return isTaken ? 'The list has a variable of this name and kind' : undefined;
}

/** Whether everything that would be sent is fit for it. */
export function isReady(rows: readonly VariableFormRow[]): boolean {
  return rows.filter(isChanged).every((row) => row.isDeleted || isFit(row, rows));
}

function isFit(row: VariableFormRow, rows: readonly VariableFormRow[]): boolean {
  return nameProblem(row, rows) === undefined && valueProblem(row) === undefined;
}

/**
 * A refusal of the service, at the row that it names.
 * @param field that the refusal names, as `fieldOf` finds it: `configurationChanges.2.value` or `2.value`
 * @param rows as they were sent
 * @returns the key of the row; undefined: it names none
 */
export function rowOfField(field: string | undefined, rows: readonly VariableFormRow[]): string | undefined {
  const index = /(?:^|\.)(\d+)(?:\.|$)/.exec(field ?? '')?.[1];
  const sent = rows.filter(isChanged);
  return index === undefined || sent.length !== changesOf(rows).length ? undefined : sent[Number(index)]?.key;
}
