/**
 * Fetches from addresses that code or a registry determines: only over https and only from public
 * addresses, unless the operator names the host. The address is checked when the connection is made, so that a
 * name cannot change its meaning in between.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { checkedLookup, RefusedAddress, refuseAddress } from '#guards/private-addresses.ts';

/** The operator's hosts, `name` or `name:port`: they may have private addresses and use plain http. */
export type TrustedHosts = ReadonlySet<string>;

const setting = 'ENVARIUM_REGISTRY_PRIVATE_HOSTS';
const mostRedirects = 5;
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
  if (!isTrusted) refuseAddress(url, setting);
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options = isTrusted
      ? { headers, signal }
      : { headers, signal, lookup: checkedLookup(host, setting) };
    start(url, options, resolve).once('error', reject).end();
  });
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
