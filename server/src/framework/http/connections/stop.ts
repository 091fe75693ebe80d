/**
 * Graceful stop of a server: it announces the stop, so that callers go elsewhere, answers the requests that have
 * begun, and only then closes.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';

const problemName = 'stop';
/** Requests that take longer are cut off. */
const longestMilliseconds = 10_000;
const lookMilliseconds = 20;

/** From now on `/readyz` answers 503, and each answer closes its connection. */
export function announceStop({ problems }: Pick<Context, 'problems'>): void {
  problems.set(problemName, 'This server is stopping');
}

/** Connections on which nothing has arrived yet: Node does not count them as idle. */
const unused = new WeakMap<FastifyInstance, Set<Socket>>();

/** Prepares an app for `closeApp`. */
export function prepareStop(app: FastifyInstance, { problems }: Pick<Context, 'problems'>): void {
  const sockets = new Set<Socket>();
  unused.set(app, sockets);
  // Those of TLS appear twice: as they are, and when their handshake is over.
  for (const event of ['connection', 'secureConnection'])
    app.server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  app.addHook('onRequest', async ({ raw }, reply) => {
    sockets.delete(raw.socket);
    if (problems.has(problemName)) reply.header('connection', 'close');
  });
}

/**
 * Accepts no further connections, and waits for the answers to open requests. Requests that would wait for long
 * must have been ended before.
 * @param milliseconds after this time, what is still open is cut off
 */
export async function closeApp(app: FastifyInstance, milliseconds = longestMilliseconds): Promise<void> {
  const cutAt = performance.now() + milliseconds;
  const timer = setInterval(() => {
    const isOver = performance.now() >= cutAt;
    if (isOver) app.server.closeAllConnections();
    else app.server.closeIdleConnections();
    for (const socket of unused.get(app) ?? []) if (isOver || socket.bytesRead === 0) socket.destroy();
  }, lookMilliseconds);
  try {
    await app.close();
  } finally {
    clearInterval(timer);
  }
}
