/** Form of a credential for a cluster in a run: the cloud is queried with the run's credential of that cloud. */
import { join } from 'node:path';
import { findAksCluster } from '#clouds/clusters/aks.ts';
import {
  type CloudAddresses,
  type CloudIdentity,
  clusterSecrets,
  type FindCluster,
  kubeconfigOf,
} from '#clouds/clusters/cluster.ts';
import { findEksCluster } from '#clouds/clusters/eks.ts';
import { findGkeCluster } from '#clouds/clusters/gke.ts';
import { CloudProblem } from '#clouds/exchange.ts';
import type { Cloud, CredentialType, CredentialValue } from '#contract/credentials/kinds.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import { type CredentialDelivery, type DeliveryOptions, kubernetesFile } from './delivery.ts';

interface ClusterKind {
  /** The cloud that knows the cluster. */
  readonly cloud: Cloud;
  readonly title: string;
  /** Description of the cluster for people. */
  readonly place: 'clusterRegion' | 'resourceGroup' | 'computeRegion';
  readonly find: FindCluster;
}

const kinds: Readonly<Partial<Record<CredentialType, ClusterKind>>> = {
  K8S_EKS_AUTH: { cloud: 'aws', title: 'AWS', place: 'clusterRegion', find: findEksCluster },
  K8S_AZURE_AKS_AUTH: { cloud: 'azure', title: 'Azure', place: 'resourceGroup', find: findAksCluster },
  K8S_GCP_GKE_AUTH: { cloud: 'gcp', title: 'Google Cloud', place: 'computeRegion', find: findGkeCluster },
};

/** Finder of the cluster of a credential; undefined: it has none. */
export function clusterKindOf({ type }: RunCredential): ClusterKind | undefined {
  return kinds[type as CredentialType];
}

/** The credential for requests to a cloud. */
export interface ClusterIdentity extends CloudIdentity {
  readonly name: string;
}

const tokenFile = 'kubeconfig-token';

function clusterTitle({ cluster, value }: { cluster: ClusterKind; value: CredentialValue }): string {
  return `the cluster ${JSON.stringify(value.clusterName ?? '')} in ${JSON.stringify(value[cluster.place] ?? '')}`;
}

/**
 * @param identity the run's credential of the cloud; null: it has none
 * @throws CloudProblem, whose message is the end of a sentence; the signal's reason
 */
export async function deliverCluster(
  credential: RunCredential,
  cluster: ClusterKind,
  { identity, addresses }: { identity: ClusterIdentity | null; addresses: CloudAddresses },
  options: DeliveryOptions,
): Promise<CredentialDelivery> {
  if (credential.problem !== undefined) throw new CloudProblem(credential.problem);
  const { job, folder, privateHosts, signal } = options;
  const value = credential.value as CredentialValue;
  const title = clusterTitle({ cluster, value });
  if (identity === null)
    throw new CloudProblem(
      `names ${title}, for which the run needs a credential of ${cluster.title} too: assign one to the project`,
    );
  const question = {
    value,
    identity,
    addresses,
    sessionName: `envarium-${job.deploymentId}`,
    seconds: job.limits.runSeconds + job.limits.abortSeconds,
    privateHosts,
    signal,
  };
  const access = await cluster.find(question).catch((error: unknown) => {
    if (!(error instanceof CloudProblem)) throw error;
    const { message } = error;
    const requestedWith = `requested with the credential ${JSON.stringify(identity.name)}`;
    throw new CloudProblem(`names ${title}, which, ${requestedWith}, ${message}`, { cause: error });
  });
  const { environment, files } = kubernetesFile(
    kubeconfigOf(value.clusterName ?? '', access, join(folder, tokenFile)),
    folder,
  );
  const [first, ...others] = access.tokens ?? [];
  const later = others.map(({ token, from }) => ({ from, content: token }));
  const tokens =
    first === undefined
      ? []
      : [{ name: tokenFile, content: first.token, ...(later.length === 0 ? {} : { later }) }];
  return { environment, files: [...files, ...tokens], secrets: clusterSecrets(access) };
}
