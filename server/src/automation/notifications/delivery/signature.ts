/** Signature that proves to a receiver that a webhook comes from us: HMAC-SHA256 with the secret of the endpoint. */
import { createHmac } from 'node:crypto';

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/**
 * @param body exactly as it is sent
 * @returns two signatures: of the body alone, and one that the time is a part of, so that an old request cannot be
 * sent again by a third party
 */
export function signatureHeaders(secret: string, body: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'x-envarium-signature': hmac(secret, body),
    'x-envarium-timestamp': timestamp,
    'x-envarium-timestamp-signature': hmac(secret, `${timestamp}.${body}`),
  };
}
