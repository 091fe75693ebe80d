/** TLS of the service's own port, where the settings name a certificate. */
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { answerMalformed } from '../replies/render-error.ts';
import { contextOptions, followPair, type Pair } from './certificate.ts';
import { headersMilliseconds, serverTimes } from './time-limits.ts';

/** The first byte of TLS: a record of the handshake. No method of HTTP begins with it. */
const handshakeRecord = 22;

/** Options of the app: a server for HTTP, or one for HTTPS if there is a pair. */
export function serverOptions(settings: Context['settings'], pair: Pair | null) {
  const { http, keepAliveTimeout } = serverTimes;
  if (pair === null) return { http, keepAliveTimeout };
  const secured = { ...http, ...contextOptions(settings, pair), handshakeTimeout: headersMilliseconds };
  return { https: secured, keepAliveTimeout };
}

/** Answers plain HTTP on the port for HTTPS, which TLS itself would only end without a word. */
function answerPlainHttp(server: Server, newId: () => string): void {
  const handshakes = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const end = () => socket.destroy();
    socket.setTimeout(headersMilliseconds, end).on('error', end);
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return end();
      socket.setTimeout(0).removeListener('timeout', end);
      if (first[0] !== handshakeRecord)
        return answerMalformed(Object.assign(new Error(), { code: 'PLAIN_HTTP' }), socket, newId());
      socket.unshift(first);
      for (const handshake of handshakes) handshake.call(server, socket);
      return undefined;
    });
  });
}

/** Prepares an app that was made with `serverOptions`: it follows changes of the pair until it closes. */
export function secure(app: FastifyInstance, context: Context, pair: Pair): void {
  const server = app.server as unknown as Server;
  answerPlainHttp(server, context.newId);
  const stop = followPair(context.settings, context, pair, (found) =>
    server.setSecureContext(contextOptions(context.settings, found)),
  );
  app.addHook('onClose', async () => stop());
}
