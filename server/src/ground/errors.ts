/** Refusals as values of the contract's error table; one place renders them. */
import { type ErrorCode, errorStatus } from '#contract/schema/errors.ts';

/** A refusal that is sent to the caller. `message` names the field, setting or object and says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/** 429 with the header `Retry-After`. */
export class TooManyRequests extends Refusal {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Name of a field of the request in messages. @param field its path, as `body.name` or `query.limit` */
export function pointerTo(field: string): string {
  return `/${field.replaceAll('.', '/')}`;
}

/** 400 for a field of the request. @param field as `pointerTo` takes it */
export function badField(field: string, message: string): Refusal {
  return new Refusal('bad_request', `${pointerTo(field)} ${message}`);
}

/** 404 for an id in the path that does not exist or may not be seen. */
export function notFound(entity: string, id: string): Refusal {
  return new Refusal('not_found', `No ${entity} with id "${id}" was found`);
}

/** A row that a path names. @throws Refusal 404 where there is none */
export function orNotFound<Row>(row: Row | undefined, entity: string, id: string): Row {
  if (row === undefined) throw notFound(entity, id);
  return row;
}

/** 400 for an id elsewhere in the request that does not exist or may not be seen. */
export function unknownEntity(field: string, entity: string): Refusal {
  return badField(field, `does not match any ${entity} that you have access to`);
}

/** 409: the request is right, the state of things is not. */
export function conflict(message: string): Refusal {
  return new Refusal('conflict', message);
}
