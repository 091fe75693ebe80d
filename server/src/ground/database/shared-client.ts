/**
 * One connection for all callers: statements of several callers are sent as they come, and PostgreSQL answers
 * them in their order. That saves the time to take a connection out of a pool, for short reads that no lock
 * can keep waiting.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';

/** A pool that gives the same connection to all, and another one when that is lost. */
export class SharedClient implements PostgresPool {
  readonly options: PostgresPool['options'];
  readonly #pool: pg.Pool;
  #client: Promise<PostgresPoolClient> | undefined;
  /** Gives the connection back to be closed. */
  #close: (() => void) | undefined;

  /** @param pool one of a single connection; it ends with this */
  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.options = pool.options;
  }

  connect(): Promise<PostgresPoolClient> {
    this.#client ??= this.#open();
    return this.#client;
  }

  async end(): Promise<void> {
    if (this.#pool.ending) return;
    // One that is just being opened is waited for.
    await this.#client?.catch(() => undefined);
    this.#forget();
    await this.#pool.end();
  }

  async #open(): Promise<PostgresPoolClient> {
    try {
      const client = await this.#pool.connect();
      const release = client.release.bind(client);
      this.#close = () => release(true);
      client.once('error', () => this.#forget());
      return Object.assign(client, { release: () => undefined });
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  #forget(): void {
    this.#client = undefined;
    this.#close?.();
    this.#close = undefined;
  }
}
