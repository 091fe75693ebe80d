/** Facts of helm. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { valuePath } from './helm/value-path.ts';
import { helmVariableProblem } from './helm/variables.ts';
import { kubernetesVariableProblem } from './kubernetes-variables.ts';
import { helm as program } from './programs/helm.ts';
import { kubectl } from './programs/kubectl.ts';
import type { ToolFacts } from './tool.ts';

function variableRefusal(type: VariableType, name: string, value: string): string | null {
  if (type === 0) return helmVariableProblem(name, value) ?? kubernetesVariableProblem(name, value);
  if (valuePath(name) !== null) return null;
  return `${JSON.stringify(name)} is not the path of a value: names of keys with dots between them, such as image.tag`;
}

const longestReleaseName = 53;

function workspaceNameRefusal(name: string): string | null {
  const isName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
  if (isName && name.length <= longestReleaseName) return null;
  return (
    `is the name of the release, which has at most ${longestReleaseName} lower-case letters, digits, - and ., and ` +
    'begins and ends with a letter or digit: set another one'
  );
}

export const helm: ToolFacts = {
  type: 'helm',
  label: 'helm',
  program,
  companions: [{ program: kubectl, isOptional: false }],
  version: { field: null, file: null },
  steps: {
    prepare: ['helm:chart'],
    plan: 'helm:diff',
    apply: 'helm:upgrade',
    destroy: 'helm:uninstall',
    outputs: 'helm:status',
  },
  state: null,
  approval: {
    isExact: false,
    covers: 'the chart, the values and the rendered manifests; an apply that would render others stops',
  },
  worksOnCluster: true,
  importsResources: false,
  planArguments: () => [],
  variableRefusal,
  workspaceNameRefusal,
  downloads: [],
};
