/**
 * Credentials in a request: `Authorization` (Basic, and leniently Bearer with the same
 * content), or the cookie of a browser's session. Scripts cannot read the cookie, and other sites' pages send it
 * only when they lead people here. Behind TLS it is named so that browsers accept it only from this host, over TLS.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { isUuid } from '../../../rows/entity-home.ts';
import { arrivedOverTls } from './forwarded.ts';

export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** @returns the credentials of the header, or null where it has none that can be read */
export function readCredentials(header: string | undefined): Credentials | null {
  const match = /^(?:basic|bearer)\s+([A-Za-z0-9+/_=-]+)\s*$/i.exec(header ?? '');
  if (!match?.[1]) return null;
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  // No id of ours has a NUL character, and the database compares none.
  return colon > 0 && !text.includes('\0')
    ? { id: text.slice(0, colon), secret: text.slice(colon + 1) }
    : null;
}

/** The id and the secret of the token of an identity provider; null where the header has none. */
export function readScimToken(header: string | undefined): Credentials | null {
  const match = /^bearer\s+([0-9a-f-]{36})\.([\w-]{1,100})\s*$/i.exec(header ?? '');
  const [, id, secret] = match ?? [];
  return id === undefined || secret === undefined ? null : { id: id.toLowerCase(), secret };
}

export interface SessionSecret {
  readonly id: string;
  readonly secret: string;
}

/** Whether the caller reaches the service over TLS, which may end at a proxy. */
export function isOverTls({ baseUrl }: Pick<ServerSettings, 'baseUrl'>, request: FastifyRequest): boolean {
  return arrivedOverTls(request) || baseUrl?.startsWith('https:') === true;
}

/** The name of a cookie. @param isSecure whether it is sent over TLS only */
function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-envarium-${name}` : `envarium-${name}`;
}

/** The value of a cookie of ours; undefined where the request has none. */
export function readCookie(
  settings: Pick<ServerSettings, 'baseUrl'>,
  request: FastifyRequest,
  name: string,
): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined
    ? undefined
    : parseCookie(cookie)[cookieName(name, isOverTls(settings, request))];
}

/** Sets a cookie of ours. @param maxAge in seconds; 0 removes it */
export function setCookie(
  settings: Pick<ServerSettings, 'baseUrl'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { name, value, maxAge }: { readonly name: string; readonly value: string; readonly maxAge: number },
): void {
  const secure = isOverTls(settings, request);
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge } as const;
  reply.header('set-cookie', stringifySetCookie({ name: cookieName(name, secure), value, ...attributes }));
  reply.header('cache-control', 'no-store');
}

export const sessionCookie = 'session';

/** The session that a cookie names; null where the request has no cookie that can be read. */
export function readSessionCookie(
  settings: Pick<ServerSettings, 'baseUrl'>,
  request: FastifyRequest,
): SessionSecret | null {
  const [id = '', secret = '', ...more] = (readCookie(settings, request, sessionCookie) ?? '').split('.');
  return isUuid(id) && secret !== '' && more.length === 0 ? { id, secret } : null;
}

const cliPrefix = 'session-';

/** The user name under which the command line sends a session as HTTP Basic credentials. */
export function cliUserName(sessionId: string): string {
  return `${cliPrefix}${sessionId}`;
}

/** The session that a user name refers to; null where it is that of a key. */
export function sessionOfUserName(userName: string): string | null {
  const id = userName.startsWith(cliPrefix) ? userName.slice(cliPrefix.length) : '';
  return isUuid(id) ? id : null;
}
