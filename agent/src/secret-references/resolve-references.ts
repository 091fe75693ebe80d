/**
 * Replaces references to secret stores by what the stores have, before a run starts: with the agent's identity, which
 * the run never has. A failure ends the run in the step of its variables.
 */
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import {
  containsSecretReference,
  type SecretReference,
  type SecretStoreName,
  secretReferenceOf,
} from '#protocol/secret-references.ts';
import type { AgentSettings } from '#settings/settings.ts';
import { variableTitle } from '../drivers/interface/variable-title.ts';
import { refusalOf } from './allowed-names.ts';
import { openAws } from './stores/aws.ts';
import { openAzure } from './stores/azure.ts';
import { openGcp } from './stores/gcp.ts';
import {
  SecretProblem,
  type SecretStore,
  type StoreOptions,
  type StoreSecret,
} from './stores/secret-store.ts';
import { openVault } from './stores/vault.ts';

/** A claimed job with its references resolved. @throws the signal's reason */
export type ResolveReferences = (job: Job, signal: AbortSignal) => Promise<Job>;

interface ResolverOptions extends StoreOptions {
  readonly settings: StoreOptions['settings'] & Pick<AgentSettings, 'secretReferences' | 'secretSeconds'>;
}

const openers: Readonly<Record<SecretStoreName, (options: StoreOptions) => SecretStore>> = {
  ssm: openAws,
  vault: openVault,
  gcp: openGcp,
  azure: openAzure,
};

/** Number of secrets that are read at the same time. */
const mostAtOnce = 8;

type ResolvedReference = StoreSecret | { readonly problem: string };

/** @returns a function for all runs of an agent */
export function referenceResolver(options: ResolverOptions): ResolveReferences {
  return async (job, signal) => {
    const all = [...job.variables.environment, ...job.variables.terraform].filter(isOpen);
    const texts = [
      ...new Set(all.map(({ value }) => value).filter((value) => secretReferenceOf(value) !== null)),
    ];
    const warnings = all.filter(({ value }) => containsSecretReference(value)).map(embedded);
    if (texts.length === 0 && warnings.length === 0) return job;
    const results = await readAll(job, texts, options, signal);
    const failures = all.flatMap((variable) => failureOf(variable, results.get(variable.value)));
    const resolved = (variable: JobVariable) => withValue(variable, results.get(variable.value));
    const { environment, terraform } = job.variables;
    return {
      ...job,
      variables: { environment: environment.map(resolved), terraform: terraform.map(resolved) },
      secrets: [...job.secrets, ...[...results.values()].flatMap((one) => ('text' in one ? [one.text] : []))],
      resolution: {
        failures,
        warnings: [...warnings, ...all.flatMap((one) => leaseWarning(job, one, results))],
      },
    };
  };
}

/** Reads every reference once, all of them within the time that the setting allows. */
async function readAll(
  job: Job,
  texts: readonly string[],
  options: ResolverOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ResolvedReference>> {
  const { settings } = options;
  const seconds = settings.secretSeconds;
  const deadline = new AbortController();
  const either = AbortSignal.any([signal, deadline.signal]);
  const late = new SecretProblem(
    `the store gave no answer within ${seconds} s (ENVARIUM_SECRET_REFERENCES_TIMEOUT_SECONDS)`,
  );
  const timer = setTimeout(() => deadline.abort(late), seconds * 1000);
  const stores = new Map<SecretStoreName, SecretStore>();
  const results = new Map<string, ResolvedReference>();
  const queue = texts.values();
  const work = async () => {
    for (const text of queue) {
      const reference = secretReferenceOf(text)!;
      const refusal = refusalOf(reference, settings.secretReferences, job);
      const store = stores.get(reference.store) ?? openers[reference.store](options);
      stores.set(reference.store, store);
      results.set(text, refusal === null ? await read(store, reference, either) : { problem: refusal });
      signal.throwIfAborted();
    }
  };
  try {
    await Promise.all(Array.from({ length: mostAtOnce }, work));
  } finally {
    clearTimeout(timer);
    deadline.abort(late);
  }
  return results;
}

/** A store that ignores the signal is not waited for. */
async function read(
  store: SecretStore,
  { name }: SecretReference,
  signal: AbortSignal,
): Promise<ResolvedReference> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const found = await Promise.race([store.read(name, signal), ended]);
    return found.text.includes('\0') ? { problem: 'the secret contains a NUL character' } : found;
  } catch (error) {
    // The words of other errors are not ours: they might repeat what was read.
    return {
      problem: error instanceof SecretProblem ? error.message : `it failed (${(error as Error).name})`,
    };
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Values from elsewhere, such as an output of another environment, must not name secrets of this agent. */
function isOpen({ isLiteral }: JobVariable): boolean {
  return isLiteral !== true;
}

function withValue(variable: JobVariable, resolved: ResolvedReference | undefined): JobVariable {
  if (!isOpen(variable) || resolved === undefined || 'problem' in resolved) return variable;
  return { ...variable, value: resolved.text, reference: variable.value, isSensitive: true };
}

function failureOf(variable: JobVariable, resolved: ResolvedReference | undefined): string[] {
  if (resolved === undefined || !('problem' in resolved)) return [];
  const what = variable.isSensitive ? 'the secret that it refers to' : variable.value;
  return [`${variableTitle(variable)}: ${what} cannot be read: ${resolved.problem}`];
}

function embedded(variable: JobVariable): string {
  return `${variableTitle(variable)} contains a reference to a secret store inside other text: only a reference that is the whole value is resolved`;
}

function leaseWarning(
  job: Job,
  variable: JobVariable,
  results: ReadonlyMap<string, ResolvedReference>,
): string[] {
  const resolved = results.get(variable.value);
  if (resolved === undefined || 'problem' in resolved) return [];
  const { leaseSeconds } = resolved;
  return leaseSeconds !== undefined && leaseSeconds < job.limits.runSeconds
    ? [
        `${variableTitle(variable)}: its store lends the secret for ${leaseSeconds} s, and this run may take ${job.limits.runSeconds} s`,
      ]
    : [];
}
