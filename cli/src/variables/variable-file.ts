/** Files with variables: `*.tfvars` in HCL, and JSON objects as in `*.tfvars.json`. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { textFromFile } from '../call/read-input.ts';
import { BadCall } from '../session/exit-codes.ts';
import { tfvarsOf } from './tfvars-file.ts';

/** A variable as a request changes it. */
export interface VariableEntry {
  readonly name: string;
  readonly value: string;
  readonly type: 0 | 1;
  readonly isSensitive?: true;
  /** Without a format: a text, whatever format the variable had. Absent: the variable keeps its format. */
  readonly schema?: { readonly type: 'string'; readonly format?: 'HCL' | 'JSON' };
}

/** The parser's message quotes the text, which may contain secrets: only the place is kept. */
function placeIn(error: unknown): string {
  const place = /line \d+ column \d+/.exec((error as Error).message)?.[0];
  return place === undefined ? '' : ` (${place})`;
}

function parsed(shown: string, text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    throw new BadCall(`--var-file: ${shown} is not valid JSON${placeIn(error)}.`);
  }
}

function variableOf(name: string, value: string, format?: 'HCL' | 'JSON'): VariableEntry {
  return { name, value, type: 1, schema: { type: 'string', ...(format ? { format } : {}) } };
}

/** Numbers are JSON, which loses none of their digits. */
const isJson = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

function variablesOfHcl(shown: string, text: string): VariableEntry[] {
  return tfvarsOf(shown, text).map((variable) =>
    variable.expression === undefined
      ? variableOf(variable.name, variable.text)
      : variableOf(variable.name, variable.expression, isJson.test(variable.expression) ? 'JSON' : 'HCL'),
  );
}

function variablesOfJson(shown: string, text: string): VariableEntry[] {
  const values = parsed(shown, text);
  if (!isRecord(values))
    throw new BadCall(`--var-file: ${shown} must contain a JSON object with the variables.`);
  return Object.entries(values).map(([name, value]) => {
    if (name === '') throw new BadCall(`--var-file: ${shown}: a variable has no name ("").`);
    return typeof value === 'string'
      ? variableOf(name, value)
      : variableOf(name, JSON.stringify(value), 'JSON');
  });
}

/**
 * Terraform variables of a file: texts as they are, other values in the format of the file.
 * @param file name; `-` is JSON on standard input
 * @throws BadCall that names the file and what is wrong with it
 */
export function variablesOfFile(file: string): VariableEntry[] {
  const shown = file === '-' ? 'standard input' : file;
  const isHcl = file.endsWith('.tfvars');
  if (file !== '-' && !isHcl && !file.endsWith('.json'))
    throw new BadCall(`--var-file: ${file}: use a *.tfvars, *.tfvars.json or *.json file.`);
  const text = textFromFile('--var-file', file);
  return isHcl ? variablesOfHcl(shown, text) : variablesOfJson(shown, text);
}
