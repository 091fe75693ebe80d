/** Networks that callers come from: addresses and CIDR notation, of IPv4 and IPv6. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { LruMap } from 'toad-cache';

/** Lists that are read again with each request; more than this, and the oldest is forgotten. */
const mostKept = 1000;
const kept = new LruMap<Lists>(mostKept);

/** Apart, because a list takes addresses of IPv4 for a part of IPv6. */
interface Lists {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

/** IPv6 addresses that stand for one of IPv4. */
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/** @returns what is wrong with a network, as the end of a sentence; null for a good one */
export function problemOfNetwork(text: string): string | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const isFour = isIPv4(address);
  if (rest.length > 0 || address.includes('%') || !(isFour || isIPv6(address)))
    return `"${text}" is not an address or a network in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32`;
  if (!isFour && mapped.check(address, 'ipv6'))
    return `"${text}" means addresses of IPv4: write them as such`;
  const most = isFour ? 32 : 128;
  if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) <= most))
    return `"${text}" needs a length of 0 to ${most} after the slash`;
  return null;
}

function listsOf(networks: readonly string[]): Lists {
  const key = networks.join();
  const found = kept.get(key);
  if (found) return found;
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    lists[family].addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  kept.set(key, lists);
  return lists;
}

/**
 * Whether a caller comes from one of the networks; an address of IPv4 counts as such in its IPv6 form, too.
 * @param networks without problems, see `problemOfNetwork`
 */
export function isInside(networks: readonly string[], ip: string): boolean {
  const [address = ''] = ip.split('%');
  if (isIPv4(address)) return listsOf(networks).ipv4.check(address);
  if (!isIPv6(address)) return false;
  return listsOf(networks)[mapped.check(address, 'ipv6') ? 'ipv4' : 'ipv6'].check(address, 'ipv6');
}

/** Private, local, reserved or leading to such; of IPv6 also the forms that carry an address of IPv4. */
const closedNetworks = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Everything but 2000::/3, where the addresses of the public internet are, and parts of that.
  ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
];

/** Whether the service does not connect to an address. @param open networks that a setting allows */
export function isClosedTo(ip: string, open: readonly string[]): boolean {
  return isInside(closedNetworks, ip) && !isInside(open, ip);
}
