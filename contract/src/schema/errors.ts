/**
 * The one table of errors: what a refusal is called, its status, what causes it and what
 * helps. A body's `message` names the field, setting or object of the particular case and says what to do.
 */
import { type Static, Type } from 'typebox';

interface ErrorEntry {
  readonly status: number;
  /** Cause, for any operation. */
  readonly cause: string;
  /** Remedy for the caller. */
  readonly remedy: string;
}

export const errors = {
  bad_request: {
    status: 400,
    cause:
      'The request is not valid HTTP or JSON, or a field, a parameter or a header has a value that it cannot ' +
      'have. Also an id in a body or query that does not exist or is not visible to the caller.',
    remedy:
      'Correct what the message names by its path, such as `/body/name`. Repeating it unchanged cannot help.',
  },
  unauthorized: {
    status: 401,
    cause: 'The request has no credentials, or they are not valid: unknown, wrong, expired or revoked.',
    remedy: 'Send the id of an API key and its secret as HTTP Basic credentials.',
  },
  forbidden: {
    status: 403,
    cause: 'The caller is known, but does not have the right that the message names.',
    remedy: 'Ask an administrator of the organization for the right, or use other credentials.',
  },
  not_found: {
    status: 404,
    cause: 'The path is unknown, or nothing with the id in the path exists or is visible to the caller.',
    remedy:
      'Compare the path with `/api/openapi.json` and the id with the list of such objects. What another ' +
      'organization owns reads like something that does not exist.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  request_timeout: {
    status: 408,
    cause: 'The request did not arrive completely in time.',
    remedy: 'Repeat it over a better connection; send large files with the operations for uploads.',
  },
  conflict: {
    status: 409,
    cause:
      'The request is right, but the present state of things does not allow it: a name is taken, something is ' +
      'in use, locked or archived, or the `Idempotency-Key` was used for another request.',
    remedy: 'Read the object again, change what the message names, and repeat the request.',
  },
  gone: {
    status: 410,
    cause: 'What the request refers to existed once and can no longer be used: it has expired or was used.',
    remedy: 'Ask for a new one; the old one never becomes valid again.',
  },
  precondition_failed: {
    status: 412,
    cause:
      'The object is no longer in the version that the header `If-Match` names: another request was faster.',
    remedy: 'Read the object again, apply the change to it, and send the new `ETag` as `If-Match`.',
  },
  payload_too_large: {
    status: 413,
    cause: 'The body, decompressed, is larger than the operation accepts.',
    remedy: 'Send less at a time, or raise the setting that the message names.',
  },
  uri_too_long: {
    status: 414,
    cause: 'A part of the path is longer than any id or name.',
    remedy: 'Check the id in the path.',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The body has a `Content-Type` or a `Content-Encoding` that the operation does not read.',
    remedy: 'Send JSON as `application/json`, compressed as gzip, deflate, br or zstd, or not at all.',
  },
  unprocessable: {
    status: 422,
    cause: 'The body is well-formed, but its values contradict each other or a rule outside of the request.',
    remedy: 'Correct the value that the message names.',
  },
  rate_limited: {
    status: 429,
    cause: 'Too many requests, or too many with wrong credentials, came from one address.',
    remedy: 'Wait as long as the header `Retry-After` says.',
  },
  headers_too_large: {
    status: 431,
    cause: 'The line and headers of the request together are larger than 16 KB.',
    remedy: 'Send fewer or shorter headers; long values belong into the body.',
  },
  internal: {
    status: 500,
    cause: 'A defect of the service.',
    remedy: 'Look up the request id in the log of the service and report the defect.',
  },
  unavailable: {
    status: 503,
    cause: 'The service or its database cannot answer at the moment; the message says why.',
    remedy: 'Repeat the request after the time in `Retry-After`; changes with the same `Idempotency-Key`.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof errors;

/** The status of each code. */
export const errorStatus = Object.fromEntries(
  Object.entries(errors).map(([code, { status }]) => [code, status]),
) as { readonly [Code in ErrorCode]: (typeof errors)[Code]['status'] };

export const ErrorBody = Type.Object({
  code: Type.String({ description: 'One of the codes of the error table' }),
  message: Type.String({ description: 'Says what is wrong and what to do' }),
  requestId: Type.String(),
  details: Type.Optional(Type.Unknown()),
});
export type ErrorBody = Static<typeof ErrorBody>;

/** The table as a page of the documentation, in Markdown. */
export function errorsPage(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, cause, remedy }]) => `| ${status} | \`${code}\` | ${cause} | ${remedy} |`,
  );
  return [
    '# Errors',
    '',
    'Every error below `/api` is JSON: `{code, message, requestId, details?}`. The code is one of this table; the message names the field, setting',
    'or object and says what to do; the request id is also in the header `x-request-id` and in the log of the service. Programs compare the',
    'code, not the message. Below `/api/mcp`, an error is the message alone, as plain text. Which statuses an operation can answer with is in',
    '`/api/openapi.json`. How to repeat requests and avoid lost updates: [api-manners.md](api-manners.md). Generated from `contract/src/schema/errors.ts`.',
    '',
    '| Status | Code | Cause | Remedy |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
