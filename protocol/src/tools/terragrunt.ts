/** Facts of terragrunt. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import type { Job } from '../messages/job.ts';
import { opentofu } from './programs/opentofu.ts';
import { terraform } from './programs/terraform.ts';
import { terragrunt as program } from './programs/terragrunt.ts';
import { environmentRefusal, familyFacts, identifierRefusal } from './terraform-family.ts';
import { unitStates } from './terragrunt-state.ts';
import { terragruntVariableProblem } from './terragrunt-variables.ts';
import type { ToolFacts } from './tool.ts';

/** The binary that the units of a run use. */
export function binaryOf(settings: Job['settings']): 'terraform' | 'opentofu' {
  return settings?.terragruntTfBinary ?? 'opentofu';
}

function variableRefusal(type: VariableType, name: string, value: string): string | null {
  if (type === 1) return identifierRefusal(name);
  return terragruntVariableProblem(name, value) ?? environmentRefusal(name, value);
}

export const terragrunt: ToolFacts = {
  ...familyFacts,
  type: 'terragrunt',
  label: 'Terragrunt',
  program,
  companions: [
    {
      program: opentofu,
      version: { field: 'opentofuVersion', file: '.opentofu-version' },
      isOptional: false,
      isFor: (settings) => binaryOf(settings) === 'opentofu',
    },
    {
      program: terraform,
      version: { field: 'terraformVersion', file: '.terraform-version' },
      isOptional: false,
      isFor: (settings) => binaryOf(settings) === 'terraform',
    },
  ],
  version: { field: 'terragruntVersion', file: '.terragrunt-version' },
  steps: {
    prepare: ['terragrunt:units'],
    plan: 'terragrunt:plan',
    apply: 'terragrunt:apply',
    destroy: 'terragrunt:destroy',
    outputs: 'terragrunt:output',
  },
  state: unitStates,
  approval: {
    isExact: true,
    covers: 'the saved plans of all units, which the apply carries out and nothing else',
  },
  evaluatesHcl: true,
  estimatesCosts: true,
  importsResources: false,
  variableRefusal,
};
