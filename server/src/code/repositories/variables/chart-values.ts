/** The values of a chart (`values.yaml`), with what its schema (`values.schema.json`) says about them. */

import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { parseFiles } from './read-yaml.ts';
import { choicesFrom, type DeclaringCode, isEnvironmentName, regexOf, rowOf, typeOfDefault } from './row.ts';

interface ChartValue {
  /** Keys from the outermost on, as `--set` of the tool expects them. */
  readonly keys: readonly string[];
  readonly value: unknown;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
}

const files = ['values.yaml', 'values.yml', 'values.schema.json'] as const;
const deepest = 20;

/** @throws UnreadableCode that names the file */
export async function chartValues(
  code: DeclaringCode,
  { prefix }: { readonly prefix: string },
): Promise<RepositoryVariable[]> {
  const parsed = await parseFiles(code, files);
  const schema = parsed.find(({ name }) => name.endsWith('.json'))?.content;
  const value = parsed.find(({ name }) => !name.endsWith('.json'))?.content;
  const root = { keys: [], value, schema: recordOf(schema), isRequired: false };
  return placesBelow(root)
    .map((place) => ({ place, name: `${prefix}${place.keys.join('.')}` }))
    .filter(({ name }) => isEnvironmentName(name))
    .map(({ place, name }) => rowAt(name, place));
}

/** Each value that is not a map of others, in the order of the file; then those that only the schema has. */
function placesBelow(place: ChartValue): ChartValue[] {
  const { keys, value, schema } = place;
  const values = recordOf(value);
  const properties = recordOf(schema['properties']);
  const names = [...new Set([...Object.keys(values), ...Object.keys(properties)])];
  const isLeaf = names.length === 0 || (value !== undefined && value !== null && !isRecord(value));
  if (keys.length > 0 && (isLeaf || keys.length >= deepest)) return [place];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return names.flatMap((name) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return placesBelow({
      keys: [...keys, name.replaceAll('.', '\\.')],
      value: Object.hasOwn(values, name) ? values[name] : undefined,
      schema: recordOf(inner),
      isRequired: required.includes(name),
    });
  });
}

function rowAt(name: string, { value, schema, isRequired }: ChartValue): RepositoryVariable {
  const known = value ?? schema['default'];
  return rowOf({
    name,
    type: 0,
    value: known,
    description: schema['description'],
    isSensitive: schema['writeOnly'] === true || schema['format'] === 'password',
    isRequired: isRequired && (known === undefined || known === null),
    isComplex: schema['type'] === 'array' || schema['type'] === 'object',
    choices: choicesFrom(schema['enum']),
    regex: regexOf(schema['pattern']),
    valueType: schema['type'] ?? typeOfDefault(value),
  });
}
