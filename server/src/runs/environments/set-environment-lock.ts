/** Locks and unlocks an environment. */
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf, isUnchanged } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { type EnvironmentRow, updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { lastNoticeMilliseconds } from '../../tenancy/lifetimes/lifespan.ts';
import { advanceQueue } from '../deployments/transitions/advance-queue.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { publishLifetime } from '../feeds/publish-lifetime.ts';

/** For the audit trail. */
function audited({
  is_locked: isLocked,
  lock_reason: reason,
}: Pick<EnvironmentRow, 'is_locked' | 'lock_reason'>) {
  return { isLocked, reason };
}

/** Locks or unlocks; the same again changes only the reason, if at all. Queued deployments continue after an unlock. */
export async function setEnvironmentLock(
  context: ActorContext,
  id: string,
  body: { isLocked: boolean; reason?: string },
): Promise<EnvironmentRow> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const now = context.now();
    const lock = { is_locked: body.isLocked, lock_reason: body.reason ?? null };
    const sides = changesOf(audited(environment), audited(lock));
    if (isUnchanged(sides)) return environment;
    // An end that came, or comes at once, is announced once more before it happens; earlier notices are sent
    // by the timer.
    const announced = new Date(now.getTime() + lastNoticeMilliseconds);
    const { next_ttl_at: next, lifespan_end_at: end } = environment;
    const isDue =
      !body.isLocked &&
      environment.is_locked &&
      next !== null &&
      next <= now &&
      end !== null &&
      end < announced;
    const notice = isDue ? ({ next_ttl_at: announced, marked_for_auto_destroy: 3 } as const) : {};
    const changes = {
      ...notice,
      ...lock,
      locked_by: context.actor.userId,
      locked_at: now,
      updated_at: now,
    };
    const updated = await updateEnvironmentRow(context.db, environment, changes);
    const action = body.isLocked ? 'environment.locked' : 'environment.unlocked';
    const details = body.reason ? { reason: body.reason } : {};
    await recordEnvironmentAudit(context, updated, action, details, sides);
    await recordEnvironmentEvent(context, updated, body.isLocked ? 'locked' : 'unlocked');
    if (isDue) await publishLifetime(context, updated, 'markedForAutoDestroy');
    return body.isLocked ? updated : advanceQueue(context, updated);
  });
}
