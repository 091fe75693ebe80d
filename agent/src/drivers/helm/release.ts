/** The release of an environment: its name, its namespace, and how long it may take. */

import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helm as facts } from '#protocol/tools/helm.ts';
import { namespaceVariable, readKubernetesVariables } from '#protocol/tools/kubernetes-variables.ts';

/** Why helm would not take a release of this name; null if it would. */
export function releaseNameRefusal({ workspaceName }: Job): string | null {
  const refusal = facts.workspaceNameRefusal?.(workspaceName) ?? null;
  return refusal === null ? null : `workspaceName ${refusal}`;
}

/** Namespace of the release; undefined: that of the kubeconfig. */
export function namespaceOf(job: Job): string | undefined {
  const environment = runEnvironment(job);
  return environment[namespaceVariable] || environment['HELM_NAMESPACE'] || undefined;
}

/** The namespace that helm creates; undefined: none. */
export function createdNamespace(job: Job): string | undefined {
  return readKubernetesVariables(runEnvironment(job)).createsNamespace ? namespaceOf(job) : undefined;
}

const longestSeconds = 4 * 3600;
/** For what comes before and after the change. */
const marginSeconds = 60;
const shortestSeconds = 10;

function atMost(seconds: number): string {
  return `${Math.floor(Math.max(shortestSeconds, Math.min(longestSeconds, seconds)))}s`;
}

/** Seconds for which helm waits: a failed upgrade is rolled back, for which it may wait as long again. */
export function upgradeTimeout({ limits }: Job): string {
  return atMost((limits.runSeconds - marginSeconds) / 2);
}

export function uninstallTimeout({ limits }: Job): string {
  return atMost(limits.runSeconds - marginSeconds);
}
