/**
 * Ends requests whose body does not arrive, because nothing that a caller sends may stay half-sent, and connections
 * whose caller was answered before its body was read.
 */
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

/** Less than this is read and discarded, so that the connection can be used again. */
const smallBytes = 64 * 1024;
/** Time for the rest of a small body after the reply. */
const restMilliseconds = 10_000;
/** Time for a caller to read the reply before the connection is reset. */
const lingerMilliseconds = 1_000;

function mayBeLarge({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBytes;
}

/** Stops reading from a caller that is still sending, and ends the connection after the answer. */
function closeUnread(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  const { socket } = raw;
  if (raw.complete || !(socket instanceof Socket)) return;
  if (!mayBeLarge(request)) {
    const timer = setTimeout(() => raw.complete || socket.destroy(), restMilliseconds);
    raw.once('close', () => clearTimeout(timer));
    return;
  }
  // A request that no one has begun to read would be read to its end and discarded.
  raw.read(0);
  raw.pause();
  // With this header, the connection would be reset before the caller could read the answer.
  reply.removeHeader('connection');
  reply.raw.once('finish', () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMilliseconds);
    socket.once('close', () => clearTimeout(timer));
  });
}

/**
 * Bodies begin to arrive only where they are needed: callers that ask first (`Expect: 100-continue`) are
 * invited after their admission, and what others have sent of a large body is left unread.
 */
export function closeUnreadBodies(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.addHook('preParsing', async ({ raw }, reply) => {
    if (/^100-continue$/i.test(raw.headers.expect ?? '') && !raw.complete) reply.raw.writeContinue();
  });
  app.addHook('onSend', async (request, reply) => closeUnread(request, reply));
}
