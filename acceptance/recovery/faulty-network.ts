/** The network between an agent and its service, with faults that a test switches on and off. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * `cut`: connections are reset, and new ones too. `half-open`: nothing arrives any more, and nothing is closed; a
 * connection that was open at that time stays like that. `slow`: every connection is, in both directions.
 */
export type Fault = 'cut' | 'half-open' | 'slow';

const slowBytesPerSecond = 4 * 1024;
/** A slow network passes small pieces, as a real one does. */
const pieceBytes = 1024;

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  /** Nothing passes any more. */
  isDead: boolean;
  /** Of the last request. */
  path: string;
}

/** A TCP proxy in front of a service. */
export class FaultyNetwork implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #links = new Set<Link>();
  readonly #toLose = new Set<string>();
  #fault: Fault | null = null;
  /** The calls whose answers were lost. */
  readonly lost: string[] = [];
  /** Connections that found it cut. */
  refused = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((near) => this.#accept(near));
  }

  /** @param target address of the service */
  static async start(target: string): Promise<FaultyNetwork> {
    const network = new FaultyNetwork(target);
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  /** The address under which the agent reaches the service. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  begin(fault: Fault): void {
    this.#fault = fault;
    for (const link of this.#links) {
      if (fault === 'cut') this.#reset(link);
      if (fault === 'half-open') link.isDead = true;
    }
  }

  end(): void {
    this.#fault = null;
  }

  /** The next answer to each of these calls does not arrive, be it one under way. @param calls ends of paths */
  loseAnswers(...calls: readonly string[]): void {
    for (const call of calls) this.#toLose.add(call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) this.#reset(link);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(near: Socket): void {
    if (this.#fault === 'cut') {
      this.refused++;
      near.on('error', () => {});
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(this.#target.port), this.#target.hostname);
    const link: Link = { near, far, isDead: this.#fault === 'half-open', path: '' };
    this.#links.add(link);
    void this.#pass(link, near, far, (bytes) => this.#notePath(link, bytes));
    void this.#pass(link, far, near, () => this.#loseAnswer(link));
  }

  /** @param note called with all that passes; false: it does not */
  async #pass(link: Link, from: Socket, to: Socket, note: (bytes: Buffer) => boolean): Promise<void> {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>) {
        if (link.isDead || !note(bytes)) continue;
        if (this.#fault === 'slow') await this.#passSlowly(link, to, bytes);
        else to.write(bytes);
      }
      if (!link.isDead) to.end();
    } catch {
      if (!link.isDead) this.#reset(link);
    }
  }

  async #passSlowly(link: Link, to: Socket, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      await delay((piece.length / slowBytesPerSecond) * 1000);
      if (link.isDead) return;
      to.write(piece);
    }
  }

  #notePath(link: Link, bytes: Buffer): boolean {
    link.path = /^[A-Z]+ ([^? ]+)/.exec(bytes.toString('latin1', 0, 300))?.[1] ?? link.path;
    return true;
  }

  #loseAnswer(link: Link): boolean {
    const call = [...this.#toLose].find((each) => link.path.endsWith(`/${each}`));
    if (call === undefined) return true;
    this.#toLose.delete(call);
    this.lost.push(call);
    this.#reset(link);
    return false;
  }

  #reset(link: Link): void {
    link.isDead = true;
    this.#links.delete(link);
    for (const socket of [link.near, link.far]) {
      // Connections that are closing cannot be reset: they would stay open.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }
}
