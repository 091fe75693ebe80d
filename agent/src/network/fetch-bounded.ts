/**
 * Fetches over http(s) with limits on everything: the wait for an answer, silence, the total time and the
 * size. Proxies and certificates are those of the process.
 */
import { createHash } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import pRetry from 'p-retry';
import { errorCode, isTemporary, isTemporaryStatus } from '#contract/client/temporary-errors.ts';
import { RefusedAddress } from '#guards/private-addresses.ts';
import { guardedFetch, type TrustedHosts } from './guarded-fetch.ts';
import { networkReason } from './network-reason.ts';

/** Space that a download leaves free. */
const spareBytes = 64 * 1024 ** 2;

export interface FetchLimits {
  /** From the request to the answer's head, and between two pieces of its body. */
  readonly silenceSeconds: number;
  readonly wholeSeconds: number;
  readonly bytes: number;
}

export interface FetchRequest {
  /**
   * Without credentials. Messages omit its query, which may contain a signature that is as good as a
   * password.
   */
  readonly url: string;
  /** Headers with credentials are not sent to another host after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits: FetchLimits;
  /** The address is determined by code or a registry: it must be public, or of one of these hosts. */
  readonly trusted?: TrustedHosts;
  /** Ends the fetch; its reason is thrown as it is. */
  readonly signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** A failed fetch and its reason: one sentence without credentials. */
export class FetchProblem extends Error {
  override readonly name = 'FetchProblem';
  /** The status of the server's answer; null without one. */
  readonly status: number | null;
  /** Whether the problem may be temporary. */
  readonly isTemporary: boolean;

  constructor(
    message: string,
    status: number | null = null,
    options?: ErrorOptions & { isTemporary?: boolean },
  ) {
    super(message, options);
    this.status = status;
    this.isTemporary = options?.isTemporary ?? (status !== null && isTemporaryStatus(status));
  }
}

/** Whether the answer could not be written, which is not the sender's fault. */
class NotKept extends Error {
  constructor(cause: unknown) {
    super('not kept', { cause });
  }
}

/** Retries temporary failures, twice. */
async function withRetries<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  return pRetry(work, {
    retries: 2,
    minTimeout: 400,
    signal,
    shouldRetry: ({ error }) => error instanceof FetchProblem && error.isTemporary,
  });
}

/**
 * Reads a whole answer into memory.
 * @param accepted statuses besides 200 that are not a problem
 * @throws FetchProblem, or the signal's reason
 */
export async function fetchBytes(
  request: FetchRequest,
  accepted: readonly number[] = [],
): Promise<FetchResponse> {
  return withRetries(request.signal, async () => {
    const pieces: Uint8Array[] = [];
    const answer = await exchange(request, accepted, async (piece) => void pieces.push(piece));
    return { ...answer, body: Buffer.concat(pieces) };
  });
}

/**
 * Writes an answer's body to a file of mode 0600, from the beginning with each attempt; the caller checks its
 * checksum.
 * @returns its SHA-256 in lower-case hex, and its size
 * @throws FetchProblem, or the signal's reason
 */
export async function fetchFile(
  request: FetchRequest,
  file: string,
): Promise<{ sha256: string; bytes: number }> {
  return withRetries(request.signal, () => fetchFileOnce(request, file));
}

async function fetchFileOnce(
  request: FetchRequest,
  file: string,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(file, 'w', 0o600);
  try {
    await exchange(
      inOnePiece(request),
      [],
      async (piece) => {
        hash.update(piece);
        bytes += piece.length;
        await target.writeFile(piece);
      },
      (headers) => requireSpace(file, Number(headers.get('content-length') ?? 0)),
    );
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await target.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** @throws an ENOSPC error if the disk cannot hold the file */
async function requireSpace(file: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  if (bytes <= bavail * bsize - spareBytes) return;
  const megabytes = (bytes / 1e6).toFixed(0);
  throw Object.assign(
    new Error(`no space left on device: a download of ${megabytes} MB does not fit into ${dirname(file)}`),
    { code: 'ENOSPC' },
  );
}

/** Files are fetched as published: no compression on the way. */
function inOnePiece(request: FetchRequest): FetchRequest {
  return { ...request, headers: { 'accept-encoding': 'identity', ...request.headers } };
}

async function keep(work: Promise<void>): Promise<void> {
  await work.catch((cause: unknown) => {
    throw new NotKept(cause);
  });
}

async function exchange(
  { url, headers = {}, limits, trusted, signal }: FetchRequest,
  accepted: readonly number[],
  take: (piece: Uint8Array) => Promise<void>,
  begin: (headers: Headers) => Promise<void> = async () => {},
): Promise<{ status: number; headers: Headers }> {
  signal.throwIfAborted();
  refuseAddress(url);
  let hasBegun = false;
  const end = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const whole = setTimeout(
    () => end.abort(problem(url, `took more than ${limits.wholeSeconds} s`)),
    limits.wholeSeconds * 1000,
  );
  const quiet = () =>
    end.abort(problem(url, `gave no answer for ${limits.silenceSeconds} s`, null, { isTemporary: hasBegun }));
  const silence = setTimeout(quiet, limits.silenceSeconds * 1000);
  try {
    const request = { headers: { accept: '*/*', ...headers }, signal: end.signal };
    const response =
      trusted === undefined ? await fetch(url, request) : await guardedFetch(url, request, trusted);
    silence.refresh();
    hasBegun = true;
    if (response.status !== 200 && !accepted.includes(response.status)) {
      await response.body?.cancel().catch(() => undefined);
      throw problem(url, `answered with status ${response.status}`, response.status);
    }
    await keep(begin(response.headers));
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      silence.refresh();
      bytes += piece.length;
      if (bytes > limits.bytes)
        throw problem(url, `sends more than ${limits.bytes} bytes, which is the limit`);
      await keep(take(piece));
    }
    return { status: response.status, headers: response.headers };
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason;
    if (error instanceof NotKept) throw error.cause;
    if (error instanceof RefusedAddress)
      throw problem(url, `is not used: ${error.message}`, null, { cause: error });
    throw error instanceof FetchProblem
      ? error
      : problem(url, `cannot be read: ${networkReason(error)}`, null, {
          cause: error,
          isTemporary: errorCode(error) !== '' && isTemporary(error),
        });
  } finally {
    clearTimeout(whole);
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    end.abort();
  }
}

function problem(
  url: string,
  what: string,
  status: number | null = null,
  options?: ErrorOptions & { isTemporary?: boolean },
): FetchProblem {
  return new FetchProblem(`${shown(url)} ${what}`, status, options);
}

/** The address may come from a third party: a registry specifies where its files are. */
function refuseAddress(url: string): void {
  const address = URL.parse(url);
  if (address === null || !['http:', 'https:'].includes(address.protocol))
    throw new FetchProblem(`${JSON.stringify(url.slice(0, 200))} is not an http or https address`);
  if (address.username !== '' || address.password !== '')
    throw problem(url, 'contains a password and is not used');
}

function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
