/** Reports to all subscribers what happens to an environment at the end of its lifetime. */
import type { Context } from '../../framework/context.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { recordEnvironmentEvent } from './organization-events.ts';

function later(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}

/**
 * A notice before the end, or a destroy at the end that did not succeed and is tried again.
 * @param environment as it is now, with the time of the next step
 */
export async function publishLifetime(
  context: Context,
  environment: EnvironmentRow,
  change: 'markedForAutoDestroy' | 'autoDestroyFailed',
): Promise<void> {
  await recordEnvironmentEvent(context, environment, change);
  const { lifespan_end_at: end, next_ttl_at: next, ttl_problem: problem } = environment;
  if (end === null) return;
  const isMark = change === 'markedForAutoDestroy';
  await context.react('lifetimeNoticed', {
    environment,
    notice: isMark ? 'markedForAutoDestroy' : 'autoDestroyRetried',
    destroyAt: later(end, next),
    reason: isMark ? null : problem,
  });
}
