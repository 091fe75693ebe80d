/**
 * Environment variables that change what a run of the terraform family does. They are read where a run
 * begins, from what its tools see: their values as resolved, the system variables among them.
 */
import { posix } from 'node:path';
import { splitTargets } from '#contract/deployments/split-targets.ts';
import { argumentsProblem, splitArguments } from './terraform-arguments.ts';

const names = {
  backendConfig: 'ENVARIUM_TERRAFORM_BACKEND_CONFIG',
  planArguments: 'ENVARIUM_CLI_ARGS_PLAN',
  applyArguments: 'ENVARIUM_CLI_ARGS_APPLY',
  targets: 'ENVARIUM_TERRAFORM_TARGET',
  variableFiles: 'ENVARIUM_TERRAFORM_CONFIG_FILE_PATH',
  skipsWorkspace: 'ENVARIUM_SKIP_WORKSPACE',
  ignoresState: 'ENVARIUM_IGNORE_STATE',
  allowsEmptyWorkspace: 'ENVARIUM_ALLOW_EMPTY_WORKSPACE',
  reusesInit: 'ENVARIUM_REUSE_INIT',
  writesVariables: 'ENVARIUM_VARIABLE_FILES',
} as const;
export const runVariableNames = names;

export interface RunVariables {
  /** Each a `key=value` or a file, for `-backend-config`. */
  readonly backendConfig: readonly string[];
  readonly planArguments: readonly string[];
  readonly applyArguments: readonly string[];
  readonly targets: readonly string[];
  /** Paths from the configuration's folder. */
  readonly variableFiles: readonly string[];
  readonly skipsWorkspace: boolean;
  readonly ignoresState: boolean;
  /** A first plan may start with an empty workspace though others of the code's backend have resources. */
  readonly allowsEmptyWorkspace: boolean;
}

/** The entries of a list that is separated by commas. */
export function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * @param environment of the run, as its tools see it
 * @throws Error where a value was not checked by `runVariableProblem`
 */
export function readRunVariables(environment: Readonly<Record<string, string>>): RunVariables {
  return {
    backendConfig: listOf(environment[names.backendConfig]),
    planArguments: splitArguments(environment[names.planArguments] ?? ''),
    applyArguments: splitArguments(environment[names.applyArguments] ?? ''),
    targets: splitTargets(environment[names.targets] ?? ''),
    variableFiles: listOf(environment[names.variableFiles]),
    skipsWorkspace: environment[names.skipsWorkspace] === 'true',
    ignoresState: environment[names.ignoresState] === 'true',
    allowsEmptyWorkspace: environment[names.allowsEmptyWorkspace] === 'true',
  };
}

/**
 * Says why a path leaves the tree, or null where it does not.
 * @param folder the configuration's folder below the tree's root; absent where it is not known: then any
 * number of `..` may lead
 */
export function pathProblem(path: string, folder?: string): string | null {
  if (posix.isAbsolute(path) || path.includes('\\'))
    return 'a path must be relative to the folder of the configuration';
  const isOutside = folder !== undefined && /^\.\.(\/|$)/.test(posix.normalize(posix.join(folder, path)));
  return isOutside ? 'a path must not lead out of the repository' : null;
}

/**
 * Says why one of several paths cannot be used, or null if all can.
 * @param folder as of `runVariableProblem`
 */
export function pathsProblem(paths: readonly string[], folder?: string): string | null {
  return paths.map((path) => pathProblem(path, folder)).find((problem) => problem !== null) ?? null;
}

function problemOf(name: string, value: string, folder?: string): string | null {
  switch (name) {
    case names.skipsWorkspace:
    case names.ignoresState:
    case names.allowsEmptyWorkspace:
    case names.reusesInit:
    case names.writesVariables:
      return /^(true|false|)$/.test(value) || value.includes('${') ? null : 'it must be true or false';
    case names.planArguments:
      return argumentsProblem('plan', value);
    case names.applyArguments:
      return argumentsProblem('apply', value);
    case names.variableFiles:
      return pathsProblem(listOf(value), folder);
    case names.backendConfig:
      return backendConfigProblem(listOf(value), folder);
    case names.targets:
      return splitTargets(value).some((target) => target.startsWith('-'))
        ? 'a resource address does not begin with -'
        : null;
    default:
      return null;
  }
}

function backendConfigProblem(entries: readonly string[], folder?: string): string | null {
  if (entries.some((entry) => entry.startsWith('=')))
    return 'an entry consists of a name, = and a value, or is the path of a file; this one has no name';
  const files = entries.filter((entry) => !entry.includes('='));
  return pathsProblem(files, folder);
}

/**
 * Says why a variable of these names cannot be used, or null if it can; any other name can.
 * @param folder the configuration's folder below the root of its repository, where it is known
 */
export function runVariableProblem(name: string, value: string, folder?: string): string | null {
  const problem = problemOf(name, value, folder);
  return problem === null ? null : `${name}: ${problem}`;
}
