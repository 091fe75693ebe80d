/** A policy has a schedule for new environments, which must be one that can be stored. */
import type { Context } from '../../framework/context.ts';
import type { ChangingPolicy } from '../../framework/reactions.ts';
import { checkedNextRun } from './cron.ts';

/** @throws Refusal 400 that names the field */
export function checkPolicyCron(context: Context, { after }: ChangingPolicy): void {
  const { driftDetectionCron: cron } = after;
  if (cron.trim() !== '') checkedNextRun(cron, context.now(), 'body.driftDetectionCron');
}
