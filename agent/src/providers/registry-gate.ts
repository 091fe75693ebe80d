/**
 * The gate for private registries: a server on the loopback that the tool uses instead of registries which
 * require a token. It adds the token and passes on only lists and addresses of modules and providers, so that
 * the run never has a token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type FetchLimits, FetchProblem, type FetchResponse, fetchBytes } from '../network/fetch-bounded.ts';
import { guardedFetch, type TrustedHosts } from '../network/guarded-fetch.ts';
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
  const gate: Gate = { ...options, servicesOf, packages: [], url: () => server.url };
  const server = await startLoopbackServer((request, response, path) =>
    answer(gate, request, response, path),
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

/** State of a running gate. */
interface Gate extends RegistryGateOptions {
  readonly url: () => string;
  readonly servicesOf: (host: string) => Promise<Services | null>;
  /** Packages that the agent downloads for the tool, because only it has the token. */
  readonly packages: Package[];
}

interface Package {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Source of a registry's response. */
interface RegistryOrigin {
  readonly host: string;
  readonly token: string;
  readonly url: string;
}

async function answer(gate: Gate, request: IncomingMessage, response: ServerResponse, path: string) {
  const index = /^\/package\/(\d{1,6})\//.exec(path)?.[1];
  const wanted = index === undefined ? undefined : gate.packages[Number(index)];
  if (request.method === 'GET' && wanted !== undefined) return sendPackage(gate, wanted, response);
  const [, encodedHost = '', name = '', rest = ''] = /^\/([^/]+)\/([a-z]+\.v1)\/([^?#]*)$/.exec(path) ?? [];
  const host = decodeURIComponent(encodedHost);
  const token = gate.tokens.get(host);
  const isSound = /^[\w.+-]+(\/[\w.+-]+)*$/.test(rest) && !/(^|\/)\.\.?(\/|$)/.test(rest);
  if (request.method !== 'GET' || token === undefined || !isSound) return reply(response, 404);
  const service = (await gate.servicesOf(host))?.[name];
  if (service === undefined) return reply(response, 404);
  const url = `${service.replace(/\/*$/, '/')}${rest}`;
  const { trusted, signal } = gate;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const found = await fetchBytes({ url, headers, limits, trusted, signal }, passedStatuses);
    pass(gate, { host, token, url }, found, response);
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error;
    reply(response, error.status ?? 502, Buffer.from(error.message));
  }
}

async function sendPackage(gate: Gate, { url, headers }: Package, response: ServerResponse): Promise<void> {
  const found = await guardedFetch(url, { headers, signal: gate.signal }, gate.trusted);
  const type = found.headers.get('content-type');
  response.writeHead(found.status, type === null ? {} : { 'content-type': type });
  if (found.body === null) return void response.end();
  await pipeline(found.body, response);
}

/** Addresses that are relative refer to the registry, not to the gate. */
function pass(
  gate: Gate,
  origin: RegistryOrigin,
  { status, headers, body }: FetchResponse,
  response: ServerResponse,
): void {
  const location = headers.get('x-terraform-get');
  if (location !== null) response.setHeader('x-terraform-get', locationFor(gate, origin, location, false));
  const download = status === 200 && /\/download(\/|$)/.test(origin.url) ? asObject(body) : null;
  if (download === null) return reply(response, status, body);
  const isDirect = download['use_registry_credentials'] === true;
  const found = Object.entries(download).map(([name, value]) => {
    // The gate adds the token.
    if (name === 'use_registry_credentials') return [name, false] as const;
    if (typeof value !== 'string') return [name, value] as const;
    if (name === 'location') return [name, locationFor(gate, origin, value, isDirect)] as const;
    const isAddress = (addressNames as readonly string[]).includes(name);
    return [name, isAddress ? (URL.parse(value, origin.url)?.href ?? value) : value] as const;
  });
  reply(response, status, Buffer.from(JSON.stringify(Object.fromEntries(found))));
}

/** Source of a package for the tool: the gate if the registry requires the token for it. */
function locationFor(gate: Gate, origin: RegistryOrigin, location: string, isDirect: boolean): string {
  // Sources of modules have many forms; only these are relative.
  const isRelative = isDirect || /^\.{0,2}\//.test(location);
  const address = isRelative ? (URL.parse(location, origin.url)?.href ?? location) : location;
  const hasToken = [origin.token, encodeURIComponent(origin.token)].some((one) => address.includes(one));
  if (!hasToken && !isDirect) return address;
  const url = URL.parse(address);
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    throw new FetchProblem(
      `${origin.host} puts the token into the address of a module that is not on the web`,
    );
  const [, file = '/', folder = ''] = /^(.*?[^/])(\/\/.*)?$/.exec(url.pathname) ?? [];
  url.pathname = file;
  const isOwn = url.host === origin.host || url.origin === new URL(origin.url).origin;
  const headers: Record<string, string> =
    isDirect && isOwn ? { authorization: `Bearer ${origin.token}` } : {};
  gate.packages.push({ url: url.href, headers });
  const archive = url.searchParams.get('archive');
  const name = encodeURIComponent(file.split('/').at(-1) ?? 'package');
  const query = archive === null ? '' : `?archive=${encodeURIComponent(archive)}`;
  return `${gate.url()}/package/${gate.packages.length - 1}/${name}${folder}${query}`;
}

function asObject(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function reply(response: ServerResponse, status: number, body?: Buffer): void {
  if (status === 204) return void response.writeHead(status).end();
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
