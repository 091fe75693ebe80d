/** Files with variables: JSON objects, as in Terraform's `*.tfvars.json`. */
import { BadCall } from './exit-codes.ts';
import { textFromFile } from './read-input.ts';

/** A variable as a request changes it. */
export interface VariableChange {
  readonly name: string;
  readonly value: string;
  readonly type: 0 | 1;
  readonly isSensitive?: true;
  readonly schema?: { readonly type: 'string'; readonly format: 'HCL' | 'JSON' };
}

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/** Numbers keep all digits that they have in the file. */
function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
}

/** The parser's message quotes the text, which may contain secrets: only the place is kept. */
function placeIn(error: unknown): string {
  const place = /line \d+ column \d+/.exec((error as Error).message)?.[0];
  return place === undefined ? '' : ` (${place})`;
}

function parsed(shown: string, text: string): unknown {
  try {
    return JSON.parse(text, exactly);
  } catch (error) {
    throw new BadCall(`--var-file: ${shown} is not valid JSON${placeIn(error)}.`);
  }
}

function refuseFormat(file: string): never {
  throw new BadCall(
    file.endsWith('.tfvars')
      ? `--var-file: ${file}: only JSON is read here: write the variables to a *.tfvars.json file, or use --hcl-var.`
      : `--var-file: ${file}: use a *.tfvars.json or *.json file, which contains an object with the variables.`,
  );
}

/**
 * Terraform variables of a JSON object: texts as they are, other values in the format JSON.
 * @throws BadCall that names the file and what is wrong with it
 */
export function variablesOfFile(file: string): VariableChange[] {
  const shown = file === '-' ? 'standard input' : file;
  if (file !== '-' && !file.endsWith('.json')) refuseFormat(file);
  const values = parsed(shown, textFromFile('--var-file', file));
  if (typeof values !== 'object' || values === null || Array.isArray(values) || isRawJSON(values))
    throw new BadCall(`--var-file: ${shown} must contain a JSON object with the variables.`);
  return Object.entries(values).map(([name, value]): VariableChange => {
    if (name === '') throw new BadCall(`--var-file: ${shown}: a variable has no name ("").`);
    return typeof value === 'string'
      ? { name, value, type: 1 }
      : { name, value: JSON.stringify(value), type: 1, schema: { type: 'string', format: 'JSON' } };
  });
}
