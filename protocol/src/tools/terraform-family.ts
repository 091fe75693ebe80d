/** Facts that terraform and OpenTofu share. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { appliedValuesProblem } from './applied-values.ts';
import { runVariableProblem } from './inputs/run-variables.ts';
import { argumentsProblem } from './inputs/terraform-arguments.ts';
import { terraformState } from './terraform-state.ts';
import type { PlanRequest, StepFacts, ToolFacts } from './tool.ts';

const reserved: Readonly<Record<string, string>> = {
  TF_WORKSPACE: "the workspace is the environment's workspaceName",
  TF_DATA_DIR: 'the run keeps its own data folder',
};

/** Shorter intervals make OpenTofu end with a panic in the middle of an apply. */
const leastPersistSeconds = 20;

function persistIntervalProblem(value: string): string | null {
  if (/^\d{1,6}$/.test(value) && Number(value) >= leastPersistSeconds) return null;
  return `TF_STATE_PERSIST_INTERVAL: a whole number of ${leastPersistSeconds} or more seconds is needed`;
}

/** Why no run of terraform or OpenTofu can have an environment variable; null if it can. */
export function environmentRefusal(name: string, value: string): string | null {
  const why = Object.hasOwn(reserved, name) ? reserved[name] : undefined;
  if (why !== undefined) return `${name} cannot be set: ${why}; remove the variable`;
  if (name === 'TF_STATE_PERSIST_INTERVAL') return persistIntervalProblem(value);
  const verb = /^TF_CLI_ARGS(?:_(.+))?$/.exec(name);
  if (verb === null) return runVariableProblem(name, value);
  const problem = argumentsProblem(verb[1] ?? '', value);
  return problem === null ? null : `${name}: ${problem}`;
}

function variableRefusal(type: VariableType, name: string, value: string): string | null {
  return type === 0 ? environmentRefusal(name, value) : identifierRefusal(name);
}

/** Why no run can have a variable of the code of this name; null if it can. */
export function identifierRefusal(name: string): string | null {
  if (/^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(name)) return null;
  return `${JSON.stringify(name)} is not a Terraform identifier: letters, digits, _ and -, not beginning with a digit or -`;
}

function planArguments({ targets, skipsRefresh }: PlanRequest): string[] {
  return [...targets.map((target) => `-target=${target}`), ...(skipsRefresh ? ['-refresh=false'] : [])];
}

/** @param prefix begins the names of the tool's steps */
export function familySteps(prefix: string): StepFacts {
  return {
    prepare: [`${prefix}:init`, `${prefix}:workspace`],
    plan: `${prefix}:plan`,
    apply: `${prefix}:apply`,
    destroy: `${prefix}:destroy`,
    outputs: `${prefix}:output`,
  };
}

export const familyFacts = {
  state: terraformState,
  approval: { isExact: true, covers: 'the saved plan, which the apply carries out and nothing else' },
  estimatesCosts: true,
  importsResources: true,
  planArguments,
  variableRefusal,
  environmentRefusal: appliedValuesProblem,
  downloads: [
    {
      what: 'provider registry',
      url: 'https://registry.terraform.io/.well-known/terraform.json',
      insteadSetting: 'ENVARIUM_PROVIDER_MIRROR',
      advice:
        'Runs find only cached providers: allow access to the registry, or name a mirror in ENVARIUM_PROVIDER_MIRROR.',
    },
  ],
} satisfies Partial<ToolFacts>;
