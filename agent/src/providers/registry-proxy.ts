/**
 * Replaces the provider registries of a run's tool by a server on the loopback interface that passes on the
 * available versions, records which packages the tool requests, and provides none. Packages come only from
 * the agent's cache, so that they are downloaded once for all runs and verified by the agent.
 */
import type { ServerResponse } from 'node:http';
import { FetchProblem } from '../network/fetch-bounded.ts';
import { startLoopbackServer } from '../network/loopback-server.ts';
import { ownPlatform } from '../own/own-platform.ts';
import { isSound, type ProviderPackage } from './provider-package.ts';
import { fetchVersions, type Upstream } from './registry-client.ts';

/** Below the tools' own timeout of 10 s. */
const answerMilliseconds = 8_000;

export interface RegistryProxyOptions {
  /** By host. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Versions of a provider that are available without its registry. */
  readonly atHand: (one: Omit<ProviderPackage, 'version'>) => Promise<string[]>;
  readonly signal: AbortSignal;
}

export interface RegistryProxy extends AsyncDisposable {
  /** The address of a host's `providers.v1`. */
  addressFor(host: string): string;
  /** Whether the tool has sent any request. */
  isUsed(): boolean;
  /** The packages requested since the last call. */
  takeMissing(): ProviderPackage[];
  /** Registries that have not answered since the last call: one sentence each. */
  takeProblems(): string[];
}

/**
 * Starts a server on a free loopback port; its addresses contain a secret, so that other runs on the machine
 * cannot use it.
 */
export async function startRegistryProxy(options: RegistryProxyOptions): Promise<RegistryProxy> {
  const missing = new Map<string, ProviderPackage>();
  const problems = new Set<string>();
  let isUsed = false;
  const seen: RegistryObserver = {
    use: () => (isUsed = true),
    want: (one) => missing.set(JSON.stringify(one), one),
    problem: (text) => problems.add(text),
  };
  const server = await startLoopbackServer((_, response, path) => answer(response, path, options, seen));
  return {
    addressFor: (host) => `${server.url}/${encodeURIComponent(host)}/`,
    isUsed: () => isUsed,
    takeMissing: () => takeAll(missing),
    takeProblems: () => {
      const found = [...problems];
      problems.clear();
      return found;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function takeAll<Value>(from: Map<string, Value>): Value[] {
  const found = [...from.values()];
  from.clear();
  return found;
}

interface RegistryObserver {
  use(): unknown;
  want(one: ProviderPackage): unknown;
  problem(text: string): unknown;
}

async function answer(
  response: ServerResponse,
  path: string,
  options: RegistryProxyOptions,
  seen: RegistryObserver,
): Promise<void> {
  const [, encodedHost = '', namespace = '', type = '', ...rest] = path.split('/');
  seen.use();
  const host = decodeURIComponent(encodedHost);
  const upstream = options.upstreams.get(host);
  const provider = { host, namespace, type, platform: ownPlatform };
  if (!upstream || !isSound({ ...provider, version: '1.0.0' })) return reply(response, 404);
  if (rest.length === 1 && rest[0] === 'versions')
    return versions(response, upstream, provider, options, seen);
  const [version = '', verb, os, arch] = rest;
  const one = { ...provider, version };
  if (verb === 'download' && `${os}_${arch}` === ownPlatform && isSound(one)) seen.want(one);
  return reply(response, 404);
}

async function versions(
  response: ServerResponse,
  upstream: Upstream,
  provider: Omit<ProviderPackage, 'version'>,
  { atHand, signal }: RegistryProxyOptions,
  seen: RegistryObserver,
): Promise<void> {
  try {
    return reply(
      response,
      200,
      await fetchVersions(
        upstream,
        provider,
        AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]),
      ),
    );
  } catch (error) {
    if (error instanceof FetchProblem && error.status === 404) return reply(response, 404);
    const known = await atHand(provider);
    const name = `${provider.host}/${provider.namespace}/${provider.type}`;
    const isCached = known.length > 0;
    const isSlow = (error as Error).name === 'TimeoutError';
    const reason = isSlow
      ? `its registry does not answer within ${answerMilliseconds / 1000} s`
      : (error as Error).message;
    seen.problem(
      `provider ${name}: ${reason}; ${isCached ? `using the versions in the agent's cache (${known.join(', ')})` : "and the agent's cache has no version of it"}`,
    );
    // A status for which the tool does not retry.
    return isCached
      ? reply(response, 200, Buffer.from(JSON.stringify({ versions: known.map((version) => ({ version })) })))
      : reply(response, 404);
  }
}

function reply(response: ServerResponse, status: number, body?: Buffer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
