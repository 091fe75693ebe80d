/**
 * The resolved variables of a deployment, sealed once and opened for each phase: a later change is for
 * later deployments.
 */
import { fixedFacts } from '#contract/deployments/custom-variables.ts';
import type { DeployRequest } from '#contract/deployments/deploy-request.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { JobVariable, ResourceToImport } from '#protocol/messages/job.ts';
import type { Context } from '../../../framework/context.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import type { ReferenceVariable } from '../../../inputs/variables/resolve-variables.ts';
import { getSealedInputs } from '../../../rows/deployments/inputs-store.ts';

/** A reference to an output of another environment, until the run starts. */
export interface PendingReference extends ReferenceVariable {
  /** Fallback of a destroy if the output no longer exists: the value of the last deployment. */
  readonly last?: JobVariable;
}

/** Settings in a request for the code of its run and all later ones. */
export type RequestedCode = Pick<
  DeployRequest,
  'deploymentType' | 'blueprintId' | 'blueprintRevision' | 'blueprintRepository'
>;

/** Settings in a request for the environment itself. */
export type RequestedSettings = Pick<DeployRequest, 'envName' | 'ttl' | 'userRequiresApproval'>;

/** Changes that a deployment carries until it is approved. */
export interface ProposedChanges {
  /** Of variables. */
  readonly changes: readonly VariableChange[];
  /** Location of each of them in the request that proposed them. */
  readonly fields: readonly string[];
  /** Ids of sets to assign to the environment, and to take away from it. */
  readonly sets?: { readonly assign: readonly string[]; readonly unassign: readonly string[] };
  readonly code?: RequestedCode;
  readonly settings?: RequestedSettings;
}

export interface RunInputs {
  readonly environment: JobVariable[];
  readonly terraform: JobVariable[];
  /** Absent: there are none, or they have been resolved. */
  readonly references?: readonly PendingReference[];
  /** Values of customServiceEnvironmentVariables that are secrets, by their names there. */
  readonly custom?: Readonly<Record<string, string>>;
  /** Shell commands of a task, which may hold secrets. */
  readonly taskPayload?: string;
  /** Resources that the plan imports into the state. */
  readonly imports?: readonly ResourceToImport[];
  /** Changes to store when the plan is approved. */
  readonly proposed?: ProposedChanges;
}

const secretNames = ['oidcToken', 'vcsAccessToken'] as const;

/**
 * Readers' form of customServiceEnvironmentVariables, and the values that only the run gets; without the fixed
 * facts, and without mask, which says that the run has a token of its own.
 */
export function splitCustomVariables(requested: Readonly<Record<string, string>>): {
  shown: Record<string, string>;
  secret: Record<string, string>;
} {
  const isSecret = (name: string) => (secretNames as readonly string[]).includes(name);
  const isMask = (name: string, value: string) => isSecret(name) && value === sensitiveMask;
  const entries = Object.entries(requested).filter(
    ([name, value]) => !fixedFacts.includes(name) && !isMask(name, value),
  );
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

/** The inputs of a deployment. */
export async function readInputs(
  context: Pick<Context, 'db' | 'sealer'>,
  deploymentId: string,
): Promise<RunInputs> {
  const [row] = await getSealedInputs(context.db, [deploymentId]);
  return openInputs(context, deploymentId, row?.sealed_inputs ?? null);
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
