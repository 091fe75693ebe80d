/** Reads the body of a request, within limits that hold while it arrives, and its JSON. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Operation } from '#contract/schema/operation.ts';
import { type JsonLimits, JsonScan } from '#guards/json-bytes.ts';
import { Refusal } from '../../ground/errors.ts';

/**
 * Types that are read as JSON: what programs call it, and what they send without thinking about it. Forms are not
 * among them: pages of other sites can send those.
 */
const jsonTypes =
  /^\s*(application\/([\w.!#$&^-]+\+)?json|text\/(plain|json)|application\/octet-stream|\*\/\*)\s*(;|$)/i;

/** The database stores no NUL character and no half of a character, and our fields have no use for one. */
function refuseUnstorable(key: string, value: unknown): unknown {
  for (const text of [key, value]) {
    if (typeof text !== 'string' || (!text.includes('\0') && text.isWellFormed())) continue;
    const what = text.includes('\0') ? 'a NUL character' : 'half of a character';
    throw new Refusal(
      'bad_request',
      `/body has ${what} at "${key.toWellFormed().replaceAll('\0', '\uFFFD')}", which no field can contain`,
    );
  }
  return value;
}

function isText({ body }: Operation): boolean {
  return (body as { type?: unknown } | undefined)?.type === 'string';
}

/**
 * @returns what the body says; undefined where the operation takes none or reads its bytes itself
 * @throws Refusal 400 where it is missing, is not UTF-8 or is not JSON, 415 where it says that it is something else
 */
export function parseBody(
  operation: Operation,
  { body, headers }: Pick<FastifyRequest, 'body' | 'headers'>,
): unknown {
  if (!operation.body || operation.bodyKind === 'binary') return undefined;
  const text = bodyText(body);
  if (text.trim() === '') {
    if (operation.bodyOptional) return {};
    throw new Refusal('bad_request', '/body is required');
  }
  requireJsonType(headers['content-type']);
  // The body of an operation that takes a text: as it is, or as a JSON string.
  if (isText(operation) && !text.trim().startsWith('"')) return refuseUnstorable('', text.trim());
  const value = parseJson(text);
  return value === null && operation.bodyOptional ? {} : value;
}

/** @throws Refusal 415 for a type that is not read as JSON */
export function requireJsonType(type: string | undefined): void {
  if (type !== undefined && !jsonTypes.test(type))
    throw new Refusal(
      'unsupported_media_type',
      `The header Content-Type has "${type}": send the body as JSON, as application/json`,
    );
}

/** @throws Refusal 400 for what is not JSON, or has characters that no field can contain */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, refuseUnstorable) as unknown;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('bad_request', `/body is not valid JSON: ${(error as Error).message}`);
  }
}

export const bodyJsonLimits: JsonLimits = { depth: 64, values: 100_000 };

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
        const problem = scan.push(part);
        if (problem)
          throw new Refusal(
            problem.limit === 'depth' ? 'bad_request' : 'payload_too_large',
            `/body ${problem.message}`,
          );
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
