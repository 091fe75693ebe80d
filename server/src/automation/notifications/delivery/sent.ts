/** Result of one attempt to send a notification. */
import type {
  NotificationError,
  NotificationRequest,
  NotificationResponse,
} from '#contract/notifications/shapes.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';

export interface SentNotification {
  readonly request: NotificationRequest | null;
  readonly response: NotificationResponse | null;
  /** Null: it was taken. */
  readonly error: NotificationError | null;
  /** True where another attempt cannot end better. */
  readonly isFinal?: boolean;
  /** Of an e-mail that some recipients were refused: those who got it. */
  readonly deliveredTo?: readonly string[];
}

export const timeLimitMilliseconds = 10_000;
export const mostAnswerBytes = 4096;

/** Shorter secrets occur in ordinary words, too. */
const leastSecretCharacters = 6;

/** A foreign text: without secrets of ours, and without characters that nothing can store. */
export function shownText(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= leastSecretCharacters)
    .toSorted((a, b) => b.length - a.length)
    .reduce((masked, secret) => masked.replaceAll(secret, sensitiveMask), text)
    .replaceAll('\0', '\ufffd');
}

const sslCodes =
  /^(ERR_TLS|ERR_SSL|CERT_|EPROTO$|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|ETLS$)/;

/** Of libraries that replace the code by their own. */
const sslWords = /\bcertificate\b|\bTLS\b|\bSSL\b/;

/** Error codes of the network, with our texts. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'No host has this name: check the address',
  EAI_AGAIN: 'The name of the host cannot be looked up now',
  ECONNREFUSED: 'The host refuses the connection: check the port',
  ECONNRESET: 'The host ended the connection without an answer',
};

/** A failure of the connection as replies have it. */
export function errorOf(error: unknown, secrets: readonly string[]): NotificationError {
  const { name = '', code = '', message = String(error) } = error as Partial<NodeJS.ErrnoException>;
  const isLate = name === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT';
  if (isLate) return { type: 'timeout', message: `No answer within ${timeLimitMilliseconds / 1000} seconds` };
  const type = sslCodes.test(code) || sslWords.test(message) ? 'ssl-error' : 'unknown';
  const text = message || code || 'The connection failed';
  const reason = reasons[code];
  return { type, message: shownText(reason === undefined ? text : `${reason} (${text})`, secrets) };
}
