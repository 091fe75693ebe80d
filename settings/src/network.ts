/**
 * Network access of our programs: private certificate authorities and forward proxies. Called
 * once, when a program starts.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setGlobalProxyFromEnv } from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { percentDecode } from '#guards/percent-decode.ts';
import { type ProcessEnvironment, SettingsError } from './declaration.ts';

const proxyNames = ['http_proxy', 'https_proxy', 'no_proxy'] as const;
/** The machine's own addresses are never reached through a proxy. */
const ownHosts = ['localhost', '127.0.0.1', '::1'] as const;
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The proxies that a program was started with, under upper-case and lower-case names: programs differ in
 * which they read.
 * @returns nothing if there are none
 * @throws SettingsError when a proxy's address is malformed; its value is not shown, because it may contain a
 * password
 */
export function proxyEnvironment(environment: ProcessEnvironment): Record<string, string> {
  const [http, https, no] = proxyNames.map(
    (name) => environment[name] || environment[name.toUpperCase()] || undefined,
  );
  if (http === undefined && https === undefined) return {};
  const problems = [http, https].flatMap((value, index) => {
    const url = value === undefined ? undefined : URL.parse(value);
    const isGood =
      url === undefined ||
      (url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '');
    return isGood ? [] : [`${['HTTP_PROXY', 'HTTPS_PROXY'][index]} must be an http:// or https:// address.`];
  });
  if (problems.length > 0) throw new SettingsError(problems);
  const exceptions = [...new Set([...(no ?? '').split(',').map((one) => one.trim()), ...ownHosts])]
    .filter((one) => one !== '')
    .join(',');
  const values = { http_proxy: http, https_proxy: https, no_proxy: exceptions };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const, [name.toUpperCase(), value] as const],
    ),
  );
}

/** Passwords in the addresses of proxies, percent-encoded and decoded. */
export function proxySecrets(environment: ProcessEnvironment): string[] {
  const passwords = [environment['http_proxy'], environment['https_proxy']].flatMap(
    (value) => URL.parse(value ?? '')?.password || [],
  );
  return [...new Set(passwords.flatMap((password) => [password, percentDecode(password) ?? password]))];
}

/**
 * The certificates of a file that the setting names.
 * @throws SettingsError that names the setting when the file cannot be read, or contains something that is not a
 * certificate
 */
export function readCertificates(file: string, name: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`${name} names ${file}, which cannot be read: ${(error as Error).message}.`]);
  }
  const found = text.match(certificate) ?? [];
  if (found.length === 0)
    throw new SettingsError([
      `${name} names ${file}, which contains no certificate (PEM, "BEGIN CERTIFICATE").`,
    ]);
  for (const [index, one] of found.entries()) {
    try {
      new X509Certificate(one);
    } catch {
      throw new SettingsError([
        `${name} names ${file}, whose certificate number ${index + 1} cannot be read.`,
      ]);
    }
  }
  return found;
}

/** Everything that this machine trusts, and the additional certificates. */
export function trustedCertificates(own: readonly string[]): string[] {
  const system = getCACertificates('system');
  return [...new Set([...(system.length > 0 ? system : getCACertificates('bundled')), ...own])];
}

/**
 * Makes this process trust the certificates and use the proxies, for `fetch` and everything else.
 * @param certificates all trusted ones, as returned by `trustedCertificates`; empty: those of Node
 */
export function useNetwork(certificates: readonly string[], proxies: Readonly<Record<string, string>>): void {
  if (certificates.length > 0) setDefaultCACertificates([...certificates]);
  if (Object.keys(proxies).length > 0) setGlobalProxyFromEnv({ ...proxies });
}
