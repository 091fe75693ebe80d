/** Several servers on one PostgreSQL, with what they share, and a client that uses another one when one fails. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Client, createClient } from '#contract/client/client.ts';
import { isTemporary, isTemporaryStatus } from '#contract/client/temporary-errors.ts';
import { type AgentProcessOptions, type RunningAgent, startAgent } from '../agents.ts';
import { type PostgreSQL, startPostgreSQL } from '../postgresql.ts';
import { type RunningService, removeScratch, scratchFolder, startService } from '../service.ts';

export interface InstallationOptions {
  /** Default: 2 servers. */
  readonly servers?: number;
  readonly maxConnections?: number;
  /** Of every server. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** First requests of a client go to the first server that answered; they are sent once more, to the next one. */
export interface RetryingClient {
  readonly client: Client;
  /** Requests that were sent once more. */
  repeated(): number;
}

/** The address of a request at another server. */
export function atServer(url: string | undefined, input: Parameters<typeof fetch>[0]): string {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  return `${url}${pathname}${search}`;
}

/** Servers are numbered from 0; each keeps its address when it is started again. */
export class Installation implements AsyncDisposable {
  readonly folder: string;
  readonly database: PostgreSQL;
  readonly servers: RunningService[] = [];
  readonly #settings: Readonly<Record<string, string>>;
  readonly #secret = randomBytes(32).toString('base64url');
  readonly #agents: RunningAgent[] = [];

  private constructor(folder: string, database: PostgreSQL, settings: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.database = database;
    this.#settings = settings;
  }

  static async start({ servers = 2, maxConnections, settings = {} }: InstallationOptions = {}) {
    const folder = await scratchFolder();
    const database = await startPostgreSQL(folder, maxConnections === undefined ? {} : { maxConnections });
    const installation = new Installation(folder, database, settings);
    try {
      for (let index = 0; index < servers; index++) await installation.startServer(index);
    } catch (error) {
      await installation[Symbol.asyncDispose]();
      throw error;
    }
    return installation;
  }

  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  server(index: number): RunningService {
    const found = this.servers[index];
    if (!found) throw new Error(`There is no server ${index}`);
    return found;
  }

  /** Starts a server, for the first time or again. */
  async startServer(index: number): Promise<void> {
    const before = this.servers[index];
    this.servers[index] = await startService({
      folder: join(this.folder, `server-${index}`),
      settings: {
        ...(before ? { ENVARIUM_PORT: new URL(before.url).port } : {}),
        DATABASE_URL: this.database.url,
        ENVARIUM_BLOB_DIR: join(this.folder, 'blobs'),
        ENVARIUM_SEALING_KEY_FILE: join(this.folder, 'sealing.key'),
        ENVARIUM_GIT_LOCAL_PATHS: join(this.folder, 'repositories'),
        ENVARIUM_BOOTSTRAP_API_SECRET: this.#secret,
        ENVARIUM_BUILT_IN_AGENT: 'false',
        ENVARIUM_HEARTBEAT_SECONDS: '1',
        ENVARIUM_LOG_LEVEL: 'warn',
        ...this.#settings,
      },
    });
  }

  /** An agent that knows all servers. @param first the one that it tries first */
  async startAgent(
    place: number,
    first: number,
    settings: AgentProcessOptions['settings'] = {},
  ): Promise<RunningAgent> {
    const urls = [...this.urls.slice(first), ...this.urls.slice(0, first)];
    const agent = await startAgent(this.server(first), { folder: this.folder, place, urls, settings });
    this.#agents.push(agent);
    return agent;
  }

  /** Kills a server, and waits for its end. */
  async kill(index: number): Promise<void> {
    const { process: child } = this.server(index);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** A client that sends a request once more, to the next server, when one fails. */
  retryingClient(first: number): RetryingClient {
    const { urls } = this;
    const { key, secret } = this.server(first);
    let current = first;
    let repeated = 0;
    const send: typeof fetch = (input, init) => fetch(atServer(urls[current], input), init);
    const sendTwice: typeof fetch = async (input, init) => {
      const used = current;
      const moveOn = () => {
        if (used === current) current = (used + 1) % urls.length;
        repeated++;
      };
      try {
        const response = await send(input, init);
        if (!isTemporaryStatus(response.status)) return response;
        await response.body?.cancel();
      } catch (error) {
        if (!isTemporary(error)) throw error;
      }
      init?.signal?.throwIfAborted();
      moveOn();
      return send(input, init);
    };
    return {
      client: createClient({ url: urls[first] ?? '', key, secret, fetch: sendTwice }),
      repeated: () => repeated,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent[Symbol.asyncDispose]()));
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.database[Symbol.asyncDispose]();
    await removeScratch(this.folder);
  }
}
