/** Environment variables that change what a run of CloudFormation does. They are read as its tools see them. */

import { listOf, pathProblem } from '../inputs/run-variables.ts';
import { stackArgumentsProblem } from './arguments.ts';

export const stackVariableNames = {
  parameterPrefix: 'ENVARIUM_CF_PARAM_',
  parametersFile: 'ENVARIUM_CF_PARAMETERS_FILE',
  capabilities: 'ENVARIUM_CF_CAPABILITIES',
  bucket: 'ENVARIUM_CF_S3_BUCKET',
  bucketPrefix: 'ENVARIUM_CF_S3_PREFIX',
  continuesRollback: 'ENVARIUM_CF_CONTINUE_ROLLBACK',
  revertsDrift: 'ENVARIUM_CF_REVERT_DRIFT',
} as const;

const names = stackVariableNames;

export interface StackVariables {
  /** Path from the configuration's folder; null: there is none. */
  readonly parametersFile: string | null;
  /** Additional capabilities of the template, by their names in AWS. */
  readonly capabilities: readonly string[];
  /** For templates that are too large for a request; null: there is none. */
  readonly bucket: string | null;
  /** Empty, or with a slash at its end. */
  readonly bucketPrefix: string;
  /** A failed rollback is continued, without the resources that are listed. Null: it is left as it is. */
  readonly continuesRollback: readonly string[] | null;
  /** Change sets undo what was changed outside of the stack. */
  readonly revertsDrift: boolean;
}

/** @param environment of the run, as its tools see it */
export function readStackVariables(environment: Readonly<Record<string, string>>): StackVariables {
  const continues = environment[names.continuesRollback] ?? '';
  const prefix = (environment[names.bucketPrefix] ?? '').replaceAll(/^\/+|\/+$/g, '');
  return {
    parametersFile: environment[names.parametersFile] || null,
    capabilities: listOf(environment[names.capabilities]),
    bucket: environment[names.bucket] || null,
    bucketPrefix: prefix === '' ? '' : `${prefix}/`,
    continuesRollback: /^(false)?$/.test(continues) ? null : continues === 'true' ? [] : listOf(continues),
    revertsDrift: environment[names.revertsDrift] !== 'false',
  };
}

function parameterNameProblem(name: string): string | null {
  return /^[A-Za-z0-9]{1,255}$/.test(name)
    ? null
    : `${JSON.stringify(name)} cannot be the name of a parameter of a stack: letters and digits only`;
}

function problemOf(name: string, value: string, folder?: string): string | null {
  const isReference = value.includes('${');
  if (name.startsWith(names.parameterPrefix))
    return parameterNameProblem(name.slice(names.parameterPrefix.length));
  if (name === names.parametersFile) return value === '' ? null : pathProblem(value, folder);
  if (name === names.capabilities)
    return isReference || listOf(value).every((word) => /^CAPABILITY_[A-Z_]+$/.test(word))
      ? null
      : 'it must be a list such as CAPABILITY_IAM,CAPABILITY_NAMED_IAM,CAPABILITY_AUTO_EXPAND';
  if (name === names.bucket)
    return isReference || /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$|^$/.test(value)
      ? null
      : 'it must be the name of a bucket of S3, without a path';
  if (name === names.revertsDrift)
    return isReference || /^(true|false|)$/.test(value) ? null : 'it must be true or false';
  if (name === names.continuesRollback)
    return isReference || /^(true|false|[A-Za-z0-9.,\s-]*)$/.test(value)
      ? null
      : 'it must be true, false, or a list of the resources that the rollback skips';
  return null;
}

/**
 * Says why a variable of these names cannot be used, or null if it can; any other name can.
 * @param folder the configuration's folder below the root of its repository, where it is known
 * @returns a text that begins with the variable's name, and repeats no value
 */
export function stackVariableProblem(name: string, value: string, folder?: string): string | null {
  const problem = problemOf(name, value, folder);
  return problem === null ? stackArgumentsProblem(name, value) : `${name}: ${problem}`;
}
