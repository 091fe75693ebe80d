/** Reads the body of a request within limits that hold while it arrives. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../ground/errors.ts';
import { type JsonLimits, JsonScan } from './json-scan.ts';

function tooLarge(limit: number): Refusal {
  return new Refusal('payload_too_large', `The body, decompressed, is larger than ${limit} bytes`);
}

/**
 * Reads a body up to the route's `bodyLimit`. What comes after a limit is left unread.
 * @param payload the body, decompressed
 * @throws Refusal 413 or 400 that names the limit; 400 where the body breaks off
 */
export function readBytes(
  request: FastifyRequest,
  payload: IncomingMessage,
  json: JsonLimits,
): Promise<Buffer<ArrayBuffer>> {
  const limit = request.routeOptions.bodyLimit ?? 0;
  return new Promise((resolve, reject) => {
    const scan = new JsonScan(json);
    const parts: Buffer[] = [];
    let size = 0;
    const stop = (error: unknown): void => {
      payload.off('data', onData).off('end', onEnd).off('close', onError).pause();
      // A listener for errors stays: what follows the refusal must not end the service.
      reject(error);
    };
    const onData = (part: Buffer): void => {
      try {
        size += part.length;
        if (size > limit) throw tooLarge(limit);
        scan.push(part);
        parts.push(part);
      } catch (error) {
        stop(error);
      }
    };
    const onEnd = (): void => {
      payload.off('close', onError);
      resolve(Buffer.concat(parts, size));
    };
    const onError = (error?: Error & { statusCode?: number }): void => {
      if (error?.statusCode !== undefined) stop(error);
      else stop(new Refusal('bad_request', 'The body broke off before its end'));
    };
    if (Number(request.headers['content-length'] ?? 0) > limit) stop(tooLarge(limit));
    else payload.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError).resume();
  });
}

/** The same as text, or the bytes where they are not UTF-8: `bodyText` refuses those. */
export async function readText(
  request: FastifyRequest,
  payload: IncomingMessage,
  json: JsonLimits,
): Promise<string | Buffer> {
  const bytes = await readBytes(request, payload, json);
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
}

/**
 * @param body as `readText` has read it
 * @returns empty where there is none
 * @throws Refusal 400 where it is not UTF-8
 */
export function bodyText(body: unknown): string {
  if (Buffer.isBuffer(body))
    throw new Refusal('bad_request', '/body is not valid UTF-8: send it in that encoding');
  return typeof body === 'string' ? body : '';
}
