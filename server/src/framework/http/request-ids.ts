/**
 * The service gives each request its own id, for its log and the audit trail. An id that the caller sends is
 * only logged as well: callers could otherwise give different requests the same id.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyServerOptions } from 'fastify';

/** What the caller calls its request, where it is short and harmless. */
function clientRequestId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

export function requestIds(
  newId: () => string,
): Pick<FastifyServerOptions, 'genReqId' | 'childLoggerFactory'> {
  return {
    genReqId: () => newId(),
    childLoggerFactory: (log, bindings, options, { headers }) => {
      const id = clientRequestId(headers);
      return log.child(id === undefined ? bindings : { ...bindings, clientRequestId: id }, options);
    },
  };
}
