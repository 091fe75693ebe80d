/**
 * Temporary failures of a request, after which sending it again can help. All code that retries a request
 * decides by this file.
 */

/** Codes of connections that broke after the request may have been read. */
const brokenCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

/** Codes of connections that were never made, for reasons that may be temporary. */
const unreachableCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error at the end of the chain of causes, where the reason is: `fetch` itself only says "fetch failed". */
export function innermostError(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  const [first] = inner instanceof AggregateError ? inner.errors : [];
  return first === undefined ? inner : innermostError(first);
}

/** The code of the innermost error, such as `ECONNREFUSED`; empty if it has none. */
export function errorCode(error: unknown): string {
  const code = (innermostError(error) as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/** Whether a status reports trouble that may be temporary: a timeout, a rate limit, or a failing server. */
export function isTemporaryStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** Whether a connection broke after the request may have been read: only repeatable requests are sent again. */
export function isBrokenConnection(error: unknown): boolean {
  return brokenCodes.has(errorCode(error));
}

/**
 * Whether sending a request again can help.
 * @param error of `fetch`, or one with the `status` of the response (0: there was none)
 */
export function isTemporary(error: unknown): boolean {
  const status = (error as { status?: unknown } | null | undefined)?.status;
  if (typeof status === 'number' && status !== 0) return isTemporaryStatus(status);
  const code = errorCode(error);
  if (code !== '') return brokenCodes.has(code) || unreachableCodes.has(code);
  // Browsers do not say why a request failed.
  return !(error instanceof SyntaxError);
}
