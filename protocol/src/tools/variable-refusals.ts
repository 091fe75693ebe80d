/**
 * Variables that no run can take, told when they are written and checked again before a run: those that would
 * move the state that we keep, break the proof that what is applied is what was approved, reach a program
 * outside of the run's own sandbox, or that the operating system cannot hand over.
 *
 * A run is free in everything else: what it does with its own tool, providers and credentials is its own
 * affair.
 */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { runVariableProblem } from './run-variables.ts';
import { argumentsProblem } from './terraform-arguments.ts';

/**
 * One environment string, name and `=` and the closing zero byte included, holds at most this many bytes on
 * Linux.
 */
const environmentStringBytes = 131_072;

const reserved: Readonly<Record<string, string>> = {
  TF_WORKSPACE: "the workspace is the environment's workspaceName",
  TF_DATA_DIR: 'the run keeps its own data folder',
};

/** Read by the dynamic loader of every program, also of those that prepare the sandbox. */
const loaderNames = /^(LD_[A-Z_]+|GLIBC_TUNABLES)$/;

/** Shorter intervals make OpenTofu end with a panic in the middle of an apply. */
const leastPersistSeconds = 20;

function persistIntervalProblem(value: string): string | null {
  if (/^\d{1,6}$/.test(value) && Number(value) >= leastPersistSeconds) return null;
  return `TF_STATE_PERSIST_INTERVAL: a whole number of ${leastPersistSeconds} or more seconds is needed`;
}

function terraformRefusal(name: string, value: string): string | null {
  if (name === 'TF_STATE_PERSIST_INTERVAL') return persistIntervalProblem(value);
  const verb = /^TF_CLI_ARGS(?:_(.+))?$/.exec(name);
  if (verb === null) return runVariableProblem(name, value);
  const problem = argumentsProblem(verb[1] ?? '', value);
  return problem === null ? null : `${name}: ${problem}`;
}

function environmentRefusal(name: string, value: string): string | null {
  if (name === '' || /[=\0]/.test(name))
    return 'name: an environment variable needs a name without = and zero characters';
  const why = reserved[name];
  if (why !== undefined) return `${name} cannot be set: ${why}; remove the variable`;
  if (loaderNames.test(name))
    return `${name} cannot be set: it would reach programs outside of the run; remove the variable`;
  if (value.includes('\0')) return `${name}: an environment variable cannot hold a zero character`;
  if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > environmentStringBytes) {
    return `${name}: an environment variable holds at most 128 KiB, name included; use a terraform variable for a longer value`;
  }
  return terraformRefusal(name, value);
}

/**
 * Says why a variable cannot be used, or null if it can.
 * @param type 0 for an environment variable, 1 for a terraform variable
 * @param value the value after references were resolved, or as written; never repeated in the answer
 */
export function variableRefusal(type: VariableType, name: string, value: string): string | null {
  if (type === 0) return environmentRefusal(name, value);
  if (!/^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(name))
    return `${name === '' ? 'name' : name}: a terraform variable's name consists of letters, digits, _ and -, and begins with a letter or _`;
  return null;
}

/**
 * Says why a workspace name cannot be used, or null if it can: the tool takes only what a path segment of a
 * URL holds unescaped, and the name becomes a folder's name.
 */
export function workspaceNameRefusal(name: string): string | null {
  if (/^[A-Za-z0-9._~$&+:=@-]{1,200}$/.test(name) && name !== '.' && name !== '..') return null;
  return 'workspaceName: 1 to 200 letters, digits and . _ ~ $ & + : = @ - are allowed, and neither . nor .. alone';
}
