/** Facts of Pulumi. */
import { pulumi as program, pulumiLanguageYaml } from './programs/pulumi.ts';
import { pulumiState } from './pulumi/state.ts';
import {
  backendVariables,
  configKeyProblem,
  passphraseFileVariable,
  passphraseVariable,
  pulumiVariableProblem,
  stackNameProblem,
} from './pulumi/variables.ts';
import type { ToolFacts } from './tool.ts';

export const pulumi: ToolFacts = {
  type: 'pulumi',
  label: 'Pulumi',
  program,
  companions: [{ program: pulumiLanguageYaml, isOptional: false }],
  version: { field: 'pulumiVersion', file: '.pulumi.version' },
  steps: {
    prepare: ['pulumi:login', 'pulumi:stack'],
    plan: 'pulumi:preview',
    apply: 'pulumi:up',
    destroy: 'pulumi:destroy',
    outputs: 'pulumi:output',
  },
  state: pulumiState,
  approval: {
    isExact: false,
    covers:
      'the operations and inputs of the preview, which the update cannot exceed; it runs the program again, and looks at the resources again',
  },
  generatedSecret: {
    variable: passphraseVariable,
    unless: [passphraseFileVariable, ...backendVariables],
  },
  importsResources: false,
  planArguments: ({ targets, skipsRefresh }) => [
    ...targets.map((target) => `--target=${target}`),
    ...(skipsRefresh ? [] : ['--refresh']),
  ],
  variableRefusal: (type, name) => (type === 0 ? pulumiVariableProblem(name) : configKeyProblem(name)),
  workspaceNameRefusal: stackNameProblem,
  downloads: [],
};
