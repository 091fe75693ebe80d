/** The variables of a template's code, by its tool. */
import { join } from 'node:path/posix';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { type DeclaredVariables, declaredVariables } from '#protocol/tools/declared-variables.ts';
import { blockVariables } from './block-variables.ts';
import { chartValues } from './chart-values.ts';
import { parseFiles } from './read-yaml.ts';
import {
  choicesFrom,
  type DeclaringCode,
  isEnvironmentName,
  regexOf,
  rowOf,
  typeOfDefault,
  UnreadableCode,
} from './row.ts';
import { isSealedMark } from './sealed-mark.ts';

const yamlFile = /\.ya?ml$/;
const roleFolders = ['defaults/main', 'group_vars/all'] as const;

/**
 * The defaults of a role, and the variables of all hosts, which take precedence.
 * @throws UnreadableCode that names the file
 */
async function roleDefaults(
  code: DeclaringCode,
  { prefix }: { readonly prefix: string },
): Promise<RepositoryVariable[]> {
  const names = (await Promise.all(roleFolders.map((folder) => namesFor(code, folder)))).flat();
  const values = new Map<string, unknown>();
  for (const { content } of await parseFiles(code, names))
    if (isRecord(content)) for (const [name, value] of Object.entries(content)) values.set(name, value);
  return [...values]
    .filter(([name]) => isEnvironmentName(`${prefix}${name}`))
    .map(([name, value]) => {
      const isSensitive = isSealedMark(value);
      return rowOf({
        name: `${prefix}${name}`,
        type: 0,
        isSensitive,
        ...(isSensitive ? {} : { value, valueType: typeOfDefault(value) }),
      });
    });
}

/** A file, with one of its endings or none, or a folder of files. */
async function namesFor({ tree, path }: DeclaringCode, name: string): Promise<string[]> {
  const inFolder = (await tree.namesIn(join(path, name))) ?? [];
  const files = inFolder.filter((each) => yamlFile.test(each)).toSorted();
  return [`${name}.yml`, `${name}.yaml`, name, ...files.map((each) => join(name, each))];
}

/**
 * The parameters of a stack's template, in YAML (with its short functions) or JSON.
 * @throws UnreadableCode that names the file
 */
async function stackParameters(
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
    .map(([name, parameter]) => parameterRow(`${prefix}${name}`, recordOf(parameter)));
}

function parameterRow(name: string, parameter: Readonly<Record<string, unknown>>): RepositoryVariable {
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

/** Keys of an entry that describes a value, in contrast to an entry that is one. */
const describing = ['type', 'default', 'value', 'description', 'secret', 'items'] as const;

/**
 * The configuration that a project declares: values, or types with defaults.
 * @throws UnreadableCode that names the file
 */
async function projectConfiguration(
  code: DeclaringCode,
  { files }: { readonly files: readonly string[] },
): Promise<RepositoryVariable[]> {
  const [project] = await parseFiles(code, files);
  if (!isRecord(project?.content)) return [];
  const { config, configuration } = project.content;
  const declared = isRecord(config) ? config : configuration;
  return Object.entries(recordOf(declared)).map(([name, entry]) => entryRow(name, entry));
}

function entryRow(name: string, entry: unknown): RepositoryVariable {
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

/** Form of variables for people. */
const mostVariables = 2000;

function read(code: DeclaringCode, declared: DeclaredVariables): Promise<RepositoryVariable[]> {
  switch (declared.form) {
    case 'blocks':
      return blockVariables(code, declared);
    case 'chart values':
      return chartValues(code, declared);
    case 'stack parameters':
      return stackParameters(code, declared);
    case 'project configuration':
      return projectConfiguration(code, declared);
    case 'role defaults':
      return roleDefaults(code, declared);
  }
}

/**
 * @returns empty where the tool has no variables, or the code declares none
 * @throws UnreadableCode, or an UnreadableFile, that names the file
 */
export async function variablesOf(type: TemplateType, code: DeclaringCode): Promise<RepositoryVariable[]> {
  const declared = declaredVariables[type];
  const found = declared === undefined ? [] : await read(code, declared);
  if (found.length > mostVariables)
    throw new UnreadableCode(`it declares more than ${mostVariables} variables`);
  return found;
}
