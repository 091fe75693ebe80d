/** The memory of a page with its workers, which the debugging protocol tells for each of them. */
import type { Page } from 'playwright-core';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
  readonly result?: unknown;
}

interface HeapUsage {
  readonly usedSize: number;
  /** Of buffers, which are outside of the heap. */
  readonly backingStorageSize?: number;
}

/** A connection of our own: that of Playwright does not reach workers. */
class Connection implements Disposable {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly workers: string[] = [];
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Message));
  }

  static async open(port: number, targetId: string): Promise<Connection> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/devtools/page/${targetId}`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('the browser has no debugging port')), {
        once: true,
      });
    });
    return new Connection(socket);
  }

  #take({ id, method, params, result }: Message): void {
    if (id !== undefined) this.#answers.get(id)?.(result);
    if (method === 'Target.attachedToTarget' && params?.sessionId !== undefined)
      this.workers.push(params.sessionId);
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(
        JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** Memory in use by a page and its workers after garbage collection. @param port of the browser for debugging */
export async function heapMegabytesOf(page: Page, port: number): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await session.detach();
  using connection = await Connection.open(port, targetInfo.targetId);
  await connection.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: true,
  });
  let bytes = 0;
  for (const sessionId of [undefined, ...connection.workers]) {
    await connection.send('HeapProfiler.collectGarbage', {}, sessionId);
    const { usedSize, backingStorageSize = 0 } = (await connection.send(
      'Runtime.getHeapUsage',
      {},
      sessionId,
    )) as HeapUsage;
    bytes += usedSize + backingStorageSize;
  }
  return bytes / 2 ** 20;
}
