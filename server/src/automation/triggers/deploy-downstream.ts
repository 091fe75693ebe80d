/** Effect: after a successful deploy, the environments that follow are deployed. */

import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { type EffectKind, promiseEffect } from '../../framework/effects/effect-kind.ts';
import type { ReactionPayloads } from '../../framework/reactions.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { getEnvironmentRow, lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import {
  type DownstreamRow,
  listDownstreamRows,
  setLastTrigger,
} from '../../rows/triggers/downstream-store.ts';
import { asService, because, startCaused } from './start-caused.ts';

interface DownstreamPayload {
  readonly deploymentId: string;
  readonly environmentId: string;
}

/** One environment, in a transaction of its own. */
async function deployOne(
  context: Context,
  { deploymentId, environmentId }: DownstreamPayload,
  row: DownstreamRow,
) {
  await inTransaction(asService(context, `after ${deploymentId}`), async (context) => {
    const upstream = await getEnvironmentRow(context.db, environmentId);
    const environment = await lockEnvironmentRow(context.db, row.downstream_id);
    if (!upstream || !environment) return;
    const isTogether = environment.project_id === upstream.project_id;
    const caused = isTogether
      ? await startCaused(context, environment, {
          trigger: 'workflow',
          causedBy: deploymentId,
          upstreamEnvironmentId: environmentId,
        })
      : because('The environment is in another project than the one upstream');
    await setLastTrigger(context.db, row, {
      last_at: context.now(),
      last_cause_id: deploymentId,
      last_deployment_id: caused.deploymentId,
      last_reason: caused.reason,
    });
    if (caused.reason === null) return;
    const details = { upstreamEnvironmentId: environmentId, causedBy: deploymentId, reason: caused.reason };
    await recordEnvironmentAudit(context, environment, 'environment.downstreamSkipped', details);
  });
}

/** @throws the first failure; what has succeeded is not repeated */
async function carryOut(context: Context, payload: DownstreamPayload, signal: AbortSignal): Promise<void> {
  const errors: unknown[] = [];
  for (const row of await listDownstreamRows(context.db, payload.environmentId)) {
    signal.throwIfAborted();
    try {
      await deployOne(context, payload, row);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

export const deployDownstream: EffectKind<DownstreamPayload> = {
  name: 'triggers.deployDownstream',
  carryOut,
};

/** Reaction: promises it, where something follows. */
export async function promiseDownstream(
  context: Context,
  { deployment, environment }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (!environment.has_downstream || deployment.type !== 'deploy' || deployment.status !== 'SUCCESS') return;
  await promiseEffect(context, deployDownstream, {
    deploymentId: deployment.id,
    environmentId: environment.id,
  });
}
