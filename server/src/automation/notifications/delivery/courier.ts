/**
 * Delivers what waits, on each server some of it. Every endpoint has a few places of its own, and every organization
 * a part of all places: a slow endpoint delays no other one. After a failure an endpoint is left alone for a
 * while that grows, and then tried with one delivery.
 */
import type { Context } from '../../../framework/context.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import {
  type DeliveryRow,
  deliveriesChannel,
  putBack,
  storeAttempt,
  takeDeliveries,
  type WaitingEndpoint,
  waitingEndpoints,
} from '../../../rows/notifications/delivery-store.ts';
import { clearFailures, countFailure, getEndpoint } from '../../../rows/notifications/endpoint-store.ts';
import { notificationOf } from '../messages/notification.ts';
import { sendNotification } from './send-notification.ts';
import type { SentNotification } from './sent.ts';

const places = { ofEndpoint: 4, ofOrganization: 16, ofServer: 64 } as const;
/** Longer than any attempt takes: after that its server is dead. */
const leaseMilliseconds = 60_000;
const firstPauseMilliseconds = 5000;
const longestPauseMilliseconds = 3_600_000;
const longestRestMilliseconds = 300_000;
/** Maximum delay until the deliveries of a dead server, or of a lost notice, are found. */
const longestSleepMilliseconds = 15_000;

/** The pause of a delivery after a failure. @param attempts so far, at least 1 */
function pauseMilliseconds(attempts: number): number {
  return Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** Math.min(attempts - 1, 20));
}

/** Pause before an endpoint is tried again. @param failures one after the other, at least 1 */
function restMilliseconds(failures: number): number {
  return Math.min(longestRestMilliseconds, firstPauseMilliseconds * 2 ** Math.min(failures - 1, 20));
}

async function record(
  context: Context,
  row: DeliveryRow,
  {
    sent,
    startedAt,
    failures,
  }: { readonly sent: SentNotification; readonly startedAt: Date; readonly failures: number },
): Promise<void> {
  const now = context.now();
  const isLast = sent.isFinal === true || now >= row.give_up_at;
  const status = sent.error === null ? 'delivered' : isLast ? 'failed' : 'waiting';
  const dueAt = new Date(now.getTime() + pauseMilliseconds(row.attempts));
  const durationMilliseconds = Math.max(0, now.getTime() - startedAt.getTime());
  const deliveredTo = [...(row.delivered_to ?? []), ...(sent.deliveredTo ?? [])];
  const ended = { ...sent, status, dueAt, startedAt, durationMilliseconds, deliveredTo } as const;
  await inTransaction(context, async ({ db }) => {
    await storeAttempt(db, row, ended, now);
    // A mail server that accepts some of the recipients works.
    if (sent.error === null || sent.deliveredTo) await clearFailures(db, row.endpoint_id);
    else if (sent.isFinal !== true) {
      const until = new Date(now.getTime() + restMilliseconds(failures + 1));
      await countFailure(db, row.endpoint_id, failures, until);
    }
  });
}

/** Sends one delivery that was taken, and stores the result. */
async function deliver(context: Context, row: DeliveryRow, closing: AbortSignal): Promise<void> {
  const endpoint = await getEndpoint(context.db, row.endpoint_id);
  if (!endpoint) return;
  const startedAt = context.now();
  const notification = await notificationOf(context, row);
  const sent = await sendNotification(context, endpoint, notification, closing, row.delivered_to ?? []);
  // A server that stops does not count its attempt: the next one starts over.
  const isUndone = sent.error !== null && sent.deliveredTo === undefined;
  if (closing.aborted && isUndone) await putBack(context.db, [row.id], context.now());
  else await record(context, row, { sent, startedAt, failures: endpoint.failures });
}

/** Number of deliveries in progress, by any key. */
class Counts {
  readonly #counts = new Map<string, number>();
  all = 0;

  of(...ids: readonly string[]): number[] {
    return ids.map((id) => this.#counts.get(id) ?? 0);
  }

  add(ids: readonly string[], change: 1 | -1): void {
    this.all += change;
    for (const id of ids) {
      const count = (this.#counts.get(id) ?? 0) + change;
      if (count > 0) this.#counts.set(id, count);
      else this.#counts.delete(id);
    }
  }
}

/** Those who deliver on one server. */
class Courier {
  readonly #context: Context;
  readonly #closing: AbortSignal;
  readonly #counts = new Counts();
  readonly #underWay = new Set<Promise<void>>();
  #wake: () => void = () => undefined;
  #isWoken = false;

  constructor(context: Context, closing: AbortSignal) {
    this.#context = context;
    this.#closing = closing;
  }

  get underWay(): ReadonlySet<Promise<void>> {
    return this.#underWay;
  }

  readonly wake = (): void => {
    this.#isWoken = true;
    this.#wake();
  };

  #freePlaces({ id, organization_id, failures }: WaitingEndpoint): number {
    const [ofEndpoint = 0, ofOrganization = 0] = this.#counts.of(id, organization_id);
    const most = failures > 0 ? 1 : places.ofEndpoint;
    return Math.min(
      most - ofEndpoint,
      places.ofOrganization - ofOrganization,
      places.ofServer - this.#counts.all,
    );
  }

  #start(row: DeliveryRow): void {
    const ids = [row.endpoint_id, row.organization_id];
    this.#counts.add(ids, 1);
    const running = deliver(this.#context, row, this.#closing)
      .catch((error: unknown) =>
        this.#context.log.error({ err: error, deliveryId: row.id }, 'a notification could not be delivered'),
      )
      .finally(() => {
        this.#counts.add(ids, -1);
        this.#underWay.delete(running);
        this.wake();
      });
    this.#underWay.add(running);
  }

  /** Begins what is due and has a place. @returns milliseconds until something else is due */
  async begin(): Promise<number> {
    const { db, now } = this.#context;
    let untilNext = longestSleepMilliseconds;
    for (const endpoint of await waitingEndpoints(db)) {
      const until = endpoint.ready_at.getTime() - now().getTime();
      // One without a free place gets its turn when one becomes free.
      if (until > 0) untilNext = Math.min(untilNext, until);
      const most = until > 0 ? 0 : this.#freePlaces(endpoint);
      if (most <= 0 || this.#closing.aborted) continue;
      const leasedUntil = new Date(now().getTime() + leaseMilliseconds);
      for (const row of await takeDeliveries(db, endpoint.id, { most, now: now(), leasedUntil }))
        this.#start(row);
    }
    return untilNext;
  }

  /** Until the next notice, the end of a delivery, or the time is over. */
  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isWoken)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#isWoken = false;
  }
}

/** Delivers until the server stops. @param closing aborted then; what is under way is left to the next server */
export async function deliverUntil(context: Context, closing: AbortSignal): Promise<void> {
  const courier = new Courier(context, closing);
  const unsubscribe = context.events.subscribe(deliveriesChannel, courier.wake);
  closing.addEventListener('abort', courier.wake);
  try {
    while (!closing.aborted) await courier.sleep(await courier.begin());
  } finally {
    unsubscribe();
    closing.removeEventListener('abort', courier.wake);
    await Promise.all(courier.underWay);
  }
}

/** Delivers everything that is due now, and waits for it. */
export async function deliverDue(context: Context): Promise<void> {
  const courier = new Courier(context, new AbortController().signal);
  for (;;) {
    await courier.begin();
    if (courier.underWay.size === 0) return;
    await Promise.race(courier.underWay);
  }
}
