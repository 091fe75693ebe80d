/** For tests: a server that answers with what the interfaces of clouds are documented and recorded to answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An answer by method and path with query, as `GET /v1/a?b=c`. */
export type Recorded = Readonly<Record<string, { readonly status: number; readonly body: unknown }>>;

export interface ReplayServer extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly address: string;
  readonly requests: {
    readonly what: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly form: URLSearchParams;
  }[];
}

/** Starts a server on a free port; what is not recorded gets status 404. */
export async function startReplayServer(recorded: Recorded): Promise<ReplayServer> {
  const requests: ReplayServer['requests'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const what = `${request.method} ${request.url}`;
    requests.push({ what, headers: request.headers, form: new URLSearchParams(await text(request)) });
    const { status, body } = recorded[what] ?? { status: 404, body: {} };
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
