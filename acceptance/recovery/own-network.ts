/**
 * A network namespace of its own, and the cables that lead out of it. Packets on a cable that was pulled vanish
 * without an answer. Only root can make such a namespace.
 */
import { execFile } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { findProgram } from '../programs.ts';

const run = promisify(execFile);
const ip = (...args: string[]) => run('ip', args);

/** Why there is none on this machine; false if there is. */
export async function noNamespaces(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root, to make a network namespace';
  if ((await findProgram('ip')) === null) return 'needs ip (package iproute2)';
  return run('unshare', ['--net', 'true']).then(
    () => false as const,
    (error: Error) => `network namespaces cannot be made here: ${error.message}`,
  );
}

export class OwnNetwork implements AsyncDisposable {
  readonly #name: string;
  readonly #servers: Server[] = [];

  private constructor(name: string) {
    this.#name = name;
  }

  /** @param name of at most eight letters that no other namespace of this machine has */
  static async start(name: string): Promise<OwnNetwork> {
    await ip('netns', 'add', name);
    const network = new OwnNetwork(name);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
    return network;
  }

  /** Command line in front of a program's: it has this network and no other. */
  get around(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /**
   * Lays a cable to a server of this machine, which listens on its loopback address.
   * @param number of the cable, from 1 on
   * @returns the server's address for programs in the namespace
   */
  async lay(number: number, server: string): Promise<string> {
    const { hostname, port } = new URL(server);
    const cable = this.#cable(number);
    // Of the network for benchmarks (RFC 2544), which no route leads to.
    const [here, there] = [`198.18.${number}.1`, `198.18.${number}.2`];
    await ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.#name);
    await ip('-n', this.#name, 'link', 'set', 'eth0', 'name', `eth${number}`);
    await ip('address', 'add', `${here}/30`, 'dev', cable);
    await ip('-n', this.#name, 'address', 'add', `${there}/30`, 'dev', `eth${number}`);
    await ip('link', 'set', cable, 'up');
    await ip('-n', this.#name, 'link', 'set', `eth${number}`, 'up');
    const entry = createServer((near) => {
      const far = connect(Number(port), hostname);
      pipeline(near, far, near).catch(() => undefined);
    });
    this.#servers.push(entry);
    await new Promise<void>((resolve) => entry.listen(Number(port), here, resolve));
    return `http://${here}:${port}`;
  }

  async pull(number: number): Promise<void> {
    await ip('link', 'set', this.#cable(number), 'down');
  }

  async plugIn(number: number): Promise<void> {
    await ip('link', 'set', this.#cable(number), 'up');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.close();
    await ip('netns', 'delete', this.#name);
  }

  #cable(number: number): string {
    return `${this.#name}-${number}`;
  }
}
