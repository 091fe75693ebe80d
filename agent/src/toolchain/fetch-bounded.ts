/** Reading over http(s) with an end to everything: the wait for an answer, silence, the whole, and the size. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface FetchLimits {
  /** From the request to the answer's head, and between two pieces of its body. */
  readonly silenceSeconds: number;
  readonly wholeSeconds: number;
  readonly bytes: number;
}

export interface FetchRequest {
  /** Without credentials: it stands in messages. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits: FetchLimits;
  /** Ends it; its reason is thrown as it is. */
  readonly signal: AbortSignal;
}

export interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** What could not be fetched, and why: one sentence without credentials. */
export class FetchProblem extends Error {
  override readonly name = 'FetchProblem';
  /** As the server answered; null where it did not. */
  readonly status: number | null;
  /** May be over in a moment. */
  readonly isPassing: boolean;

  constructor(message: string, status: number | null = null, options?: ErrorOptions & { isPassing?: boolean }) {
    super(message, options);
    this.status = status;
    this.isPassing = options?.isPassing ?? passingStatuses.includes(status ?? 0);
  }
}

/** What came could not be put where it belongs: no fault of who sent it. */
class NotKept extends Error {
  constructor(cause: unknown) {
    super('not kept', { cause });
  }
}

const passingStatuses: readonly number[] = [429, 500, 502, 503, 504];
const attempts = 3;
const pauseMilliseconds = 400;

/** Tries again, a moment later, what may be over by then. */
async function withPatience<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof FetchProblem) || !error.isPassing || attempt === attempts) throw error;
    }
    await delay(attempt * pauseMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Reads an answer whole into memory.
 * @param accepted further statuses than 200 that are no problem
 * @throws FetchProblem, or the signal's reason
 */
export async function fetchBytes(request: FetchRequest, accepted: readonly number[] = []): Promise<Fetched> {
  return withPatience(request.signal, async () => {
    const pieces: Uint8Array[] = [];
    const answer = await exchange(request, accepted, async (piece) => void pieces.push(piece));
    return { ...answer, body: Buffer.concat(pieces) };
  });
}

/**
 * Writes an answer's body to a new file of mode 0600 and makes it durable.
 * @returns its SHA-256 in lower-case hex, and its size
 * @throws FetchProblem, or the signal's reason
 */
export async function fetchFile(request: FetchRequest, file: string): Promise<{ sha256: string; bytes: number }> {
  return withPatience(request.signal, () => fetchFileOnce(request, file));
}

async function fetchFileOnce(request: FetchRequest, file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(file, 'w', 0o600);
  try {
    await exchange(request, [], async (piece) => {
      hash.update(piece);
      bytes += piece.length;
      await target.writeFile(piece);
    });
    await target.sync();
  } finally {
    await target.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

async function exchange(
  { url, headers = {}, limits, signal }: FetchRequest,
  accepted: readonly number[],
  take: (piece: Uint8Array) => Promise<void>,
): Promise<{ status: number; headers: Headers }> {
  signal.throwIfAborted();
  const end = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const whole = setTimeout(() => end.abort(problem(url, `took more than ${limits.wholeSeconds} s`)), limits.wholeSeconds * 1000);
  const quiet = () => end.abort(problem(url, `gave no answer for ${limits.silenceSeconds} s`));
  const silence = setTimeout(quiet, limits.silenceSeconds * 1000);
  try {
    const response = await fetch(url, { headers: { accept: '*/*', ...headers }, signal: end.signal });
    silence.refresh();
    if (response.status !== 200 && !accepted.includes(response.status)) {
      await response.body?.cancel().catch(() => undefined);
      throw problem(url, `answered with status ${response.status}`, response.status);
    }
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      silence.refresh();
      bytes += piece.length;
      if (bytes > limits.bytes) throw problem(url, `sends more than the ${limits.bytes} bytes that are read of it`);
      await take(piece).catch((cause: unknown) => {
        throw new NotKept(cause);
      });
    }
    return { status: response.status, headers: response.headers };
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason;
    if (error instanceof NotKept) throw error.cause;
    throw error instanceof FetchProblem
      ? error
      : problem(url, `cannot be read: ${networkReason(error)}`, null, { cause: error, isPassing: isBrokenOff(error) });
  } finally {
    clearTimeout(whole);
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    end.abort();
  }
}

function problem(url: string, what: string, status: number | null = null, options?: ErrorOptions & { isPassing?: boolean }): FetchProblem {
  return new FetchProblem(`${url} ${what}`, status, options);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was broken off',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ENOTFOUND: 'the name of the host is not known',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_SOCKET: 'the connection was broken off',
  CERT_HAS_EXPIRED: "the host's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the authority of the host's certificate is not known",
  SELF_SIGNED_CERT_IN_CHAIN: "the authority of the host's certificate is not known",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the authority of the host's certificate is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the authority of the host's certificate is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "the host's certificate is for another name",
};

function isBrokenOff(error: unknown): boolean {
  return ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (innermost(error) as { code?: string }).code ?? '';
}

/** The innermost cause, in words where there are any: an address in it might carry credentials, a code cannot. */
function networkReason(error: unknown): string {
  const inner = innermost(error);
  const code = codeOf(error);
  return reasons[code] ?? (code === '' ? ((inner as { message?: string }).message ?? String(inner)) : code);
}

function innermost(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner instanceof AggregateError ? inner.errors[0] : inner;
}
