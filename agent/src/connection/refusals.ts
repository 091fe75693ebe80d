/** Refusals of the server, final or temporary. */

/**
 * A 4xx answer: repeating the call cannot help. `code` is a `ProtocolRefusal` or one of the public error
 * table.
 */
export class ServerRefusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(call: string, status: number, code: string, text: string) {
    super(`${call} was refused with ${status} ${code}: ${text}`);
    this.name = 'ServerRefusal';
    this.status = status;
    this.code = code;
  }
}

export function isRefusal(error: unknown, code: string): error is ServerRefusal {
  return error instanceof ServerRefusal && error.code === code;
}

/** The refusal in a response. */
export function readRefusal(call: string, status: number, text: string): ServerRefusal {
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown };
    return new ServerRefusal(call, status, String(body.code), String(body.message));
  } catch {
    return new ServerRefusal(call, status, 'unreadable', text.slice(0, 500));
  }
}

const longestRetryAfterSeconds = 30;

/** An answer that means "later": overload, or a server that is starting, stopping or broken. */
export class TemporaryFailure extends Error {
  /** The delay that the server requests; 0 if it does not specify one. */
  readonly retryAfterSeconds: number;
  /** Whether the server itself failed on this call: it may do so each time. */
  readonly isFault: boolean;

  constructor(status: number, retryAfter: string | null, text: string) {
    super(`status ${status}: ${text.slice(0, 500)}`);
    this.isFault = status === 500;
    const seconds = Number(retryAfter);
    this.retryAfterSeconds = seconds >= 0 ? Math.min(seconds, longestRetryAfterSeconds) : 0;
  }
}

/** The text of an error with its causes. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
