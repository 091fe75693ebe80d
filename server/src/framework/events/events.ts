/**
 * Publish and subscribe between all servers of one database, by LISTEN and NOTIFY. An event means "look
 * again", never what is new: listeners read the database. Lost events are thereby harmless: after each
 * reconnect every listener is woken once.
 */
import type { Duplex } from 'node:stream';
import type { Kysely, Transaction } from 'kysely';
import pRetry from 'p-retry';
import pg from 'pg';
import { nameLength, nameOf, noticeOf, postgresChannel } from '../../ground/database/notices.ts';
import { keptAlive } from '../../ground/database/open.ts';
import { tell } from '../../rows/feeds/news-store.ts';
import type { Schema } from '../../rows/schema.ts';

/**
 * `payload` is that of `publish`; empty when nothing was, and when the connection was lost and
 * anything may have happened.
 */
export type Listener = (payload: string) => void;

export interface EventsLog {
  warn(fields: object, message: string): void;
}

const longestPayloadBytes = 7000;
/** Notices come unasked: only an unanswered question tells that none can come any more. */
const askEveryMilliseconds = 20_000;
const answerMilliseconds = 10_000;
const farewellMilliseconds = 1000;
/** Pauses between attempts to connect again; forever, because the service is of no use without. */
const reconnecting = { retries: Infinity, minTimeout: 20, factor: 2, maxTimeout: 5000 } as const;

/** Closes a connection; one that has fallen silent would not answer to that either. */
async function end(client: pg.Client | undefined): Promise<void> {
  if (!client) return;
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection;
  const late = setTimeout(() => stream.destroy(), farewellMilliseconds);
  await client.end().catch(() => undefined);
  clearTimeout(late);
}

export class Events implements AsyncDisposable {
  readonly #address: pg.ClientConfig;
  readonly #log: EventsLog | undefined;
  readonly #askEvery: number;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  #lost: Promise<void> = Promise.resolve();
  #keeping: Promise<void> = Promise.resolve();

  private constructor(address: pg.ClientConfig, log: EventsLog | undefined, askEvery: number) {
    this.#address = {
      application_name: 'envarium events',
      connectionTimeoutMillis: answerMilliseconds,
      query_timeout: answerMilliseconds,
      ...keptAlive,
      ...address,
    };
    this.#log = log;
    this.#askEvery = askEvery;
  }

  /**
   * Connects and listens.
   * @param address of the database, for a connection of its own
   * @param askEvery milliseconds between two questions whether the connection still answers
   * @throws Error when the database does not answer now; later losses are repaired
   */
  static async open(
    address: pg.ClientConfig,
    log?: EventsLog,
    askEvery = askEveryMilliseconds,
  ): Promise<Events> {
    const events = new Events(address, log, askEvery);
    await events.#connect();
    events.#keeping = events.#keepConnected();
    return events;
  }

  /**
   * Notifies all listeners of a channel once the transaction commits, and never if it does not.
   * @param payload at most 7000 bytes
   */
  async publish(tx: Kysely<Schema> | Transaction<Schema>, channel: string, payload = ''): Promise<void> {
    if (Buffer.byteLength(payload) > longestPayloadBytes)
      throw new RangeError(`The payload of an event is at most ${longestPayloadBytes} bytes long.`);
    await tell(tx, ({ notices }) => notices.add(noticeOf(channel, payload)));
  }

  /**
   * Calls the listener at each event of the channel, and after each repaired connection.
   * @returns a function that ends the subscription
   */
  subscribe(channel: string, listener: Listener): () => void {
    const name = nameOf(channel);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
    };
  }

  /**
   * Resolves at the next event of the channel, or when the time is over or the signal aborted: the caller
   * looks again in any case. Callers that look and then wait must start waiting before the look ends, else an
   * event between the two is missed.
   * @returns the payload of the event; empty if there was none
   */
  waitFor(
    channel: string,
    { signal, milliseconds }: { signal?: AbortSignal; milliseconds: number },
  ): Promise<string> {
    return new Promise((resolve) => {
      const finish = (payload: string): void => {
        unsubscribe();
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        resolve(payload);
      };
      const stop = () => finish('');
      const unsubscribe = this.subscribe(channel, finish);
      const timer = setTimeout(stop, milliseconds);
      signal?.addEventListener('abort', stop);
      if (signal?.aborted) stop();
    });
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#address);
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    client.once('end', lose);
    client.on('error', () => lose());
    client.on('notification', ({ payload = '' }) => this.#deliver(payload));
    try {
      await client.connect();
      await client.query(`listen ${postgresChannel}`);
    } catch (error) {
      await end(client);
      throw error;
    }
    this.#client = client;
    this.#lost = lost;
    const asking = setInterval(() => void client.query('select 1').catch(() => lose()), this.#askEvery);
    void lost.then(() => clearInterval(asking));
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await this.#lost;
      if (signal.aborted) return;
      this.#log?.warn({}, 'event connection lost');
      void end(this.#client);
      await this.#reconnect().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      // Closed in the meantime, perhaps just as the new connection was established.
      if (signal.aborted) {
        await end(this.#client);
        return;
      }
      for (const listeners of new Map(this.#listeners).values()) this.#call(listeners, '');
    }
  }

  async #reconnect(): Promise<void> {
    await pRetry(() => this.#connect(), {
      ...reconnecting,
      signal: this.#closing.signal,
      onFailedAttempt: ({ error }) => this.#log?.warn({ err: error }, 'event connection not restored yet'),
    });
  }

  #deliver(notification: string): void {
    const listeners = this.#listeners.get(notification.slice(0, nameLength));
    if (listeners) this.#call(listeners, notification.slice(nameLength));
  }

  #call(listeners: ReadonlySet<Listener>, payload: string): void {
    // A copy: a listener may subscribe again.
    for (const listener of new Set(listeners)) {
      try {
        listener(payload);
      } catch (error) {
        this.#log?.warn({ err: error }, 'listener failed');
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await end(this.#client);
    await this.#keeping;
  }
}
