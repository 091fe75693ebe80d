/** For tests: a real Redis or Valkey that keeps nothing, on a free port of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findOnPath } from '#guards/find-on-path.ts';
import { freePort } from '../../tools/suite/free-port.ts';

const program = findOnPath('valkey-server') ?? findOnPath('redis-server');

/** Why tests with a store are skipped; false where they can run. */
export const withoutStore = program === null && 'needs redis-server or valkey-server';

export const storePassword = 'planted-password';

/** A store that can be killed and started again at the same addresses. */
export class StoreServer implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'envarium-store-'));
  readonly #arguments: readonly string[];
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number, extra: readonly string[]) {
    this.#port = port;
    const kept = ['--save', '', '--appendonly', 'no', '--dir', this.#folder, '--requirepass', storePassword];
    const places = ['--bind', '127.0.0.1', '--unixsocket', join(this.#folder, 'store.sock')];
    this.#arguments = ['--port', String(port), ...places, ...kept, ...extra];
  }

  /** @param extra further arguments of the program */
  static async start(extra: readonly string[] = []): Promise<StoreServer> {
    const store = new StoreServer(await freePort(), extra);
    await store.start();
    return store;
  }

  get url(): string {
    return `redis://:${storePassword}@127.0.0.1:${this.#port}`;
  }

  get socketUrl(): string {
    return `unix://:${storePassword}@${join(this.#folder, 'store.sock')}?db=1`;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts it where it was killed. */
  async start(): Promise<void> {
    if (program === null) throw new Error(String(withoutStore));
    const child = spawn(program, this.#arguments, { stdio: 'ignore' });
    this.#process = child;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${program} ended with status ${child.exitCode}`);
      const socket = connect(this.#port, '127.0.0.1');
      const isUp = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      if (isUp) return;
      await delay(20);
    }
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Closes connections in place of the killed store, until this many have come. */
  async refuse(count: number): Promise<void> {
    let left = count;
    const server = createServer((socket) => {
      socket.destroy();
      if (--left === 0) server.close();
    }).listen(this.#port, '127.0.0.1');
    await once(server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
