/** Proxy of an address. The service chooses it, so that git does not choose differently. */
import { isIP } from 'node:net';
import { isInside, problemOfNetwork } from '../../../framework/http/callers/networks.ts';

/** A URL leaves out the usual ports of its scheme. */
const usualPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function isException(entry: string, { protocol, hostname, port }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (entry === '*') return true;
  if (isIP(host) !== 0 && problemOfNetwork(entry) === null) return isInside([entry], host);
  const [, name = entry, ofPort] = /^(.*?[^:]):(\d+)$/.exec(entry) ?? [];
  if (ofPort !== undefined && ofPort !== (port || usualPorts[protocol])) return false;
  const domain = name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

/**
 * @param environment as `proxyEnvironment` has it
 * @returns the variables for git: those of the proxy that carries the address; none if it is reached directly
 */
export function proxyFor(url: URL, environment: Readonly<Record<string, string>>): Record<string, string> {
  const isSecure = url.protocol === 'https:';
  const proxy = isSecure ? environment['https_proxy'] : environment['http_proxy'];
  const exceptions = (environment['no_proxy'] ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (proxy === undefined || exceptions.some((entry) => isException(entry, url))) return {};
  return isSecure ? { https_proxy: proxy, HTTPS_PROXY: proxy } : { http_proxy: proxy };
}
