/**
 * The one table of errors: what a refusal is called, which status it travels with, and its body.
 * The body's `message` names the field, setting or object and says what to do.
 */
import { type Static, Type } from 'typebox';

export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export const ErrorBody = Type.Object({
  code: Type.String({ description: 'One of the codes of the error table' }),
  message: Type.String({ description: 'Says what is wrong and what to do' }),
  requestId: Type.String(),
  details: Type.Optional(Type.Unknown()),
});
export type ErrorBody = Static<typeof ErrorBody>;
