/** A policy has a schedule for new environments, which must be one that can be stored. */
import type { Context } from '../../framework/context.ts';
import type { ChangingPolicy } from '../../framework/reactions.ts';
import { checkedNextRun } from './cron.ts';

/** @throws Refusal 400 that names the field; one that was stored before and is disabled is not checked */
export function checkPolicyCron(context: Context, { before, after }: ChangingPolicy): void {
  const { driftDetectionEnabled: isEnabled, driftDetectionCron: cron } = after;
  const isSame = cron === before.driftDetectionCron;
  if (cron.trim() === '' || (isSame && !isEnabled)) return;
  checkedNextRun(cron, context.now(), 'body.driftDetectionCron');
}
