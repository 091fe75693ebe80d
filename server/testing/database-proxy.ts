/** A TCP proxy between a test and its PostgreSQL, whose connections can fall silent without being closed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type pg from 'pg';

export interface DatabaseProxy extends AsyncDisposable {
  /** For clients that go through it. */
  readonly address: pg.ClientConfig;
  /** Forwards nothing more on the connections that are open now, as a firewall that has forgotten them. */
  silence(): void;
}

/** @param target where PostgreSQL is: a host, or the folder of its socket */
export async function openDatabaseProxy(target: pg.ClientConfig): Promise<DatabaseProxy> {
  const { host = '', port = 5432 } = target;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: { ...target, host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    silence: () => {
      for (const socket of open) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
