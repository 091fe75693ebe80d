/** Clusters of Kubernetes that a cloud knows by their names: what a run needs in order to reach one of them. */
import { stringify } from 'yaml';
import type { CredentialType, CredentialValue } from '#contract/credentials/kinds.ts';
import type { PrivateHosts } from '../exchange.ts';

/** Identity for requests to the cloud: the run's credential of that cloud, and its form in the run. */
export interface CloudIdentity {
  readonly type: CredentialType;
  readonly value: CredentialValue;
  /** For a type with OIDC: the token of the run. */
  readonly token?: string;
  /** Variables by which tools use it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Addresses of the clouds, as configured by the operator. */
export interface CloudAddresses {
  /** Of Azure Resource Manager. */
  readonly azureManagement: string;
  /** Of the Google Kubernetes Engine. */
  readonly gke: string;
}

export interface ClusterQuestion {
  /** Of the credential that names the cluster. */
  readonly value: CredentialValue;
  readonly identity: CloudIdentity;
  readonly addresses: CloudAddresses;
  /** Session names in the records of the cloud. */
  readonly sessionName: string;
  /** For how long the cluster is needed. */
  readonly seconds: number;
  readonly privateHosts: PrivateHosts;
  readonly signal: AbortSignal;
}

/** A token that clients read from a file, so that it can be replaced while they run. */
export interface ClusterToken {
  readonly token: string;
  /** From when on it is to be used, as milliseconds since 1970. */
  readonly from: number;
}

export interface ClusterAccess {
  /** Its https address. */
  readonly server: string;
  /** The certificate of its authority, PEM in base64; absent: a public one. */
  readonly authority?: string;
  /** The first one is valid now; several follow each other. */
  readonly tokens?: readonly ClusterToken[];
  /** PEM in base64. */
  readonly certificate?: { readonly chain: string; readonly key: string };
}

/** Asks a cloud for a cluster. @throws CloudProblem; the signal's reason */
export type FindCluster = (question: ClusterQuestion) => Promise<ClusterAccess>;

/**
 * The kubeconfig file of a cluster. It starts no programs.
 * @param tokenFile absolute path of the file that the present token is in
 */
export function kubeconfigOf(
  name: string,
  { server, authority, tokens, certificate }: ClusterAccess,
  tokenFile: string,
): string {
  const user =
    certificate === undefined
      ? {}
      : { 'client-certificate-data': certificate.chain, 'client-key-data': certificate.key };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: { server, ...(authority === undefined ? {} : { 'certificate-authority-data': authority }) },
      },
    ],
    users: [{ name, user: { ...user, ...(tokens === undefined ? {} : { tokenFile }) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

/** Values to mask in logs. */
export function clusterSecrets({ tokens = [], certificate }: ClusterAccess): string[] {
  const key = certificate?.key;
  const keys = key === undefined ? [] : [key, Buffer.from(key, 'base64').toString('utf8')];
  return [...tokens.map(({ token }) => token), ...keys];
}
