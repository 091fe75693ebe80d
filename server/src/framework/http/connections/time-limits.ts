/** Ends requests whose body does not arrive: nothing that a caller sends may stay half-sent. */
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { answerMalformed } from '../replies/render-error.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as it takes, as long as something arrives. */
    readonly isUpload?: boolean;
  }
}

/** The longest time until the headers of a request have arrived, and a connection without one is open. */
export const headersMilliseconds = 20_000;
const checkMilliseconds = 2_000;

export const serverTimes = {
  keepAliveTimeout: 75_000,
  http: {
    headersTimeout: headersMilliseconds,
    connectionsCheckingInterval: checkMilliseconds,
    // A request without it is refused in the form of all other errors.
    requireHostHeader: false,
  },
} as const;

function watchBody(request: FastifyRequest, reply: FastifyReply, settings: ServerSettings): void {
  const { raw } = request;
  const { socket } = raw;
  if (raw.complete || !(socket instanceof Socket)) return;
  const started = performance.now();
  const idle = settings.bodyIdleSeconds * 1000;
  // Ordinary bodies are small: four pauses are enough for all of it.
  const total = request.routeOptions.config.isUpload === true ? Number.POSITIVE_INFINITY : 4 * idle;
  let [bytes, heardAt] = [socket.bytesRead, started];
  const timer = setInterval(
    () => {
      const now = performance.now();
      if (socket.bytesRead !== bytes) [bytes, heardAt] = [socket.bytesRead, now];
      if (raw.complete || socket.destroyed) return clearInterval(timer);
      if (now - heardAt < idle && now - started < total) return undefined;
      clearInterval(timer);
      const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      if (!reply.raw.headersSent) answerMalformed(late, socket, request.id);
      socket.destroySoon();
      return undefined;
    },
    Math.min(checkMilliseconds, idle),
  );
  reply.raw.once('close', () => clearInterval(timer));
}

/** Registers the limits for every route. */
export function limitTimes(app: FastifyInstance, settings: ServerSettings): void {
  app.server.maxConnections = settings.connectionLimit;
  app.addHook('preParsing', async (request, reply) => watchBody(request, reply, settings));
}
