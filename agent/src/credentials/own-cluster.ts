/** The cluster in which the agent itself runs, for runs that have no other: by the service account of its pod. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterSecrets, kubeconfigOf } from '#clouds/clusters/cluster.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import { type CredentialDelivery, kubernetesFile, ownNames } from './delivery.ts';

/** Folder of the service account of a pod in Kubernetes. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenFile = 'kubeconfig-token';
const contentVariable = 'ENVARIUM_KUBECONFIG';

export interface OwnCluster {
  /** Of the agent. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: where Kubernetes puts it. */
  readonly accountFolder?: string;
}

/** Whether a run works on a cluster, and neither a variable nor a credential says which. */
function needsCluster(job: Job): boolean {
  if (toolFacts(job.tool)?.worksOnCluster !== true) return false;
  const own = runEnvironment({ ...job, systemVariables: {} });
  const hasVariable = [...ownNames.kubernetes, contentVariable].some((name) => Object.hasOwn(own, name));
  return !hasVariable && !(job.credentials ?? []).some(({ type }) => type.startsWith('K8S_'));
}

/**
 * @param folder of the run's credentials
 * @returns null for runs that need no cluster, or have another
 * @throws Error whose message says what is missing
 */
export async function deliverOwnCluster(
  job: Job,
  folder: string,
  { environment, accountFolder: account = accountFolder }: OwnCluster,
): Promise<CredentialDelivery | null> {
  if (!needsCluster(job)) return null;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  const read = (name: string) => readFile(join(account, name), 'utf8').catch(() => null);
  const [token, authority] = await Promise.all([read('token'), read('ca.crt')]);
  if (!host || !port || token === null || authority === null)
    throw new Error(
      `the agent has no service account of a cluster, which ENVARIUM_KUBERNETES_OWN_IDENTITY lends to runs: run it in a pod with one, or give the run another cluster`,
    );
  const access = {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    authority: Buffer.from(authority).toString('base64'),
    tokens: [{ token: token.trim(), from: 0 }],
  };
  const { environment: variables, files } = kubernetesFile(
    kubeconfigOf('own', access, join(folder, tokenFile)),
    folder,
  );
  return {
    environment: variables,
    files: [...files, { name: tokenFile, content: token.trim() }],
    secrets: clusterSecrets(access),
  };
}
