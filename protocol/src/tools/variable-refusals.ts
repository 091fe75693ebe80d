/**
 * Variables that no run can have, refused when they are written and checked again before a run: those that
 * would move the state that we keep, break the proof that what is applied is what was approved, reach a
 * program outside of the run's sandbox, or that the operating system cannot pass on. What only one tool
 * refuses is in that tool's facts.
 *
 * Everything else is allowed: what a run does with its tool, providers and credentials is its own business.
 */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { tools } from './index.ts';
import type { ToolFacts } from './tool.ts';

/**
 * One environment string, name and `=` and the closing zero byte included, holds at most this many bytes on
 * Linux.
 */
const environmentStringBytes = 131_072;

/** Read by the dynamic loader of every program, also of those that prepare the sandbox. */
const loaderNames = /^(LD_[A-Z_]+|GLIBC_TUNABLES)$/;

/** Names of variables that tools and their drivers read: values, arguments and options. */
const toolNames = /^(ANSIBLE|ENVARIUM|HELM|KUBECTL|PULUMI|TERRAGRUNT|TF|TG|TOFU)_/;
/** System variables that only an apply has: the plan would be approved with another value. */
const laterReference = /\$\{ENVARIUM_REVIEWER_[A-Z_]*\}/;

/** `true`: a version file is also looked for above the configuration's folder. */
export const upwardVariable = 'ENVARIUM_RESOLVE_FILE_VERSION_RECURSIVELY';

function environmentRefusal(name: string, value: string): string | null {
  if (name === '' || /[=\p{Cc}]/u.test(name))
    return 'name: an environment variable needs a name without = and control characters';
  if (loaderNames.test(name))
    return `${name} cannot be set: it would reach programs outside of the run; remove the variable`;
  if (value.includes('\0')) return `${name}: an environment variable cannot hold a zero character`;
  if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > environmentStringBytes)
    return `${name}: an environment variable holds at most 128 KiB, name included; use a terraform variable for a longer value`;
  if (toolNames.test(name) && laterReference.test(value))
    return `${name}: its value cannot refer to who approves, which is not known when the plan is made; remove \${ENVARIUM_REVIEWER_…}`;
  if (name === upwardVariable && !/^(true|false|)$/.test(value) && !value.includes('${'))
    return `${name}: it must be true or false`;
  return null;
}

/**
 * Explains why a variable cannot be used; null if it can.
 * @param type 0 for an environment variable, 1 for a variable of the tool
 * @param value the value after references were resolved, or as written; never repeated in the answer
 * @param used whose refusals count; all tools where it is not known yet which one will have the variable
 */
export function variableRefusal(
  type: VariableType,
  name: string,
  value: string,
  used: readonly ToolFacts[] = Object.values(tools),
): string | null {
  const general = type === 0 ? environmentRefusal(name, value) : null;
  if (general !== null) return general;
  const rules = new Set(used.map((facts) => facts.variableRefusal));
  const refusals = [...rules].map((refuse) => refuse(type, name, value));
  const problems = refusals.filter((refusal) => refusal !== null);
  // An environment variable reaches whatever tool runs.
  if (type === 0) return problems[0] ?? null;
  // Other variables have names of the tool that they are for.
  return problems.length < refusals.length || problems.length === 0 ? null : problems.join('; or ');
}

/**
 * Explains why a workspace name cannot be used; null if it can. The tools accept only what a path segment of a
 * URL holds unescaped, and the name becomes a folder's name.
 */
export function workspaceNameRefusal(name: string): string | null {
  if (/^[A-Za-z0-9._~$&+:=@-]{1,200}$/.test(name) && name !== '.' && name !== '..') return null;
  return 'workspaceName: 1 to 200 letters, digits and . _ ~ $ & + : = @ - are allowed, and neither . nor .. alone';
}
