/** Facts of manifests of Kubernetes, which kubectl applies. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { kubernetesVariableProblem } from './kubernetes-variables.ts';
import { kubectl } from './programs/kubectl.ts';
import { kustomize } from './programs/kustomize.ts';
import { kubernetesRecord } from './states/kubernetes-record.ts';
import type { ToolFacts } from './tool.ts';

function variableRefusal(type: VariableType, name: string, value: string): string | null {
  if (type === 0) return kubernetesVariableProblem(name, value);
  // Each is a key of a file, and the name of a file.
  if (/^[A-Za-z_][A-Za-z0-9._-]{0,252}$/.test(name)) return null;
  return `${JSON.stringify(name)} cannot be a key of a ConfigMap: letters, digits, _, - and ., beginning with a letter or _`;
}

export const k8s: ToolFacts = {
  type: 'k8s',
  label: 'Kubernetes',
  program: kubectl,
  companions: [{ program: kustomize, isOptional: true }],
  version: { field: null, file: null },
  steps: {
    prepare: [],
    plan: 'k8s:diff',
    apply: 'k8s:apply',
    destroy: 'k8s:delete',
    outputs: null,
  },
  state: kubernetesRecord,
  approval: {
    isExact: false,
    covers:
      'exactly these manifests and deletions; what the cluster makes of them is decided when they are applied',
  },
  worksOnCluster: true,
  importsResources: false,
  planArguments: () => [],
  variableRefusal,
  downloads: [],
};
