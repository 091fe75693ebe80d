/**
 * Fetches from addresses that code or a registry determines: only over https and only from public
 * addresses, unless the operator names the host. The address is checked when the connection is made, so that a
 * name cannot change its meaning in between.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { Readable } from 'node:stream';

/** The operator's hosts, `name` or `name:port`: they may have private addresses and use plain http. */
export type TrustedHosts = ReadonlySet<string>;

/** The address must not be used; the message is one sentence without credentials. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

const setting = 'ENVARIUM_REGISTRY_PRIVATE_HOSTS';
const mostRedirects = 5;
const privateNetworks = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;
/** Prefixes of IPv6 addresses that contain an IPv4 address in their last 32 bits. */
const translated = /^(::|::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+|[0-9a-f]{1,4}:[0-9a-f]{1,4})$/;

const blocked = new BlockList();
for (const [network, bits] of privateNetworks)
  blocked.addSubnet(network, bits, isIP(network) === 6 ? 'ipv6' : 'ipv4');

/** Whether an IP address is not a public one: private, link-local, loopback, multicast or reserved. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) !== 6) return blocked.check(address, 'ipv4');
  // In its shortest form, so that one pattern recognizes it.
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const last = translated.exec(plain)?.[2];
  return blocked.check(plain, 'ipv6') || (last !== undefined && blocked.check(asIpv4(last), 'ipv4'));
}

function asIpv4(text: string): string {
  if (text.includes('.')) return text;
  const [high = 0, low = 0] = text.split(':').map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Requests an address with GET, and follows redirects under the same rules. A header `authorization` is not
 * sent to another origin.
 * @throws RefusedAddress, the signal's reason, or an error of the network
 */
export async function guardedFetch(
  address: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  trusted: TrustedHosts,
): Promise<Response> {
  let url = new URL(address);
  let headers = request.headers;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const answer = await ask(url, { ...request, headers }, trusted);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return asResponse(answer);
    answer.destroy();
    const next = URL.parse(location, url.href);
    if (next === null || next.username !== '' || next.password !== '')
      throw new RefusedAddress('redirects to an address that is not used');
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new RefusedAddress(`redirects from https to ${next.protocol.slice(0, -1)}`);
    if (next.origin !== url.origin) headers = withoutAuthorization(headers);
    url = next;
  }
  throw new RefusedAddress(`redirects more than ${mostRedirects} times`);
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'),
  );
}

function ask(
  url: URL,
  { headers, signal }: { headers: Readonly<Record<string, string>>; signal: AbortSignal },
  trusted: TrustedHosts,
): Promise<IncomingMessage> {
  const isTrusted = trusted.has(url.host) || trusted.has(url.hostname);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isTrusted) refuse(url, host);
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options = isTrusted ? { headers, signal } : { headers, signal, lookup: checkedLookup(host) };
    start(url, options, resolve).once('error', reject).end();
  });
}

function refuse(url: URL, host: string): void {
  if (url.protocol !== 'https:')
    throw new RefusedAddress(
      `${url.origin} is not an https address; if it is trusted, name it in ${setting}`,
    );
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw privateAddress(host);
}

function privateAddress(host: string): RefusedAddress {
  return new RefusedAddress(`${host} has a private address; if it is trusted, name it in ${setting}`);
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves names as usual, and refuses the host if one of its addresses is private. */
function checkedLookup(host: string) {
  return (name: string, options: LookupOptions, found: Found): void => {
    dns.lookup(name, { ...options, all: true }, (error, addresses) => {
      // A proxy, which the operator has configured, has another name.
      const isChecked = name === host;
      if (error) found(error, []);
      else if (isChecked && addresses.some(({ address }) => isPrivateAddress(address)))
        found(privateAddress(host), []);
      else if (options.all === true) found(null, addresses);
      else found(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

function asResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct))
    for (const one of value ?? []) headers.append(name, one);
  const isEmpty = [204, 205, 304].includes(status);
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    headers,
  });
}
