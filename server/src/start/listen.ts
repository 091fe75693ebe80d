/** Address on which the service listens. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { closeApp } from '../framework/http/connections/stop.ts';
import type { ServerSettings } from '../ground/config/config.ts';
import { openLocalDoor } from './local-door.ts';

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
