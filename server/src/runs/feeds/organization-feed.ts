/**
 * The news of an organization, read once per server for all of its readers. A place in the feed is a
 * transaction and a number; what a transaction that is still open may add comes before whatever began after
 * it, so a reader never gets past it.
 */
import type { Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { listOrganizationEvents, oldestOpenTransaction } from '../../rows/feeds/event-store.ts';
import { organizationChannel } from '../../rows/feeds/organization-news-store.ts';

/** Compared by transaction, then number; `at` tells whether what came after it is still kept. */
export interface EventPosition {
  readonly transaction: bigint;
  readonly number: bigint;
  readonly at: number;
}

export interface FeedEvent extends EventPosition {
  readonly projectId: string | null;
  readonly name: string;
  readonly data: unknown;
}

const readAtOnce = 500;
/** Readers that are further behind read the database individually. */
const mostBuffered = 1000;
/** The longest pause between two checks, in case a notice was lost. */
const quietMilliseconds = 15_000;
/** While a transaction is open that may still bring something earlier. */
const unsettledMilliseconds = 50;

export function isAfter(one: EventPosition, other: EventPosition): boolean {
  return (
    one.transaction > other.transaction ||
    (one.transaction === other.transaction && one.number > other.number)
  );
}

/** The place behind everything that is settled. */
export async function currentPlace(context: Context): Promise<EventPosition> {
  const transaction = await oldestOpenTransaction(context.db);
  return { transaction, number: -1n, at: context.now().getTime() };
}

interface Page {
  readonly events: FeedEvent[];
  /** More is there already, or may come before what is there. */
  readonly isMore: boolean;
}

/** Settled events after a place, oldest first. */
async function readAfter(context: Context, organizationId: string, place: EventPosition): Promise<Page> {
  const rows = await listOrganizationEvents(context.db, organizationId, place, readAtOnce);
  const open = rows.findIndex((row) => !row.is_settled);
  const settled = open < 0 ? rows : rows.slice(0, open);
  const events = settled.map((row) => ({
    transaction: BigInt(row.transaction),
    number: BigInt(row.number),
    at: row.at.getTime(),
    projectId: row.project_id,
    name: row.name,
    data: row.data,
  }));
  return { events, isMore: open >= 0 || rows.length === readAtOnce };
}

export class Feed {
  readonly #context: Context;
  readonly #organizationId: string;
  readonly #closing = new AbortController();
  readonly #onEnd: () => void;
  #readers = 0;
  /** The buffer holds everything between `floor` and `head`. */
  #floor: EventPosition;
  #head: EventPosition;
  #buffer: FeedEvent[] = [];
  #waiting = new Set<() => void>();

  constructor(context: Context, organizationId: string, start: EventPosition, onEnd: () => void) {
    this.#context = context;
    this.#organizationId = organizationId;
    this.#floor = start;
    this.#head = start;
    this.#onEnd = onEnd;
    void this.#run();
  }

  get head(): EventPosition {
    return this.#head;
  }

  join(): () => void {
    this.#readers++;
    return () => {
      if (--this.#readers > 0) return;
      this.#onEnd();
      this.#closing.abort();
    };
  }

  /** Follows a place, and leads to the next place; empty while nothing follows yet. */
  async after(
    place: EventPosition,
  ): Promise<{ readonly events: readonly FeedEvent[]; readonly place: EventPosition }> {
    if (isAfter(this.#floor, place)) {
      const floor = this.#floor;
      const { events } = await readAfter(this.#context, this.#organizationId, place);
      // Whatever came before the floor was settled when it was drawn: what was not there now will never be.
      return { events, place: events.at(-1) ?? floor };
    }
    const from = this.#buffer.findIndex((event) => isAfter(event, place));
    const events = from < 0 ? [] : this.#buffer.slice(from, from + readAtOnce);
    return { events, place: events.at(-1) ?? place };
  }

  /** Resolves when there is something after a place, or the time is over. */
  waitFor(
    place: EventPosition,
    { signal, milliseconds }: { signal: AbortSignal; milliseconds: number },
  ): Promise<void> {
    if (isAfter(this.#head, place) || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(finish);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      signal.addEventListener('abort', finish);
      this.#waiting.add(finish);
    });
  }

  #take(events: readonly FeedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.#buffer.push(...events);
    this.#head = last;
    const excess = this.#buffer.length - mostBuffered;
    if (excess > 0) this.#floor = this.#buffer.splice(0, excess).at(-1) ?? this.#floor;
    for (const wake of [...this.#waiting]) wake();
  }

  async #look(): Promise<boolean> {
    try {
      const { events, isMore } = await readAfter(this.#context, this.#organizationId, this.#head);
      this.#take(events);
      return isMore;
    } catch (error) {
      this.#context.log.warn({ err: error }, 'events of an organization cannot be read now');
      return true;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let isNews = false;
    let wake = (): void => undefined;
    const onNews = (): void => {
      isNews = true;
      wake();
    };
    signal.addEventListener('abort', onNews);
    const unsubscribe = this.#context.events.subscribe(organizationChannel(this.#organizationId), onNews);
    while (!signal.aborted) {
      isNews = false;
      const isMore = await this.#look();
      if (isNews && !isMore) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isMore ? unsettledMilliseconds : quietMilliseconds);
        wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
        if (signal.aborted) wake();
      });
    }
    unsubscribe();
  }
}

const feedsOf = perServer(() => new Map<string, Feed>());

/** The feed of an organization on this server, begun by its first reader and ended by its last. */
export async function joinFeed(
  context: Context,
  organizationId: string,
): Promise<{ feed: Feed; leave: () => void }> {
  const known = feedsOf(context);
  const start = known.has(organizationId) ? null : await currentPlace(context);
  let feed = known.get(organizationId);
  if (!feed) {
    // Between the look and here nothing else could have run that ends a feed, but another reader may have
    // begun one.
    const made: Feed = new Feed(context, organizationId, start ?? (await currentPlace(context)), () => {
      if (known.get(organizationId) === made) known.delete(organizationId);
    });
    known.set(organizationId, made);
    feed = made;
  }
  return { feed, leave: feed.join() };
}
