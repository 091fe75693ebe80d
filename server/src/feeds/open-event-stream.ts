/**
 * Begins a stream of server-sent events: from here on the response is the stream's, and errors go to nobody
 * but the log.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

export interface EventStream {
  readonly response: ServerResponse;
  /** Aborted once the reader has gone. */
  readonly gone: AbortSignal;
}

/** @param reply one that nothing was sent of */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.hijack();
  const response = reply.raw;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  });
  return { response, gone: gone.signal };
}
