/** The resolved variables of a deployment, sealed once and opened for each phase: a change meanwhile is for later deployments. */
import type { JobVariable } from '#protocol/messages.ts';
import type { Context } from '../context.ts';

export interface RunInputs {
  readonly environment: JobVariable[];
  readonly terraform: JobVariable[];
}

function association(deploymentId: string) {
  return { table: 'deployment', row: deploymentId, field: 'sealed_inputs' };
}

export function sealInputs(context: Pick<Context, 'sealer'>, deploymentId: string, inputs: RunInputs): Buffer {
  return context.sealer.seal(JSON.stringify(inputs), association(deploymentId));
}

/** @param sealed null for a deployment that never runs */
export function openInputs(context: Pick<Context, 'sealer'>, deploymentId: string, sealed: Buffer | null): RunInputs {
  return sealed === null
    ? { environment: [], terraform: [] }
    : (JSON.parse(context.sealer.open(sealed, association(deploymentId)).toString('utf8')) as RunInputs);
}
