/** The parameters of a stack's template, in YAML (with its short functions) or JSON. */

import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { parseFiles } from './read-yaml.ts';
import { choicesFrom, type DeclaringCode, isEnvironmentName, regexOf, rowOf, UnreadableCode } from './row.ts';

/** @throws UnreadableCode that names the file */
export async function stackParameters(
  code: DeclaringCode,
  { prefix, files }: { readonly prefix: string; readonly files: readonly string[] },
): Promise<RepositoryVariable[]> {
  const named = code.fileName || undefined;
  const [template] = await parseFiles(code, named === undefined ? files : [named]);
  if (template === undefined && named !== undefined)
    throw new UnreadableCode(`${named} is not a file of this folder`);
  const parameters = isRecord(template?.content) ? template.content['Parameters'] : undefined;
  return Object.entries(recordOf(parameters))
    .filter(([name]) => isEnvironmentName(`${prefix}${name}`))
    .map(([name, parameter]) => rowFor(`${prefix}${name}`, recordOf(parameter)));
}

function rowFor(name: string, parameter: Readonly<Record<string, unknown>>): RepositoryVariable {
  const value = parameter['Default'];
  const pattern = regexOf(parameter['AllowedPattern']);
  return rowOf({
    name,
    type: 0,
    // Every parameter is a text there; a list is one with commas.
    value: typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    description: parameter['Description'],
    isSensitive: String(parameter['NoEcho']) === 'true',
    isRequired: value === undefined || value === null,
    valueType: parameter['Type'],
    choices: choicesFrom(parameter['AllowedValues']),
    // The pattern there is for the whole value.
    regex: pattern === undefined ? undefined : `^(?:${pattern})$`,
  });
}
