/** Renders errors: those of requests, and of bytes that are not a request. */
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasTextErrors } from '#contract/mcp/text-errors.ts';
import { type ErrorBody, type ErrorCode, errorStatus } from '#contract/schema/errors.ts';
import { apiBase } from '#contract/schema/operation.ts';
import { whyUnavailable } from '../../../ground/database/unavailable.ts';
import { Refusal, TooManyRequests } from '../../../ground/errors.ts';
import { isScim, scimContentType, scimErrorBody } from './scim-refusal.ts';

/** After a database was lost, it takes a few seconds until it is back. */
const retryAfterSeconds = 5;

/** The code of a status that a library has chosen. */
function codeOf(status: number): ErrorCode {
  const [code = 'bad_request'] = (Object.keys(errorStatus) as ErrorCode[]).filter(
    (each) => errorStatus[each] === status,
  );
  return code;
}

function asRefusal(error: FastifyError | Refusal): Refusal | null {
  if (error instanceof Refusal) return error;
  const { statusCode = 500 } = error;
  if (statusCode < 500) return new Refusal(codeOf(statusCode), error.message);
  const reason = whyUnavailable(error);
  return reason === null ? null : new Refusal('unavailable', reason);
}

/** Browsers send the headers of `Sec-Fetch` only over https. */
function isBrowser({ headers }: FastifyRequest): boolean {
  const signs = [headers['sec-fetch-mode'], headers.cookie, headers.origin];
  return (
    signs.some((sign) => sign !== undefined) ||
    headers['user-agent']?.startsWith('Mozilla/') === true ||
    headers.accept?.includes('text/html') === true
  );
}

/** Whether a request, to a known path or not, is one of those whose errors are plain text. */
function wantsText({ url }: FastifyRequest): boolean {
  const path = url.split('?', 1)[0] ?? '';
  return path.startsWith(apiBase) && hasTextErrors(path.slice(apiBase.length));
}

/** Answers any error of a request in the form of the contract, or of SCIM. */
export function renderError(
  error: FastifyError | Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = asRefusal(error);
  if (!refusal) request.log.error({ err: error }, 'request failed');
  else if (refusal.code === 'unavailable') request.log.warn({ reason: error.message }, 'request given up');
  const answered =
    refusal ??
    new Refusal(
      'internal',
      'The service failed to process this request; its log contains the cause under this request id',
    );
  const { code, message, status, details } = answered;
  // A browser would ask for a password in a window of its own, and send it along from pages of other sites.
  if (status === 401 && !isBrowser(request))
    reply.header(
      'www-authenticate',
      isScim(request) ? 'Bearer realm="envarium"' : 'Basic realm="envarium", charset="UTF-8"',
    );
  if (error instanceof TooManyRequests) reply.header('retry-after', String(error.retryAfterSeconds));
  if (status === 503) reply.header('retry-after', String(retryAfterSeconds));
  if (isScim(request))
    return reply
      .status(status)
      .type(scimContentType)
      .send(JSON.stringify(scimErrorBody(answered)));
  if (wantsText(request)) return reply.status(status).type('text/plain; charset=utf-8').send(message);
  const body: ErrorBody = {
    code,
    message,
    requestId: request.id,
    ...(details === undefined ? {} : { details }),
  };
  return reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Errors of the HTTP parser, by their code. */
const malformed: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `The headers of the request are too large: together with its first line they may have ${maxHeaderSize} bytes`,
  ],
  PLAIN_HTTP: ['bad_request', 'This port speaks HTTPS only: use an https:// address'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive completely in time'],
};

/**
 * Answers what Node would answer in a form of its own: a missing Host header, unknown expectations, and
 * requests for a tunnel.
 */
export function answerOddRequests(app: FastifyInstance, newId: () => string): void {
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  app.server.on('connect', (_request, socket) =>
    answerMalformed(new Error('CONNECT is for proxies'), socket as Socket, newId()),
  );
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
      throw new Refusal('bad_request', 'The header Host is required');
  });
}

/**
 * Answers what is not HTTP in the same form as every other error, and closes the connection.
 * @param requestId the id of the answer
 */
export function answerMalformed(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [code, message] = malformed[error.code ?? ''] ?? [
    'bad_request',
    `The request is not valid HTTP: ${error.message}`,
  ];
  const status = errorStatus[code];
  const body = JSON.stringify({ code, message, requestId } satisfies ErrorBody);
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
