/**
 * Addresses that people or code determine: only https, and only public addresses, unless the operator names the host.
 * The address is checked when the connection is made, so that a name cannot change its meaning in between.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** The address must not be used; the message is one sentence without credentials. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

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
function isPrivateAddress(address: string): boolean {
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

/** The host of an address, as names are looked up. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/**
 * @param setting the name of the one that lists the operator's hosts
 * @throws RefusedAddress for an address that is not https, or a private one
 */
export function refuseAddress(url: URL, setting: string): void {
  const host = hostOf(url);
  if (url.protocol !== 'https:')
    throw new RefusedAddress(
      `${url.origin} is not an https address; if it is trusted, name it in ${setting}`,
    );
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw privateAddress(host, setting);
}

function privateAddress(host: string, setting: string): RefusedAddress {
  return new RefusedAddress(`${host} has a private address; if it is trusted, name it in ${setting}`);
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * For connections: resolves names as usual, and refuses the host if one of its addresses is private.
 * @param setting the name of the one that lists the operator's hosts
 */
export function checkedLookup(host: string, setting: string) {
  return (name: string, options: LookupOptions, found: LookupCallback): void => {
    dns.lookup(name, { ...options, all: true }, (error, addresses) => {
      // A proxy, which the operator has configured, has another name.
      const isChecked = name === host;
      if (error) found(error, []);
      else if (isChecked && addresses.some(({ address }) => isPrivateAddress(address)))
        found(privateAddress(host, setting), []);
      else if (options.all === true) found(null, addresses);
      else found(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}
