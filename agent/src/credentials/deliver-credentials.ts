/** Prepares the cloud credentials of a job for its run, before it is written to the spool. */
import { CloudProblem, type PrivateHosts } from '#clouds/exchange.ts';
import { type CredentialKind, credentialKinds } from '#contract/credentials/kinds.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { deliver, type Delivery, type DeliveryOptions, ownNames } from './delivery.ts';

/** A claimed job whose credentials have become variables and files. @throws the signal's reason */
export type DeliverCredentials = (job: Job, signal: AbortSignal) => Promise<Job>;

interface Result extends Partial<Delivery> {
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

function titleOf({ name }: RunCredential): string {
  return `Credential ${JSON.stringify(name)}`;
}

/** The variable by which a run brings a credential of its own for the same cloud; undefined: it brings none. */
function ownVariable({ type }: RunCredential, job: Job): string | undefined {
  const kinds: Readonly<Record<string, CredentialKind>> = credentialKinds;
  const cloud = kinds[type]?.cloud;
  const own = runEnvironment({ ...job, systemVariables: {} });
  return cloud === undefined ? undefined : ownNames[cloud].find((name) => Object.hasOwn(own, name));
}

async function resultOf(credential: RunCredential, options: DeliveryOptions): Promise<Result> {
  const own = ownVariable(credential, options.job);
  if (own !== undefined) {
    const warning = `${titleOf(credential)} is not used: the variable ${own} takes its place`;
    return { failures: [], warnings: [warning] };
  }
  try {
    return { ...(await deliver(credential, options)), failures: [], warnings: [] };
  } catch (error) {
    options.signal.throwIfAborted();
    // The words of other errors are not ours: they might repeat a secret.
    const problem = error instanceof CloudProblem ? error.message : `failed (${(error as Error).name})`;
    return { failures: [`${titleOf(credential)} ${problem}`], warnings: [] };
  }
}

/** @returns a function for all runs of an agent */
export function credentialDeliverer(options: {
  readonly workFolder: string;
  readonly privateHosts: PrivateHosts;
  readonly mayUseOwnIdentity: boolean;
}): DeliverCredentials {
  return async (job, signal) => {
    const { credentials = [], ...rest } = job;
    if (credentials.length === 0) return job;
    const { credentials: folder } = workFolderPaths(options.workFolder, job);
    const results = await Promise.all(
      credentials.map((credential) => resultOf(credential, { ...options, job, folder, signal })),
    );
    return {
      ...rest,
      delivered: {
        environment: Object.assign({}, ...results.map(({ environment }) => environment)),
        files: results.flatMap(({ files = [] }) => files),
        versions: credentials.map(({ version }) => version),
      },
      secrets: [...job.secrets, ...results.flatMap(({ secrets = [] }) => secrets)],
      resolution: {
        failures: [...(job.resolution?.failures ?? []), ...results.flatMap(({ failures }) => failures)],
        warnings: [...(job.resolution?.warnings ?? []), ...results.flatMap(({ warnings }) => warnings)],
      },
    };
  };
}
