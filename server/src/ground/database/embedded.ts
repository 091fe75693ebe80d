/**
 * The embedded PostgreSQL under supervision: started or found, started again when it dies, ended with us when
 * we close.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serverSettings } from '#settings/server.ts';
import { type AccountSettings, databaseAccount } from './account.ts';
import { type Cluster, openCluster, superuser } from './cluster.ts';
import { type Postmaster, runPostmaster, stopPostmaster } from './postmaster.ts';

/** Connection settings for `pg`: by socket, as the account of our process. */
export interface EmbeddedAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly ssl: false;
}

export interface SupervisorLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const silent: SupervisorLog = { warn: () => undefined, error: () => undefined };

export interface OpenOptions {
  readonly log?: SupervisorLog | undefined;
  /** Default: what the settings have by default. */
  readonly account?: AccountSettings | undefined;
}

const defaultAccount: AccountSettings = {
  slotUidBase: Number(serverSettings.slotUidBase.default),
  slotUidCount: Number(serverSettings.slotUidCount.default),
};

export class EmbeddedPostgres {
  readonly #cluster: Cluster;
  readonly #log: SupervisorLog;
  #postmaster: Postmaster;
  #supervision: Promise<void>;
  #isClosing = false;
  readonly #closing = new AbortController();

  private constructor(cluster: Cluster, postmaster: Postmaster, log: SupervisorLog) {
    this.#cluster = cluster;
    this.#postmaster = postmaster;
    this.#log = log;
    this.#supervision = this.#supervise();
  }

  /**
   * @param place folder below which the cluster lies; the account that PostgreSQL runs as can traverse to it
   * @throws Error that says why PostgreSQL does not start
   */
  static async open(
    place: string,
    { log = silent, account = defaultAccount }: OpenOptions = {},
  ): Promise<EmbeddedPostgres> {
    const cluster = await openCluster(
      place,
      databaseAccount(account, (sentence) => log.warn({}, sentence)),
    );
    return new EmbeddedPostgres(cluster, await runPostmaster(cluster), log);
  }

  get address(): EmbeddedAddress {
    return { host: this.#postmaster.socketFolder, port: 5432, user: superuser, ssl: false };
  }

  get pid(): number {
    return this.#postmaster.pid;
  }

  /** True when this start found a server process that an earlier one left. */
  get isAdopted(): boolean {
    return this.#postmaster.isAdopted;
  }

  async #supervise(): Promise<void> {
    for (;;) {
      await this.#postmaster.ended;
      if (this.#isClosing) return;
      this.#log.warn({ pid: this.#postmaster.pid }, 'embedded PostgreSQL exited; restarting it');
      const next = await this.#startAgain();
      if (next === undefined) return;
      this.#postmaster = next;
      // Closed while it was being started: it is not ended otherwise.
      if (this.#isClosing) return stopPostmaster(this.#cluster, next);
    }
  }

  /** The same socket folder as before: connections are made to it again. */
  async #startAgain(): Promise<Postmaster | undefined> {
    while (!this.#isClosing) {
      try {
        return await runPostmaster(this.#cluster, this.#postmaster.socketFolder);
      } catch (error) {
        this.#log.error({ err: error }, 'embedded PostgreSQL failed to start');
        await delay(1000, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return this.#supervision;
    this.#isClosing = true;
    this.#closing.abort();
    await stopPostmaster(this.#cluster, this.#postmaster);
    await this.#supervision;
  }
}
