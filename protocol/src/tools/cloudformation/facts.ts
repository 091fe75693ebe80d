/** Facts of stacks of AWS CloudFormation, which a program of the agent's own deploys. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import type { ToolFacts } from '../tool.ts';
import { stackVariableProblem } from './variables.ts';

const longestStackName = 128;

/** Variables of type 1 that cannot be parameters may be there for other tools: runs leave them out. */
/** Runs leave variables without a parameter out: those of a project may be for other tools. */
function variableRefusal(type: VariableType, name: string, value: string): string | null {
  if (type === 0) return stackVariableProblem(name, value);
  return /^\w/.test(name) ? null : `${JSON.stringify(name)} is not the name of a parameter of a stack`;
}

function workspaceNameRefusal(name: string): string | null {
  if (/^[A-Za-z][-A-Za-z0-9]*$/.test(name) && name.length <= longestStackName) return null;
  return (
    `is the name of the stack, which has at most ${longestStackName} letters, digits and -, and begins with a letter: ` +
    'choose another one'
  );
}

export const cloudformation: ToolFacts = {
  type: 'cloudformation',
  label: 'CloudFormation',
  program: {
    name: 'cloudformation',
    howToGet: 'it is a part of the agent',
    versionArguments: [],
    readVersion: (output) => output.trim(),
    versionVariables: [],
    release: null,
    ownVersion: '1.0.0',
  },
  companions: [],
  version: { field: null, file: null },
  steps: {
    prepare: ['cf:validate'],
    plan: 'cf:change-set',
    apply: 'cf:deploy',
    destroy: 'cf:delete-stack',
    outputs: 'cf:output',
  },
  state: null,
  approval: { isExact: true, covers: 'exactly this change set, which AWS keeps and executes as it is' },
  importsResources: false,
  planArguments: () => [],
  variableRefusal,
  workspaceNameRefusal,
  downloads: [],
};
