/** A receiver of webhooks on this machine, as tests need it. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { disposeAtEnd } from './database.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly address: string;
  readonly received: Received[];
  /** Reply to the next requests, once their body has arrived; default: `taken`. */
  answer: RequestListener;
  /** Resolves once it has this many requests. */
  got(count: number): Promise<void>;
}

/** Open until the tests of the process are over. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const receiver: Receiver = {
    address: '',
    received,
    answer: (_, response) => response.end('taken'),
    got: async (count) => {
      while (received.length < count)
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
        });
    },
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      receiver.answer(request, response);
      for (const resolve of waiting) resolve();
      waiting.clear();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  disposeAtEnd({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return Object.assign(receiver, { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
