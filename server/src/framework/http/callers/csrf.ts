/**
 * The token that a page of ours sends with every change. It follows from the secret of the session's cookie,
 * which no page can read: only a page that may read our answers has it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../../ground/errors.ts';

const csrfHeader = 'x-csrf-token';
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('envarium csrf').digest('base64url');
}

/** @throws Refusal 403 where a change does not carry the token of its session */
export function requireCsrfToken({ method, headers }: FastifyRequest, secret: string): void {
  if (readingMethods.has(method)) return;
  const expected = Buffer.from(csrfTokenOf(secret));
  const found = Buffer.from(String(headers[csrfHeader] ?? ''));
  if (found.length !== expected.length || !timingSafeEqual(found, expected))
    throw new Refusal(
      'forbidden',
      `The header ${csrfHeader} must be the csrfToken of this session: GET /api/users/me returns it`,
    );
}
