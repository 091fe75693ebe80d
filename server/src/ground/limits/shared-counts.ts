/**
 * Counts in a Redis or Valkey that several servers share. Each server also counts alone, and continues with that
 * while the store does not answer: limits are then those of one server, and no request fails.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import type { Logger } from 'pino';
import { type Count, type Counts, windowMilliseconds } from './counts.ts';
import type { LocalCounts } from './local-counts.ts';

type CountsClient = ReturnType<typeof openClient>;

/** A request does not wait longer for the store. */
const answerMilliseconds = 250;
const connectMilliseconds = 2_000;
/** Between attempts to reach a store that was lost. */
const pauseMilliseconds = 1_000;

function openClient(url: string) {
  return createClient({
    url,
    // We connect again ourselves, with a new client: a store may hang with its connection open.
    socket: { reconnectStrategy: false, connectTimeout: connectMilliseconds },
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
  });
}

async function inTime<Value>(work: Promise<Value>, milliseconds: number): Promise<Value> {
  const over = new AbortController();
  const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new Error(`No answer within ${milliseconds} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
}

/** The connection to the store, which is opened again whenever it is lost. */
export class SharedStore implements AsyncDisposable {
  readonly #url: string;
  readonly #log: Pick<Logger, 'warn' | 'info'>;
  readonly #closing = new AbortController();
  #client: CountsClient | undefined;
  #recovering: Promise<void> = Promise.resolve();

  private constructor(url: string, log: Pick<Logger, 'warn' | 'info'>) {
    this.#url = url;
    this.#log = log;
  }

  /** Opens the store. One that does not answer is logged, and looked for in the background. */
  static async open(url: string, log: Pick<Logger, 'warn' | 'info'>): Promise<SharedStore> {
    const store = new SharedStore(url, log);
    try {
      store.#client = await store.#connect();
    } catch (error) {
      store.#lose(undefined, error as Error);
    }
    return store;
  }

  /**
   * Asks the store.
   * @returns null while it does not answer
   */
  async ask<Value>(question: (client: CountsClient) => Promise<Value>): Promise<Value | null> {
    const client = this.#client;
    if (!client) return null;
    try {
      return await inTime(question(client), answerMilliseconds);
    } catch (error) {
      this.#lose(client, error as Error);
      return null;
    }
  }

  async #connect(): Promise<CountsClient> {
    const client = openClient(this.#url);
    client.on('error', (error: Error) => this.#client === client && this.#lose(client, error));
    try {
      await inTime(client.connect(), connectMilliseconds);
      await inTime(client.ping(), answerMilliseconds);
      return client;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  /** The first of many requests that notice it logs it. */
  #lose(client: CountsClient | undefined, error: NodeJS.ErrnoException): void {
    if (this.#closing.signal.aborted || this.#client !== client) return;
    this.#client = undefined;
    client?.destroy();
    const reason = error.message || error.code;
    this.#log.warn(
      { reason },
      'the store in ENVARIUM_RATE_LIMIT_STORE_URL does not answer: this server counts requests alone until it does',
    );
    this.#recovering = this.#recover();
  }

  async #recover(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const client = await this.#connect();
        if (signal.aborted) return client.destroy();
        this.#client = client;
        return this.#log.info('the store in ENVARIUM_RATE_LIMIT_STORE_URL answers again');
      } catch {
        // Logged when it was lost.
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#recovering;
    this.#client?.destroy();
    this.#client = undefined;
  }
}

export class SharedCounts implements Counts {
  readonly #local: LocalCounts;
  readonly #store: SharedStore;
  readonly #prefix: string;

  /** @param prefix of the keys in the store */
  constructor(local: LocalCounts, store: SharedStore, prefix: string) {
    this.#local = local;
    this.#store = store;
    this.#prefix = prefix;
  }

  async add(name: string, limit: number): Promise<Count> {
    const alone = this.#local.addNow(name);
    // The store need not hear of what this server refuses anyway.
    if (alone.count > limit) return alone;
    const key = this.#prefix + name;
    const begin = { expiration: { type: 'PX', value: windowMilliseconds }, condition: 'NX' } as const;
    const answer = await this.#store.ask((client) =>
      client.multi().set(key, 0, begin).incr(key).pTTL(key).execTyped(),
    );
    return answer === null ? alone : asCount(answer[1], answer[2]);
  }

  async read(name: string): Promise<Count> {
    const key = this.#prefix + name;
    const answer = await this.#store.ask((client) => client.multi().get(key).pTTL(key).execTyped());
    const alone = this.#local.peek(name);
    const shared = answer === null ? alone : asCount(Number(answer[0] ?? 0), answer[1]);
    return alone.count > shared.count ? alone : shared;
  }

  peek(name: string): Count {
    return this.#local.peek(name);
  }
}

/** @param milliseconds negative for a key that ended in between */
function asCount(count: number, milliseconds: number): Count {
  return { count, milliseconds: milliseconds >= 0 ? milliseconds : windowMilliseconds };
}
