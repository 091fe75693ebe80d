/**
 * A small server on the loopback through which the programs of one run reach something with the agent's help.
 * Its addresses contain a secret, so that other runs on the machine cannot use it.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer extends AsyncDisposable {
  /** The address with its secret, without a slash at its end. */
  readonly url: string;
}

/**
 * Starts it on a free port. Disposing of it ends all of its connections.
 * @param answer answers a request; `path` is what follows the secret, from the slash on. If it throws, the
 * connection is closed.
 */
export async function startLoopbackServer(
  answer: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>,
): Promise<LoopbackServer> {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    if (!url.startsWith(`/${secret}/`)) return void response.writeHead(404).end();
    answer(request, response, url.slice(secret.length + 1)).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${secret}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
