/** The configuration that a project declares: values, or types with defaults. */

import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { parseFiles } from './read-yaml.ts';
import { type DeclaringCode, rowOf, typeOfDefault } from './row.ts';

/** Keys of an entry that describes a value, in contrast to an entry that is one. */
const describing = ['type', 'default', 'value', 'description', 'secret', 'items'] as const;

/** @throws UnreadableCode that names the file */
export async function projectConfiguration(
  code: DeclaringCode,
  { files }: { readonly files: readonly string[] },
): Promise<RepositoryVariable[]> {
  const [project] = await parseFiles(code, files);
  if (!isRecord(project?.content)) return [];
  const { config, configuration } = project.content;
  const declared = isRecord(config) ? config : configuration;
  return Object.entries(recordOf(declared)).map(([name, entry]) => rowFor(name, entry));
}

function rowFor(name: string, entry: unknown): RepositoryVariable {
  const isDescribed = isRecord(entry) && describing.some((key) => Object.hasOwn(entry, key));
  if (!isDescribed) return rowOf({ name, type: 1, value: entry, valueType: typeOfDefault(entry) });
  const value = entry['value'] ?? entry['default'];
  return rowOf({
    name,
    type: 1,
    value,
    description: entry['description'],
    isSensitive: entry['secret'] === true,
    isRequired: value === undefined,
    isComplex: entry['type'] === 'array' || entry['type'] === 'object',
    valueType: entry['type'] ?? typeOfDefault(value),
  });
}
