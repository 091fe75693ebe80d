/** Takes a reply over from Fastify, for streams: the headers that hooks have set are sent as with any other reply. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * From here on the response is the caller's, and errors go to nobody but the log.
 * @param reply one that nothing was sent of
 * @returns the response, with status 200, and its headers sent
 */
export function hijackReply(reply: FastifyReply, headers: OutgoingHttpHeaders): ServerResponse {
  reply.hijack();
  const ofHooks = reply.getHeaders() as OutgoingHttpHeaders;
  return reply.raw.writeHead(200, { ...ofHooks, ...headers });
}
