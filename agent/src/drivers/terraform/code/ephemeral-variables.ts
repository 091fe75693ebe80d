/** Ephemeral input variables: a saved plan has no values of them, so both tools read them again for its apply. */
import { appliedValues, plannedValues } from '#protocol/tools/applied-values.ts';
import type { TreeReader } from '../../interface/capabilities.ts';
import { mayName } from './ephemeral-texts.ts';
import type { FileRules } from './files.ts';
import { objectsIn, readConfiguration } from './read-configuration.ts';

/**
 * The names of the root module's ephemeral variables. Files without that word are not parsed.
 * @throws an Error with a message for people if a file cannot be parsed
 */
export async function ephemeralVariables(tree: TreeReader, rules: FileRules): Promise<string[]> {
  const files = await readConfiguration(tree, rules, (text) => mayName(text, 'ephemeral'));
  const variables = objectsIn(files.flatMap(({ body }) => objectsIn(body)).map((each) => each['variable']));
  const names = variables.flatMap((each) =>
    Object.entries(each).flatMap(([name, block]) =>
      objectsIn(block).some(({ ephemeral = false }) => ephemeral !== false) ? [name] : [],
    ),
  );
  return [...new Set(names)];
}

/**
 * Terraform gets the arguments of its plan for the plan alone: an ephemeral variable that they set would have no value
 * in the apply, or another one.
 * @param environment of the run
 * @param textOf reads a file with values by its path as it is written
 * @throws an Error that names the variable
 */
export async function requireSameSetters(
  names: readonly string[],
  environment: Readonly<Record<string, string>>,
  textOf: (path: string) => Promise<string>,
): Promise<void> {
  const sets = async (word: string, name: string) => {
    const [, type, value = ''] = /^(-var|-var-file)=([^]*)$/.exec(word) ?? [];
    return type === '-var-file' ? mayName(await textOf(value), name) : value.startsWith(`${name}=`);
  };
  const settersOf = async (words: readonly string[], name: string) => {
    const isSetter = await Promise.all(words.map((word) => sets(word, name)));
    return JSON.stringify(words.filter((_, index) => isSetter[index]));
  };
  for (const name of names)
    if (
      (await settersOf(plannedValues(environment), name)) !==
      (await settersOf(appliedValues(environment), name))
    )
      throw new Error(
        `The variable ${name} is ephemeral: terraform reads its value again for the apply. Set it by a variable of the environment, or by the same arguments for plan and apply`,
      );
}
