/**
 * Values of variables in arguments of the terraform family. OpenTofu accepts them together with a saved plan, and uses
 * them wherever the plan has none: an apply must get the values of its plan, and no others.
 */
import { listOf, runVariableNames } from './inputs/run-variables.ts';
import {
  argumentsProblem,
  type Flag,
  isValueFlag,
  readFlags,
  splitArguments,
} from './inputs/terraform-arguments.ts';

type EnvironmentVariables = Readonly<Record<string, string>>;

const forAll = 'TF_CLI_ARGS';
/** Arguments of one command: the variable that the tool reads, and ours, in the order in which the tool gets them. */
const planNames = ['TF_CLI_ARGS_plan', runVariableNames.planArguments] as const;
const applyNames = ['TF_CLI_ARGS_apply', runVariableNames.applyArguments] as const;

/** Without a text that cannot be used at all, which is refused for its own sake. */
function wordsOf(environment: EnvironmentVariables, name: string): string[] {
  const text = environment[name] ?? '';
  return argumentsProblem('', text) === null ? splitArguments(text) : [];
}

function valuesIn(words: readonly string[]): string[] {
  return readFlags(words).filter(isValueFlag).map(textOf);
}

function textOf({ name, value }: Flag): string {
  return value === undefined ? name : `${name}=${value}`;
}

/**
 * The arguments that set variables in a plan, one word each, without those that all commands get.
 * @param environment of the run, as its tools see it
 * @param fileOf converts a path of a file with values
 */
export function plannedValues(
  environment: EnvironmentVariables,
  fileOf: (path: string) => string = (path) => path,
): string[] {
  const [own, ours] = planNames;
  const files = listOf(environment[runVariableNames.variableFiles]);
  return [
    ...valuesIn(wordsOf(environment, own)),
    ...files.map((file) => `-var-file=${fileOf(file)}`),
    ...valuesIn(wordsOf(environment, ours)),
  ];
}

/** The same of an apply. */
export function appliedValues(environment: EnvironmentVariables): string[] {
  return applyNames.flatMap((name) => valuesIn(wordsOf(environment, name)));
}

/** The files with values that arguments of a plan and of its apply name, as they are written. */
export function namedValueFiles(environment: EnvironmentVariables): string[] {
  return [...plannedValues(environment), ...valuesIn(wordsOf(environment, forAll))].flatMap(
    (word) => /^-var-file=([^]+)$/.exec(word)?.[1] ?? [],
  );
}

/** The last argument of one text would have the first one of the next text as its value. */
function openEndProblem(environment: EnvironmentVariables, names: readonly string[]): string | null {
  for (const [index, name] of names.entries()) {
    const last = readFlags(wordsOf(environment, name)).at(-1);
    const next = names.slice(index + 1).flatMap((each) => wordsOf(environment, each));
    const [following] = readFlags(next);
    if (last?.needsValue === true && following !== undefined && isValueFlag(following))
      return `${name}: its last argument has no value: add it after =, or remove the argument`;
  }
  return null;
}

/** The flag, with the name of the variable that it sets; that is not a secret, and a value may be. */
function shown({ name, value = '' }: Flag): string {
  const [variable] = /^[\p{ID_Start}_][\p{ID_Continue}-]{0,100}(?==)/u.exec(value) ?? [];
  return name === '-var' && variable !== undefined ? `-var ${variable}` : name;
}

/**
 * Says why arguments cannot be used together: those of the apply set variables in another way than those of the plan.
 * @returns a text that begins with the name of an environment variable and contains no value; null if they can be used
 */
export function appliedValuesProblem(environment: EnvironmentVariables): string | null {
  const openEnd =
    openEndProblem(environment, [...planNames, forAll]) ??
    openEndProblem(environment, [...applyNames, forAll]);
  if (openEnd !== null) return openEnd;
  const planned = new Set([...plannedValues(environment), ...valuesIn(wordsOf(environment, forAll))]);
  for (const name of applyNames) {
    const other = readFlags(wordsOf(environment, name)).find(
      (flag) => isValueFlag(flag) && !planned.has(textOf(flag)),
    );
    if (other !== undefined)
      return `${name}: ${shown(other)} is not allowed, because an apply gets the values of its plan; put it into ${runVariableNames.planArguments}, or make it a variable of the environment`;
  }
  return null;
}
