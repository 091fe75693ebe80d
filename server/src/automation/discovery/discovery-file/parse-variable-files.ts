/** Values of variables in `.tfvars` files, which are untrusted. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { constantOfBody } from '#guards/hcl/constant-value.ts';
import { type HclReader, openHclReader } from '#guards/hcl/parse-hcl-file.ts';
import { rowOf } from '../../../code/repositories/variables/row.ts';

export interface VariableFile {
  /** In the repository; a name that ends with `.json` is read as JSON. */
  readonly path: string;
  readonly text: string;
}

/** A value as a variable of an environment has it. */
export interface FileVariable {
  readonly name: string;
  readonly value: string;
  /** Lists, maps and objects are JSON. */
  readonly format?: 'JSON';
}

export interface VariableFileError {
  readonly path: string;
  /** A sentence without a period, which names the file. */
  readonly message: string;
}

export interface FileVariables {
  /** Sorted by name. A variable that a file sets to null is not among them. */
  readonly variables: readonly FileVariable[];
  readonly errors: readonly VariableFileError[];
}

const mostVariables = 2000;

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new Error('it must be an object with the names of variables');
}

function constantIn(name: string, value: unknown): unknown {
  try {
    return constantOfBody({ value });
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

async function valuesOf(
  reader: HclReader,
  { path, text }: VariableFile,
): Promise<Readonly<Record<string, unknown>>> {
  if (path.endsWith('.json')) return recordIn(parseExactly(text));
  const body = await reader.parse({ name: path, text });
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, constantIn(name, value)]));
}

function variableOf(name: string, found: unknown): FileVariable[] {
  const { value, schema } = rowOf({ name, type: 1, value: found });
  if (value === undefined) return [];
  return [{ name, value, ...(schema?.format === 'JSON' ? { format: 'JSON' as const } : {}) }];
}

/**
 * Reads variable files in their order: later ones take precedence, as with the tools.
 * @param signal ends reading between two files
 * @returns values of the files that can be read, and an error for each of the others
 */
export async function parseVariableFiles(
  files: readonly VariableFile[],
  signal: AbortSignal,
): Promise<FileVariables> {
  await using reader = openHclReader();
  const values = new Map<string, unknown>();
  const errors: VariableFileError[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    try {
      for (const [name, value] of Object.entries(await valuesOf(reader, file))) values.set(name, value);
    } catch (error) {
      const message = (error as Error).message.replace(/^\[(.*)\]$/s, '$1');
      const named = message.includes(file.path) ? message : `${file.path}: ${message}`;
      errors.push({ path: file.path, message: named.slice(0, 500) });
    }
  }
  if (values.size > mostVariables)
    return {
      variables: [],
      errors: [
        {
          path: files[0]?.path ?? '',
          message: `the variable files set more than ${mostVariables} variables`,
        },
      ],
    };
  const variables = [...values].flatMap(([name, value]) => variableOf(name, value));
  return { variables: variables.toSorted((left, right) => (left.name < right.name ? -1 : 1)), errors };
}
