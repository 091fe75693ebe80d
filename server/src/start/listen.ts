/** Addresses on which the service listens, including one for the agent on this machine. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { protocolBase } from '#protocol/routes.ts';
import { closeApp } from '../framework/http/connections/stop.ts';
import { serverTimes } from '../framework/http/connections/time-limits.ts';
import type { ServerSettings } from '../ground/config/config.ts';

const lookMilliseconds = 20;
/** Requests that take longer when the service stops are cut off. */
const longestMilliseconds = 10_000;

/** A second way to a service with TLS, for the agent on this machine. It leads to the agent protocol only. */
interface LocalDoor extends AsyncDisposable {
  readonly url: string;
}

/**
 * Opens plain HTTP on a free port of the loopback address, which the certificate does not have to name.
 * @throws Error where no port is free
 */
async function openLocalDoor(app: FastifyInstance): Promise<LocalDoor> {
  const server = createServer(serverTimes.http, (request, response) => {
    if (request.url?.startsWith(`${protocolBase}/`)) return app.routing(request, response);
    return response.writeHead(404, { connection: 'close' }).end();
  });
  server.keepAliveTimeout = serverTimes.keepAliveTimeout;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      const timer = setInterval(() => server.closeIdleConnections(), lookMilliseconds);
      const cut = setTimeout(() => server.closeAllConnections(), longestMilliseconds);
      await closed;
      clearInterval(timer);
      clearTimeout(cut);
    },
  };
}

export interface ListenAddresses extends AsyncDisposable {
  /** For people. */
  readonly address: string;
  /** For the agent on this machine. */
  readonly local: string;
}

/** Starts to listen. @throws Error where the address cannot be used */
export async function listen(app: FastifyInstance, settings: ServerSettings): Promise<ListenAddresses> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => closeApp(app));
  await app.listen({ host: settings.host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const isSecure = settings.tlsCertificateFile !== undefined;
  const address = `${isSecure ? 'https' : 'http'}://${host}:${port}`;
  const door = isSecure && settings.builtInAgent ? stack.use(await openLocalDoor(app)) : null;
  const resources = stack.move();
  return {
    address: settings.baseUrl ?? address,
    local: door?.url ?? address,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
