/**
 * Effects: work that a transaction promises for afterwards, such as removing a file or calling another system.
 * The promise is a row of the outbox, stored with the change that it belongs to. Any server carries it out, at
 * least once: a server that dies between the commit and the work, or in the middle of the work, leaves the row
 * to the next one. The work must therefore be safe to repeat.
 */

import { insertEffect } from '../../rows/effects/effect-store.ts';
import type { Context } from '../context.ts';

/** The channel on which servers are woken. */
export const effectsChannel = 'effects';

/** One sort of work. A family lists its kinds in its door. */
export interface EffectKind<Payload> {
  /** Stored with each row; rows outlive the version of the program that wrote them. */
  readonly name: string;
  /** Whether it may take many seconds: such work waits for its like only, and the rest never for it. */
  readonly isSlow?: boolean;
  /**
   * Does the work, outside of any transaction of the outbox.
   * @param context of the service; not a transaction
   * @param signal aborted when the server stops or the work has taken too long
   * @returns when to be called again where it is too early; nothing once the work is done
   * @throws anything: the work is tried again later, at most `mostAttempts` times
   */
  carryOut(context: Context, payload: Payload, signal: AbortSignal): Promise<Date | void>;
}

/**
 * Promises work, in the transaction that makes it necessary.
 * @param payload what the work needs, as JSON; never a secret
 * @param dueAt default: immediately after the commit
 */
export async function promiseEffect<Payload>(
  context: Pick<Context, 'db' | 'events' | 'newId' | 'now'>,
  kind: EffectKind<Payload>,
  payload: NoInfer<Payload>,
  dueAt: Date = context.now(),
): Promise<void> {
  if (!context.db.isTransaction)
    throw new Error(`The effect ${kind.name} was promised outside of a transaction`);
  const effect = { id: context.newId(), kind: kind.name, payload, at: context.now() };
  await insertEffect(context.db, effect, dueAt);
  await context.events.publish(context.db, effectsChannel);
}
