/**
 * Splits user and token off a repository's address, so that the address can be shown and the token sealed.
 */
import { percentDecode } from '#guards/percent-decode.ts';
import type { HostCredentials, RepositoryCredentials } from '../../rows/templates/columns.ts';

/** @returns the host of an address, or null where it has none */
export function hostOf(repository: string): string | null {
  return URL.parse(repository)?.host || null;
}

/**
 * @param repository as a caller sent it, perhaps `https://user:token@host/path`
 * @returns the address without credentials, and the credentials, or null where it had none
 */
export function splitCredentials(repository: string): {
  repository: string;
  credentials: HostCredentials | null;
} {
  if (!/^https?:\/\//i.test(repository) || !URL.canParse(repository))
    return { repository, credentials: null };
  const url = new URL(repository);
  if (url.username === '' && url.password === '') return { repository, credentials: null };
  // A token can be in either place; hosts check the password and accept any user name.
  const secret = url.password || url.username;
  // A percent sign that encodes nothing is literal.
  const credentials = {
    username: (percentDecode(url.username) ?? url.username) || 'token',
    password: percentDecode(secret) ?? secret,
    host: url.host,
  };
  url.username = '';
  url.password = '';
  return { repository: url.href, credentials };
}

/** A stored token is `token` or `user:token`. */
export function tokenCredentials(token: string): RepositoryCredentials {
  const colon = token.indexOf(':');
  return colon > 0
    ? { username: token.slice(0, colon), password: token.slice(colon + 1) }
    : { username: 'token', password: token };
}
