/** Facts about a request from trusted proxies: the address of its caller, and whether it arrived over TLS. */
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { Refusal } from '../../../ground/errors.ts';

/** An entry of X-Forwarded-For: some proxies add the port, and put an address of IPv6 in brackets. */
const withPort = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

function withoutPort(entry: string): string {
  const [, version6, version4] = withPort.exec(entry) ?? [];
  return version6 ?? version4 ?? entry;
}

function entriesOf(header: string | string[] | undefined): string[] {
  return [header ?? []].flat().flatMap((line) => line.split(',').map((entry) => entry.trim()));
}

/** Number of trusted proxies on the path of the request; `ips` begins with the nearest and ends with the caller. */
function trustedHops({ ips = [] }: FastifyRequest): number {
  return ips.length - 1;
}

/**
 * Whether a request arrived over TLS: at this server, or at the first of its trusted proxies, as `x-forwarded-proto`
 * says. Whatever an untrusted caller sends counts for nothing.
 */
export function arrivedOverTls(request: FastifyRequest): boolean {
  const hops = trustedHops(request);
  const schemes = entriesOf(request.raw.headers['x-forwarded-proto']).filter((entry) => entry !== '');
  // Each proxy may add an entry; the caller itself may have sent the ones before.
  const ofCaller = hops > 0 ? schemes[Math.max(0, schemes.length - hops)] : undefined;
  if (ofCaller !== undefined) return ofCaller.toLowerCase() === 'https';
  return request.raw.socket instanceof TLSSocket;
}

/**
 * Registers what applies to every route: addresses of callers without ports, a refusal (400) where a trusted proxy
 * sends none, and `strict-transport-security` on answers to requests that arrived over TLS.
 */
export function readForwarded(app: FastifyInstance, settings: ServerSettings): void {
  const { trustedProxies, hstsSeconds } = settings;
  if (trustedProxies.length > 0)
    app.addHook('onRequest', async (request) => {
      const { headers } = request.raw;
      const forwardedFor = headers['x-forwarded-for'];
      if (forwardedFor === undefined) return;
      headers['x-forwarded-for'] = entriesOf(forwardedFor).map(withoutPort).join(', ');
      if (isIP(request.ip) === 0)
        throw new Refusal(
          'bad_request',
          `The header X-Forwarded-For has ${JSON.stringify(request.ip.slice(0, 100))} in place of the address ` +
            'of the caller: correct the proxy that is closest to it among those in ENVARIUM_TRUSTED_PROXIES',
        );
    });
  if (hstsSeconds > 0)
    app.addHook('onRequest', async (request, reply) => {
      if (arrivedOverTls(request)) reply.header('strict-transport-security', `max-age=${hstsSeconds}`);
    });
}
