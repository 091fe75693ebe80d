/**
 * Permitted addresses of notifications: the public internet, unless a setting allows more. A name is checked by
 * the addresses that it has when the connection is made, so that a change of its DNS entries changes nothing.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isClosedTo } from '../../../framework/http/callers/networks.ts';
import type { ServerSettings } from '../../../ground/config/config.ts';

export type GuardSettings = Pick<ServerSettings, 'notificationHttpHosts' | 'notificationNetworks'>;

/** Whether a connection to an address of IPv4 or IPv6 is refused. */
function isClosed({ notificationNetworks }: GuardSettings, ip: string): boolean {
  return isClosedTo(ip, notificationNetworks);
}

const remedy = 'the operator can allow networks with ENVARIUM_NOTIFICATION_NETWORKS';

/** An address that nothing is sent to. */
export class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress';
}

/** @returns what is wrong with the address of an endpoint, as the end of a sentence; null for a good one */
export function problemOfAddress(settings: GuardSettings, value: string): string | null {
  const url = URL.parse(value);
  if (url === null || !['https:', 'http:'].includes(url.protocol) || url.hostname === '')
    return 'must be an https:// address';
  const { host, hostname } = url;
  if (
    url.protocol === 'http:' &&
    !settings.notificationHttpHosts.some((one) => [host, hostname].includes(one))
  )
    return 'must be an https:// address (the operator can allow hosts over plain http with ENVARIUM_NOTIFICATION_HTTP_HOSTS)';
  if (url.username !== '' || url.password !== '')
    return 'must not have a user or password: put a token into its path, or use a webhookSecret';
  const ip = hostname.replace(/^\[|\]$/g, '');
  const own = hostname === 'localhost' || hostname.endsWith('.localhost') ? '127.0.0.1' : ip;
  if (isIP(own) !== 0 && isClosed(settings, own))
    return `leads to ${own}, an address of a private or local network: use a public one (${remedy})`;
  return null;
}

/** The lookup of a connection: resolves a name to those of its addresses that are open. */
export function guardedLookup(settings: GuardSettings): LookupFunction {
  return (hostname, options, answer) => {
    const all = { ...options, all: true as const };
    lookup(hostname, all, (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => {
      if (error) {
        answer(error, '', 0);
        return;
      }
      const open = found.filter(({ address }) => !isClosed(settings, address));
      const [first] = open;
      if (first === undefined)
        answer(
          new ClosedAddress(
            `The host leads to ${found[0]?.address ?? 'no address'}, of a private or local network, and nothing was sent (${remedy})`,
          ),
          '',
          0,
        );
      else if (options.all) answer(null, open);
      else answer(null, first.address, first.family);
    });
  };
}
