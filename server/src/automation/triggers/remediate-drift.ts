/** Effect: after a drift run that found drift, what the strategy says. */
import type { Remediation } from '#contract/deployments/shapes.ts';
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';
import type { Context } from '../../framework/context.ts';
import { type EffectKind, promiseEffect } from '../../framework/effects/effect-kind.ts';
import type { ReactionPayloads } from '../../framework/reactions.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import {
  type LockedDeployment,
  lockDeployment,
  updateDeploymentRow,
} from '../../rows/deployments/deployment-store.ts';
import { getSchedule } from '../../rows/schedules/schedule-store.ts';
import { forgesNeeded } from '../../tenancy/project-policies/remediation-strategy.ts';
import { asService, because, type Caused, startCaused } from './start-caused.ts';

interface RemediationPayload {
  readonly deploymentId: string;
}

/** That of the run, or else that of the environment. */
async function strategyOf(
  context: Context,
  { deployment, environment }: LockedDeployment,
): Promise<AutoDriftRemediation> {
  if (deployment.drift_remediation !== null) return deployment.drift_remediation;
  const schedule = await getSchedule(context.db, environment.id, 'driftDetection');
  return schedule?.auto_drift_remediation ?? 'DISABLED';
}

async function remediate(
  context: Context,
  { deployment, environment }: LockedDeployment,
  strategy: AutoDriftRemediation,
): Promise<Caused> {
  if (forgesNeeded(strategy)) return because(`${strategy} opens pull requests, which is not possible yet`);
  if (environment.drift_status !== 'DRIFTED') return because('A later deployment has ended the drift');
  return startCaused(asService(context, `after ${deployment.id}`), environment, {
    trigger: 'driftRemediation',
    causedBy: deployment.id,
  });
}

async function carryOut(context: Context, { deploymentId }: RemediationPayload): Promise<void> {
  await inTransaction(context, async (context) => {
    const locked = await lockDeployment(context.db, deploymentId);
    if (!locked || locked.deployment.remediation !== null) return;
    const strategy = await strategyOf(context, locked);
    if (strategy === 'DISABLED') return;
    const { deploymentId: started, reason } = await remediate(context, locked, strategy);
    const remediation: Remediation = {
      strategy,
      ...(started === null ? {} : { deploymentId: started }),
      ...(reason === null ? {} : { reason }),
    };
    await updateDeploymentRow(context.db, deploymentId, { remediation: JSON.stringify(remediation) });
  });
}

export const remediateDrift: EffectKind<RemediationPayload> = { name: 'triggers.remediateDrift', carryOut };

/** Reaction: promises it, where drift was found. */
export async function promiseRemediation(
  context: Context,
  { deployment }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  const { id, type, status, drift_detected: isDrifted, drift_remediation: strategy } = deployment;
  if (type !== 'driftDetection' || status !== 'SUCCESS' || isDrifted !== true) return;
  if (strategy !== 'DISABLED') await promiseEffect(context, remediateDrift, { deploymentId: id });
}
