/** Carries out what the outbox holds: each server some of it, each effect by one server at a time. */

import { inTransaction } from '../../ground/database/transaction.ts';
import {
  claimDueEffect,
  deleteEffect,
  type EffectRow,
  nextDueAt,
  postponeEffect,
  storeFailure,
} from '../../rows/effects/effect-store.ts';
import type { Context } from '../context.ts';
import { type EffectKind, effectsChannel } from './effect-kind.ts';

/** Failures until a person has to look: with the pauses below, about two and a half hours. */
const mostAttempts = 12;
const firstPauseSeconds = 5;
const longestPauseSeconds = 3600;
/** Work that takes longer counts as failed. */
const mostWorkSeconds = 60;
const atOnce = 4;
/** Rows that a dead server leaves behind are found after this time at the latest. */
const longestSleepSeconds = 15;

/** The pause after a failure, growing with each. @param attempts failures so far, at least 1 */
function pauseSeconds(attempts: number): number {
  return Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** (attempts - 1));
}

type Kinds = ReadonlyMap<string, EffectKind<unknown>>;

async function work(context: Context, kinds: Kinds, effect: EffectRow, closing: AbortSignal) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => stopping.abort(new Error('The server stops'));
  const late = () => stopping.abort(new Error(`The work took longer than ${mostWorkSeconds} seconds`));
  const limit = setTimeout(late, mostWorkSeconds * 1000);
  closing.addEventListener('abort', stop);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  try {
    return await Promise.race([kinds.get(effect.kind)?.carryOut(context, effect.payload, signal), aborted]);
  } finally {
    clearTimeout(limit);
    closing.removeEventListener('abort', stop);
  }
}

async function recordFailure(context: Context, effect: EffectRow, error: unknown): Promise<void> {
  const attempts = effect.attempts + 1;
  const now = context.now();
  const isLast = attempts >= mostAttempts;
  await storeFailure(context.db, effect.id, {
    attempts,
    error: error instanceof Error ? error.message : String(error),
    dueAt: new Date(now.getTime() + pauseSeconds(attempts) * 1000),
    failedAt: isLast ? now : null,
  });
  const fields = { err: error, effectId: effect.id, kind: effect.kind, attempts };
  if (isLast) context.log.error(fields, 'effect failed and will not be retried');
  else context.log.warn(fields, 'effect failed and will be retried');
}

/**
 * Carries out one effect. It is claimed first, so that no other server takes it; if this one dies, the database
 * ends the claim and the row is due again. The transaction of the claim writes nothing before the work has ended.
 * @returns false where nothing is due
 */
async function carryOutOne(
  context: Context,
  kinds: Kinds,
  closing: AbortSignal,
  onFound: () => void = () => undefined,
): Promise<boolean> {
  return inTransaction(context, async (claim) => {
    const effect = await claimDueEffect(claim.db, [...kinds.keys()], context.now());
    if (!effect || closing.aborted) return false;
    onFound();
    try {
      const again = await work(context, kinds, effect, closing);
      if (again) await postponeEffect(claim.db, effect.id, again);
      else await deleteEffect(claim.db, effect.id);
    } catch (error) {
      // A server that stops leaves the row as it is: the next one starts over.
      if (!closing.aborted) await recordFailure(claim, effect, error);
    }
    return true;
  });
}

async function sleepSeconds(context: Context, kinds: Kinds): Promise<number> {
  const now = context.now();
  const next = await nextDueAt(context.db, [...kinds.keys()], now);
  return next ? Math.min(longestSleepSeconds, (next.getTime() - now.getTime()) / 1000) : longestSleepSeconds;
}

function byName(kinds: readonly EffectKind<unknown>[]): Kinds {
  const known = new Map(kinds.map((kind) => [kind.name, kind]));
  if (known.size < kinds.length) throw new Error('Two kinds of effects have the same name');
  return known;
}

/** Carries out everything that is due now, one after the other. */
export async function carryOutDue(context: Context, kinds: readonly EffectKind<unknown>[]): Promise<void> {
  while (await carryOutOne(context, byName(kinds), new AbortController().signal));
}

/** Those that carry out effects on this server: a notice wakes one of them, and each that finds work another. */
class Shift {
  readonly #sleeping = new Set<() => void>();
  #notices = 0;
  #isWatched = false;

  /** Number of notices so far. */
  get notices(): number {
    return this.#notices;
  }

  readonly onNotice = (): void => {
    this.#notices++;
    this.wakeOne();
  };

  readonly wakeOne = (): void => {
    const [wake] = this.#sleeping;
    wake?.();
  };

  /** For the end: a loop that is about to sleep does not. */
  readonly wakeAll = (): void => {
    this.#notices++;
    for (const wake of [...this.#sleeping]) wake();
  };

  /** Sleeps until it is woken. The first that sleeps also wakes when the next effect is due. */
  async sleep(secondsUntilDue: () => Promise<number>): Promise<void> {
    const isWatcher = !this.#isWatched;
    this.#isWatched = true;
    const before = this.#notices;
    const seconds = isWatcher ? await secondsUntilDue() : null;
    if (before === this.#notices)
      await new Promise<void>((resolve) => {
        const timer = seconds === null ? undefined : setTimeout(() => wake(), seconds * 1000);
        const wake = (): void => {
          clearTimeout(timer);
          this.#sleeping.delete(wake);
          resolve();
        };
        this.#sleeping.add(wake);
      });
    if (isWatcher) this.#isWatched = false;
  }
}

async function carryOutUntil(
  closing: AbortSignal,
  context: Context,
  kinds: Kinds,
  shift: Shift,
): Promise<void> {
  while (!closing.aborted) {
    const before = shift.notices;
    let sleepAtLeast = 0;
    try {
      while (!closing.aborted && (await carryOutOne(context, kinds, closing, shift.wakeOne)));
    } catch (error) {
      context.log.error({ err: error }, 'effects cannot be carried out at the moment');
      sleepAtLeast = firstPauseSeconds;
    }
    if (closing.aborted || (sleepAtLeast === 0 && before !== shift.notices)) continue;
    await shift.sleep(
      async () => sleepAtLeast || sleepSeconds(context, kinds).catch(() => firstPauseSeconds),
    );
  }
}

/** Workers for some of the kinds. */
function startWorkers(context: Context, kinds: Kinds, closing: AbortSignal): AsyncDisposable {
  const shift = new Shift();
  const unsubscribe = context.events.subscribe(effectsChannel, shift.onNotice);
  const running = Array.from({ length: atOnce }, () => carryOutUntil(closing, context, kinds, shift));
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      shift.wakeAll();
      await Promise.all(running);
    },
  };
}

/**
 * Starts to carry out effects, several at once, and slow ones apart from the others: woken by each promise and
 * by the due time of the next one.
 * Dispose the result to stop; what is in progress is left to the next server.
 * @param kinds those that this version of the program knows; other rows wait for a server that knows them
 */
export function startEffects(context: Context, kinds: readonly EffectKind<unknown>[]): AsyncDisposable {
  const known = byName(kinds);
  const closing = new AbortController();
  const groups = Map.groupBy(known, ([, { isSlow = false }]) => isSlow);
  const running = [...groups.values()].map((group) => startWorkers(context, new Map(group), closing.signal));
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all(running.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
