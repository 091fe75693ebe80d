/** Reads the JSON of a body that has arrived as text. */
import type { FastifyRequest } from 'fastify';
import type { Operation } from '#contract/schema/operation.ts';
import { Refusal } from '../../ground/errors.ts';
import { bodyText } from './read-text.ts';

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
