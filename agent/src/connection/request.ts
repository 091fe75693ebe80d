/**
 * One HTTP request by Node's own client, which takes a third of the processor time of `fetch` and honors the same
 * proxies and certificates.
 */
import { createReadStream, statSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Body: text, bytes, or a file, which is streamed. */
export type RequestBody = string | Uint8Array | { readonly file: string };

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody | undefined;
  /** For how long nothing may arrive or be sent; of the largest body, the last part may take longer. */
  readonly quietSeconds: number;
  readonly signal: AbortSignal;
}

/** Bytes that the system may still have to send when it has accepted the whole body, and its minimum rate. */
const mostBufferedBytes = 512 * 1024;
const slowestBytesPerSecond = 4 * 1024;

/** A connection that waited for its next request may be closed just when that is sent. */
const lostConnection = new Set(['ECONNRESET', 'EPIPE']);

/**
 * @returns the answer, whatever its status; redirects are not followed
 * @throws the network's error, or the signal's reason
 */
export async function send(url: string, request: HttpRequest): Promise<IncomingMessage> {
  try {
    return await sendOnce(url, request);
  } catch (error) {
    if (!(error instanceof LostConnection)) throw error;
    return sendOnce(url, request);
  }
}

class LostConnection extends Error {}

function sendOnce(url: string, request: HttpRequest): Promise<IncomingMessage> {
  const { method, headers, body, quietSeconds, signal } = request;
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? httpsRequest : httpRequest;
    const bytes = lengthOf(body);
    const seconds = quietSeconds + Math.min(bytes ?? 0, mostBufferedBytes) / slowestBytesPerSecond;
    const length = bytes === null ? {} : { 'content-length': String(bytes) };
    const options = { method, headers: { ...headers, ...length }, timeout: seconds * 1000, signal };
    const outgoing = start(url, options, resolve);
    outgoing.once('timeout', () =>
      outgoing.destroy(new Error(`nothing was received or sent for ${Math.ceil(seconds)} seconds`)),
    );
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const isLost = outgoing.reusedSocket && lostConnection.has(error.code ?? '');
      reject(isLost ? new LostConnection(error.message, { cause: error }) : error);
    });
    if (isFile(body)) pipeline(createReadStream(body.file), outgoing).catch(reject);
    else outgoing.end(body);
  });
}

function isFile(body: RequestBody | undefined): body is { readonly file: string } {
  return typeof body === 'object' && 'file' in body;
}

/** In bytes; null without a body. */
function lengthOf(body: RequestBody | undefined): number | null {
  if (body === undefined) return null;
  return isFile(body) ? statSync(body.file).size : Buffer.byteLength(body);
}

/** The text of an answer, for a message about it; empty if it does not arrive. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  return text(answer).catch(() => '');
}
