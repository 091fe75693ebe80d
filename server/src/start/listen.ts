/** Where the service listens. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ServerSettings } from '../config.ts';

export interface Places {
  /** For people. */
  readonly address: string;
  /** For the agent on this machine. */
  readonly local: string;
}

/** Starts to listen. @throws Error where the address cannot be used */
export async function listen(app: FastifyInstance, settings: ServerSettings): Promise<Places> {
  await app.listen({ host: settings.host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const local = `http://${host}:${port}`;
  return { address: settings.baseUrl ?? local, local };
}
