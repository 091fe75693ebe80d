/** The defaults of a role, and the variables of all hosts, which take precedence. */

import { join } from 'node:path/posix';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { parseFiles } from './read-yaml.ts';
import { type DeclaringCode, isEnvironmentName, rowOf, typeOfDefault } from './row.ts';
import { isSealedMark } from './sealed-mark.ts';

const yamlFile = /\.ya?ml$/;
const folders = ['defaults/main', 'group_vars/all'] as const;

/** @throws UnreadableCode that names the file */
export async function roleDefaults(
  code: DeclaringCode,
  { prefix }: { readonly prefix: string },
): Promise<RepositoryVariable[]> {
  const names = (await Promise.all(folders.map((folder) => namesFor(code, folder)))).flat();
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
