/**
 * Addresses of repositories over ssh: `ssh://user@host[:port]/path` and `user@host:path`. Everything that
 * could become an option, a shell word on the other side or another user is refused; the rest is split
 * into its parts.
 */
import { percentDecode } from './percent-decode.ts';

export interface SshAddress {
  readonly user: string;
  /** Lower case; an IPv6 address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As git sends it: `/team/code.git`, or relative to the user's home. */
  readonly path: string;
}

const usualPort = 22;
const userPattern = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$/;
const namePattern = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const sixPattern = /^[0-9a-f:.]{2,45}$/;
const pathPattern = /^[\p{L}\p{N}\p{M}/~._][\p{L}\p{N}\p{M}/~._+@%=,:-]*$/u;
const urlPattern = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]]*\]|[^:/@]*)(?::([0-9]{1,5}))?(\/.*)$/i;
const shortPattern = /^(?:([^@/:]*)@)?(\[[^\]]*\]|[^:/@]*):(.*)$/;

/** @returns the address, or why it is refused: completes "repository …" */
export function readSshAddress(text: string): SshAddress | { readonly refusal: string } {
  const isUrl = /^ssh:\/\//i.test(text);
  const parts = (isUrl ? urlPattern : shortPattern).exec(text);
  if (parts === null)
    return { refusal: 'is not a valid ssh address: write ssh://user@host/path or user@host:path' };
  const [, user, host = '', third = '', fourth = ''] = parts;
  if (user === undefined || user === '')
    return { refusal: `names no ssh user: write ssh://git@${host || 'host'}/path, or another user` };
  if (user.includes(':'))
    return { refusal: 'contains a password: remove it, and assign an ssh key to the environment' };
  const path = isUrl ? urlPath(fourth) : third;
  return sshAddressOf(user, host, isUrl && third !== '' ? Number(third) : usualPort, path ?? '');
}

/**
 * @returns the address made of its parts, or why it is refused. @param host an IPv6 address with or without
 * brackets
 */
export function sshAddressOf(
  user: string,
  host: string,
  port: number,
  path: string,
): SshAddress | { readonly refusal: string } {
  if (!userPattern.test(user))
    return { refusal: 'has an ssh user with characters other than letters, digits and . _ + -' };
  const hostname = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (!namePattern.test(hostname) && !(hostname.includes(':') && sixPattern.test(hostname)))
    return { refusal: 'has no valid host' };
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return { refusal: 'has no valid port' };
  if (path === '/' || !isPath(path))
    return { refusal: 'has a path with characters other than letters, digits and . _ ~ + @ % = , : - /' };
  return { user, hostname, port, path };
}

/** `host`, or `host:port` if the port is not the usual one; an IPv6 address is in brackets. */
export function sshHost({ hostname, port }: Pick<SshAddress, 'hostname' | 'port'>): string {
  const name = hostname.includes(':') ? `[${hostname}]` : hostname;
  return port === usualPort ? name : `${name}:${port}`;
}

/** Whether a path is safe in the command that the other side's shell reads. */
export function isPath(path: string): boolean {
  return path.length <= 1000 && pathPattern.test(path);
}

// A path that begins with a tilde is a user's home, as in git.
function urlPath(written: string): string | null {
  const path = percentDecode(written) ?? null;
  return path?.startsWith('/~') ? path.slice(1) : path;
}
