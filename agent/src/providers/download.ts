/** Fetching over http with limits: a host that stalls, sends too much or breaks off is an error, never a hang or a part of a file. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../connection.ts';

/** A host said no, or broke off; the message names the address without its query. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  /** The status it answered with; undefined where it did not answer in full. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

const silenceMilliseconds = 30_000;
const attempts = 3;
const pauseMilliseconds = 500;

export interface FetchOptions {
  readonly signal?: AbortSignal;
  readonly authorization?: string;
  /** Longest answer that is taken, in bytes. */
  readonly limit: number;
}

/** @returns the body, tried again after an overload or a broken connection. @throws FetchFailure */
export async function fetchBytes(url: string, options: FetchOptions): Promise<Buffer> {
  return again(options.signal, async () => {
    const parts: Buffer[] = [];
    await receive(url, options, async (body) => {
      for await (const part of body) parts.push(part as Buffer);
    });
    return Buffer.concat(parts);
  });
}

/**
 * Fetches into a file.
 * @returns its size and the SHA-256 of what was received, hexadecimal
 * @throws FetchFailure when the host says no, stalls or breaks off three times
 */
export async function fetchFile(url: string, file: string, options: FetchOptions): Promise<{ sha256: string; bytes: number }> {
  return again(options.signal, async () => {
    const hash = createHash('sha256');
    let bytes = 0;
    await receive(url, options, (body) =>
      pipeline(
        body,
        new Transform({
          transform(part: Buffer, _, done) {
            hash.update(part);
            bytes += part.length;
            done(null, part);
          },
        }),
        createWriteStream(file, { mode: 0o600 }),
      ),
    );
    return { sha256: hash.digest('hex'), bytes };
  });
}

async function receive(url: string, options: FetchOptions, take: (body: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void> {
  const { signal, authorization, limit } = options;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`it was silent for ${silenceMilliseconds / 1000} s`)), silenceMilliseconds);
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]),
      headers: { 'accept-encoding': 'identity', ...(authorization === undefined ? {} : { authorization }) },
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new FetchFailure(`${shown(url)} answers with status ${response.status}`, response.status);
    }
    const expected = response.headers.get('content-length');
    let received = 0;
    const body = response.body ?? new ReadableStream<Uint8Array>();
    const counted = (async function* () {
      for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
        received += part.length;
        if (received > limit) throw new FetchFailure(`${shown(url)} sends more than ${limit} bytes, which no such file has`, 413);
        timer.refresh();
        yield part;
      }
      if (expected !== null && Number(expected) !== received) throw new Error(`it broke off after ${received} of ${expected} bytes`);
    })();
    await take(counted);
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    signal?.throwIfAborted();
    throw new FetchFailure(`${shown(url)} cannot be fetched: ${reasonOf(silence.signal.aborted ? silence.signal.reason : error)}`);
  } finally {
    clearTimeout(timer);
  }
}

async function again<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
  for (let count = 1; ; count += 1) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof FetchFailure) || count >= attempts || !isPassing(error.status)) throw error;
      await delay(pauseMilliseconds * count, undefined, { signal });
    }
  }
}

function isPassing(status: number | undefined): boolean {
  return status === undefined || status >= 500 || status === 429;
}

/** A query may hold a signature that is as good as a password. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
