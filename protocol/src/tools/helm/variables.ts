/** Environment variables that change what a run of helm does. They are read as its tools see them. */

import { listOf, pathsProblem } from '../inputs/run-variables.ts';
import { helmArgumentNames, helmArgumentsProblem } from './arguments.ts';
import { setPath } from './value-path.ts';

export const helmNames = {
  setPrefix: 'ENVARIUM_HELM_SET_',
  valuesFiles: 'ENVARIUM_HELM_VALUES_FILES',
  username: 'ENVARIUM_HELM_REPO_USERNAME',
  password: 'ENVARIUM_HELM_REPO_PASSWORD',
} as const;

export interface HelmVariables {
  /** Paths from the configuration's folder. */
  readonly valuesFiles: readonly string[];
  /** Of the chart repository. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/** @param environment of the run, as its tools see it */
export function readHelmVariables(environment: Readonly<Record<string, string>>): HelmVariables {
  const username = environment[helmNames.username] ?? '';
  const password = environment[helmNames.password] ?? '';
  return {
    valuesFiles: listOf(environment[helmNames.valuesFiles]),
    credentials: username === '' && password === '' ? null : { username, password },
  };
}

/** Names of variables whose values become arguments, which other users of a machine can list. */
export const visibleNames: readonly string[] = [
  ...Object.values(helmArgumentNames),
  helmNames.valuesFiles,
  'HELM_NAMESPACE',
];

/**
 * Says why a variable of these names cannot be used, or null if it can; any other name can.
 * @param folder the configuration's folder below the root of its repository, where it is known
 */
export function helmVariableProblem(name: string, value: string, folder?: string): string | null {
  if (name.startsWith(helmNames.setPrefix) && setPath(name.slice(helmNames.setPrefix.length)) === null)
    return `${name}: what follows ${helmNames.setPrefix} must be the path of a value, such as image.tag or servers[0].name`;
  if (name === helmNames.valuesFiles) {
    const paths = listOf(value);
    // helm would read an address or its standard input.
    const isOther = paths.some((path) => path === '-' || path.includes('://'));
    const problem = isOther ? 'each entry must be the path of a file' : pathsProblem(paths, folder);
    return problem === null ? null : `${name}: ${problem}`;
  }
  return helmArgumentsProblem(name, value);
}
