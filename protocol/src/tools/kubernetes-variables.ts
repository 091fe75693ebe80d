/** Environment variables that change what a run on Kubernetes does. */

const names = {
  createsNamespace: 'ENVARIUM_K8S_CREATE_NAMESPACE',
  forcesConflicts: 'ENVARIUM_K8S_FORCE_CONFLICTS',
  waitSeconds: 'ENVARIUM_K8S_WAIT_SECONDS',
} as const;
export const kubernetesVariableNames = names;

/** The namespace of the environment: set by the service, from `k8sNamespace`. */
export const namespaceVariable = 'ENVARIUM_K8S_NAMESPACE';

const usualWaitSeconds = 300;
const mostWaitSeconds = 86_400;

export interface KubernetesVariables {
  /** The namespace of objects that name none; undefined: that of the kubeconfig. */
  readonly namespace: string | undefined;
  readonly createsNamespace: boolean;
  /** Fields that others manage are taken over. */
  readonly forcesConflicts: boolean;
  /** Seconds for which a deployment waits for its changes; 0: it does not wait. */
  readonly waitSeconds: number;
}

/** @param environment of the run, as its tools see it, with values that `kubernetesVariableProblem` has checked */
export function readKubernetesVariables(environment: Readonly<Record<string, string>>): KubernetesVariables {
  const seconds = environment[names.waitSeconds] ?? '';
  return {
    namespace: environment[namespaceVariable] || undefined,
    createsNamespace: environment[names.createsNamespace] === 'true',
    forcesConflicts: environment[names.forcesConflicts] === 'true',
    waitSeconds: seconds === '' ? usualWaitSeconds : Number(seconds),
  };
}

/** Why a variable of these names cannot have a value; null if it can, or has another name. */
export function kubernetesVariableProblem(name: string, value: string): string | null {
  if (value === '' || value.includes('${')) return null;
  switch (name) {
    case names.createsNamespace:
    case names.forcesConflicts:
      return /^(true|false)$/.test(value) ? null : `${name}: it must be true or false`;
    case names.waitSeconds:
      return /^\d{1,5}$/.test(value) && Number(value) <= mostWaitSeconds
        ? null
        : `${name}: it must be a whole number of seconds up to ${mostWaitSeconds}; with 0, nothing is waited for`;
    default:
      return null;
  }
}
