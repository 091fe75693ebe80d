/** Values of variables that a command of OpenTofu or terraform gets, from wherever it reads them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import { type Flag, readFlags, splitArguments } from '#protocol/tools/inputs/terraform-arguments.ts';
import { mayName } from '../../terraform/code/ephemeral-texts.ts';
import { byBytes, requireReadableNames } from '../../terraform/code/files.ts';

/** A command of the tool as it is started. */
export interface StartedCommand {
  readonly verb: string;
  /** Without the verb. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that the tool works in. */
  readonly folder: string;
}

/** The value of a variable, or a file of such values. */
export interface SetValue {
  /** Place where it is set, in words without any value. */
  readonly from: string;
  /** With a hash: the same value has the same key. */
  readonly key: string;
  /** Whether it may set this variable. */
  sets(name: string): boolean;
}

const variablePrefix = 'TF_VAR_';
/** Of the working folder, loaded without being named. */
const fixedNames = ['terraform.tfvars', 'terraform.tfvars.json'];
const loadedFile = /\.auto\.tfvars(\.json)?$/;

function variableValue(from: string, name: string, value: string): SetValue {
  const key = JSON.stringify(['variable', name, sha256(value)]);
  return { from, key, sets: (other) => other === name };
}

/** None where there is no file, which the tool reports itself. */
function fileOfValues(from: string, path: string): SetValue[] {
  try {
    const content = readFileSync(path);
    const key = JSON.stringify(['file', sha256(content)]);
    return [{ from, key, sets: (name) => mayName(content.toString(), name) }];
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(code)) return [];
    throw error;
  }
}

/** All arguments in the order in which the tool reads them. */
function wordsOf({ verb, words, environment }: StartedCommand): string[] {
  const added = [`TF_CLI_ARGS_${verb}`, 'TF_CLI_ARGS'].flatMap((name) => {
    try {
      return splitArguments(environment[name] ?? '');
    } catch (error) {
      throw new Error(`${name} ${(error as Error).message}`, { cause: error });
    }
  });
  return [...added, ...words];
}

function argumentValue({ name: type, value = '', isUnclear }: Flag, folder: string): SetValue[] {
  if (isUnclear === true)
    throw new Error(
      `An argument that sets variables follows ${type}\n\nIf ${type} has a value, write it after =, otherwise move it to the end.`,
    );
  if (type === '-var-file') return fileOfValues(`${type} ${value}`, resolve(folder, value));
  if (type !== '-var') return [];
  const [name = '', ...rest] = value.split('=');
  return [variableValue(`${type} ${name}`, name, rest.join('='))];
}

/**
 * The values of a command, later ones take precedence.
 * @throws Error for arguments of which it is not clear what they set, and for files that cannot be read
 */
export function valuesOf(command: StartedCommand): SetValue[] {
  const { environment, folder } = command;
  const ofEnvironment = Object.entries(environment)
    .filter(([name]) => name.startsWith(variablePrefix))
    .toSorted(([one], [other]) => byBytes(one, other))
    .map(([name, value = '']) => variableValue(name, name.slice(variablePrefix.length), value));
  const loaded = readdirSync(folder)
    .filter((name) => loadedFile.test(name))
    .toSorted(byBytes);
  requireReadableNames(loaded);
  const files = [...fixedNames, ...loaded].flatMap((name) => fileOfValues(name, join(folder, name)));
  const words = readFlags(wordsOf(command)).flatMap((flag) => argumentValue(flag, folder));
  return [...ofEnvironment, ...files, ...words];
}

/**
 * The saved plan that an apply gets.
 * @throws Error where the tool would read it as the value of an argument, and so plan again
 */
export function planOf(command: StartedCommand): string {
  const plan = command.words.at(-1) ?? '';
  const last = readFlags(wordsOf({ ...command, words: command.words.slice(0, -1) })).at(-1);
  if (last?.needsValue === true)
    throw new Error(
      `${last.name} has no value of its own, and the plan follows it\n\nWrite its value after =, or remove it.`,
    );
  return plan;
}
