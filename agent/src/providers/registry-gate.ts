/**
 * The gate for private registries: a server on the loopback that the tool uses instead of registries which
 * require a token. It adds the token and passes on only lists and addresses of modules and providers, so that
 * the run never has a token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FetchProblem, fetchBytes, type Fetched, type FetchLimits } from '../network/fetch-bounded.ts';
import type { TrustedHosts } from '../network/guarded-fetch.ts';
import { startLoopbackServer } from '../network/loopback-server.ts';
import type { Services } from './installation.ts';
import { discoverServices } from './registry-client.ts';

export interface RegistryGateOptions {
  /** Tokens by host. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Services of hosts that the operator specifies; those of others are requested from the host. */
  readonly services: Readonly<Record<string, Services>>;
  readonly trusted: TrustedHosts;
  readonly signal: AbortSignal;
}

export interface RegistryGate extends AsyncDisposable {
  /** The services of all hosts with a token, as the tool's configuration names them. */
  readonly hosts: Readonly<Record<string, Services>>;
}

const offered = ['modules.v1', 'providers.v1'] as const;
const limits: FetchLimits = { silenceSeconds: 8, wholeSeconds: 30, bytes: 20_000_000 };
/** Statuses that the tools explain better than the gate. */
const passedStatuses = [204, 401, 403, 404];
const addressNames = ['download_url', 'shasums_url', 'shasums_signature_url'] as const;

/** Starts the gate; it serves until it is disposed of. */
export async function startRegistryGate(options: RegistryGateOptions): Promise<RegistryGate> {
  const discovered = new Map<string, Promise<Services | null>>();
  const servicesOf = (host: string): Promise<Services | null> => {
    const specified = options.services[host];
    if (specified !== undefined) return Promise.resolve(specified);
    const known = discovered.get(host) ?? discoverServices(host, options);
    discovered.set(host, known);
    return known;
  };
  const server = await startLoopbackServer((request, response, path) =>
    answer(options, servicesOf, request, response, path),
  );
  return {
    hosts: Object.fromEntries(
      [...options.tokens.keys()].map((host) => {
        const names = offered.filter((name) => options.services[host]?.[name] ?? !options.services[host]);
        const address = (name: string) => `${server.url}/${encodeURIComponent(host)}/${name}/`;
        return [
          host,
          { ...options.services[host], ...Object.fromEntries(names.map((name) => [name, address(name)])) },
        ];
      }),
    ),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function answer(
  { tokens, trusted, signal }: RegistryGateOptions,
  servicesOf: (host: string) => Promise<Services | null>,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const [, encodedHost = '', name = '', rest = ''] = /^\/([^/]+)\/([a-z]+\.v1)\/([^?#]*)$/.exec(path) ?? [];
  const host = decodeURIComponent(encodedHost);
  const token = tokens.get(host);
  const isSound = /^[\w.+-]+(\/[\w.+-]+)*$/.test(rest) && !/(^|\/)\.\.?(\/|$)/.test(rest);
  if (request.method !== 'GET' || token === undefined || !isSound) return reply(response, 404);
  const service = (await servicesOf(host))?.[name];
  if (service === undefined) return reply(response, 404);
  const url = `${service.replace(/\/*$/, '/')}${rest}`;
  try {
    const headers = { authorization: `Bearer ${token}` };
    pass(url, await fetchBytes({ url, headers, limits, trusted, signal }, passedStatuses), response);
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error;
    reply(response, error.status ?? 502, Buffer.from(error.message));
  }
}

/** Addresses that are relative refer to the registry, not to the gate. */
function pass(url: string, { status, headers, body }: Fetched, response: ServerResponse): void {
  const location = headers.get('x-terraform-get');
  if (location !== null) response.setHeader('x-terraform-get', absolute(location, url));
  if (status !== 200 || !/\/download(\/|$)/.test(url)) return reply(response, status, body);
  let told: unknown;
  try {
    told = JSON.parse(body.toString('utf8'));
  } catch {
    return reply(response, status, body);
  }
  if (typeof told !== 'object' || told === null) return reply(response, status, body);
  const found = Object.entries(told).map(([name, value]) => {
    const isAddress = (addressNames as readonly string[]).includes(name);
    if (typeof value !== 'string') return [name, value] as const;
    if (isAddress) return [name, URL.parse(value, url)?.href ?? value] as const;
    return [name, name === 'location' ? absolute(value, url) : value] as const;
  });
  reply(response, status, Buffer.from(JSON.stringify(Object.fromEntries(found))));
}

// Sources of modules have many forms; only these are relative.
function absolute(location: string, url: string): string {
  return /^\.{0,2}\//.test(location) ? (URL.parse(location, url)?.href ?? location) : location;
}

function reply(response: ServerResponse, status: number, body?: Buffer): void {
  if (status === 204) return void response.writeHead(status).end();
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
