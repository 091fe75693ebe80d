/**
 * The resolved variables of a deployment, sealed once and opened for each phase: a change meanwhile is for
 * later deployments.
 */
import type { JobVariable, ResourceToImport } from '#protocol/messages/job.ts';
import type { Context } from '../context.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';

export interface RunInputs {
  readonly environment: JobVariable[];
  readonly terraform: JobVariable[];
  /** Values of customServiceEnvironmentVariables that are secrets, by their names there. */
  readonly custom?: Readonly<Record<string, string>>;
  /** Shell commands of a task, which may hold secrets. */
  readonly taskPayload?: string;
  /** What the plan takes into the state. */
  readonly imports?: readonly ResourceToImport[];
}

const secretNames = ['oidcToken', 'vcsAccessToken'] as const;

/** What readers get of customServiceEnvironmentVariables, and what only the run gets. */
export function splitCustomVariables(given: Readonly<Record<string, string>>): {
  shown: Record<string, string>;
  secret: Record<string, string>;
} {
  const isSecret = (name: string) => (secretNames as readonly string[]).includes(name);
  const entries = Object.entries(given);
  return {
    shown: Object.fromEntries(entries.map(([name, value]) => [name, isSecret(name) ? sensitiveMask : value])),
    secret: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  };
}

function association(deploymentId: string) {
  return { table: 'deployment', row: deploymentId, field: 'sealed_inputs' };
}

export function sealInputs(
  context: Pick<Context, 'sealer'>,
  deploymentId: string,
  inputs: RunInputs,
): Buffer {
  return context.sealer.seal(JSON.stringify(inputs), association(deploymentId));
}

/** @param sealed null for a deployment that never runs */
export function openInputs(
  context: Pick<Context, 'sealer'>,
  deploymentId: string,
  sealed: Buffer | null,
): RunInputs {
  return sealed === null
    ? { environment: [], terraform: [] }
    : (JSON.parse(context.sealer.open(sealed, association(deploymentId)).toString('utf8')) as RunInputs);
}
