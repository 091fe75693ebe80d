/** Prepares the cloud credentials of a job for its run, before it is written to the spool. */
import type { CloudAddresses } from '#clouds/clusters/cluster.ts';
import { CloudProblem, type PrivateHosts } from '#clouds/exchange.ts';
import { kubeconfigSecrets } from '#clouds/kubernetes.ts';
import { type Cloud, type CredentialKind, credentialKinds } from '#contract/credentials/kinds.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { type ClusterIdentity, clusterKindOf, deliverCluster } from './deliver-cluster.ts';
import { type CredentialDelivery, type DeliveryOptions, deliver, ownNames } from './delivery.ts';
import { deliverOwnCluster, type OwnCluster } from './own-cluster.ts';

/** A claimed job whose credentials have become variables and files. @throws the signal's reason */
export type DeliverCredentials = (job: Job, signal: AbortSignal) => Promise<Job>;

interface DeliveryResult extends Partial<CredentialDelivery> {
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

const nothing: DeliveryResult = { failures: [], warnings: [] };

function titleOf({ name }: RunCredential): string {
  return `Credential ${JSON.stringify(name)}`;
}

function cloudOf({ type }: RunCredential): Cloud | undefined {
  const kinds: Readonly<Record<string, CredentialKind>> = credentialKinds;
  return kinds[type]?.cloud;
}

/** The variable by which a run brings a credential of its own for the same cloud; undefined: it brings none. */
function ownVariable(credential: RunCredential, job: Job): string | undefined {
  const cloud = cloudOf(credential);
  const own = runEnvironment({ ...job, systemVariables: {} });
  return cloud === undefined ? undefined : ownNames[cloud].find((name) => Object.hasOwn(own, name));
}

/** @param make throws CloudProblem */
async function resultOf(
  credential: RunCredential,
  { job, signal }: DeliveryOptions,
  make: () => Promise<CredentialDelivery | DeliveryResult>,
): Promise<DeliveryResult> {
  const own = ownVariable(credential, job);
  if (own !== undefined) {
    const warning = `${titleOf(credential)} is not used: the variable ${own} takes its place`;
    return { failures: [], warnings: [warning] };
  }
  try {
    const made = await make();
    const unusable = Object.entries(made.environment ?? {}).find(([, value]) => value.includes('\0'));
    if (unusable !== undefined)
      throw new CloudProblem(`cannot be used: ${unusable[0]} would hold a zero character`);
    return { failures: [], warnings: [], ...made };
  } catch (error) {
    signal.throwIfAborted();
    // The words of other errors are not ours: they might repeat a secret.
    const problem = error instanceof CloudProblem ? error.message : `failed (${(error as Error).name})`;
    return { failures: [`${titleOf(credential)} ${problem}`], warnings: [] };
  }
}

/** Credentials that name a cluster come last: each needs what the one of its cloud has become. */
async function allResults(
  credentials: readonly RunCredential[],
  addresses: CloudAddresses,
  options: DeliveryOptions,
): Promise<DeliveryResult[]> {
  const others = credentials.filter((credential) => clusterKindOf(credential) === undefined);
  const results = await Promise.all(
    others.map((credential) => resultOf(credential, options, () => deliver(credential, options))),
  );
  const clusters = credentials.flatMap((credential) => {
    const cluster = clusterKindOf(credential);
    if (cluster === undefined) return [];
    return resultOf(credential, options, async () => {
      const index = others.findIndex((other) => cloudOf(other) === cluster.cloud);
      const [other, result] = [others[index], results[index]];
      // One reason is enough.
      if (result !== undefined && result.failures.length > 0) return nothing;
      const identity =
        other === undefined || result?.environment === undefined
          ? null
          : ({ ...other, environment: result.environment } as ClusterIdentity);
      return deliverCluster(credential, cluster, { identity, addresses }, options);
    });
  });
  return [...results, ...(await Promise.all(clusters))];
}

/** Credentials of the agent for a run without a cluster. */
async function ownClusterResults(
  job: Job,
  folder: string,
  own: OwnCluster | undefined,
): Promise<DeliveryResult[]> {
  if (own === undefined) return [];
  try {
    const delivery = await deliverOwnCluster(job, folder, own);
    return delivery === null ? [] : [{ failures: [], warnings: [], ...delivery }];
  } catch (error) {
    return [{ failures: [(error as Error).message], warnings: [] }];
  }
}

/** Parts of a kubeconfig in a variable, which are secret even where they are printed alone. */
function variableSecrets(job: Job): string[] {
  return kubeconfigSecrets(runEnvironment(job)['ENVARIUM_KUBECONFIG'] ?? '');
}

/** @returns a function for all runs of an agent */
export function credentialDeliverer(options: {
  readonly workFolder: string;
  readonly privateHosts: PrivateHosts;
  readonly mayUseOwnIdentity: boolean;
  /** Whether kubeconfig files may start programs. */
  readonly mayStartPrograms?: boolean;
  /** Absent: the agent does not lend the cluster that it runs in. */
  readonly ownCluster?: OwnCluster | undefined;
  readonly addresses: CloudAddresses;
}): DeliverCredentials {
  return async (order, signal) => {
    const own = variableSecrets(order);
    const job = own.length === 0 ? order : { ...order, secrets: [...order.secrets, ...own] };
    const { credentials = [], ...rest } = job;
    const allowed = options.mayStartPrograms === true ? { mayStartPrograms: true } : {};
    const { credentials: folder } = workFolderPaths(options.workFolder, job);
    const results = [
      ...(await allResults(credentials, options.addresses, { ...options, job, folder, signal })),
      ...(await ownClusterResults(job, folder, options.ownCluster)),
    ];
    if (results.length === 0 && options.mayStartPrograms !== true) return job;
    return {
      ...rest,
      delivered: {
        environment: Object.assign({}, ...results.map(({ environment }) => environment)),
        files: results.flatMap(({ files = [] }) => files),
        versions: credentials.map(({ version }) => version),
        ...allowed,
      },
      secrets: [...job.secrets, ...results.flatMap(({ secrets = [] }) => secrets)],
      resolution: {
        failures: [...(job.resolution?.failures ?? []), ...results.flatMap(({ failures }) => failures)],
        warnings: [...(job.resolution?.warnings ?? []), ...results.flatMap(({ warnings }) => warnings)],
      },
    };
  };
}
