/** Source of the providers of a run's tool: pure rules, based on the operator's settings. */

import type { TrustedHosts } from '../network/guarded-fetch.ts';
import type { InstallationMethod, OperatorConfiguration } from './cli-configuration.ts';
import type { Upstream } from './registry-client.ts';

/** The operator's source of providers for machines that cannot reach a registry. */
export type ProviderMirror =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'address'; readonly url: string };

/** The provider settings of all runs of an agent, as part of a runner's order. */
export interface ProviderOrder {
  /** Null: without a cache, every run fetches its own providers. */
  readonly cache: { readonly folder: string; readonly limitBytes: number } | null;
  readonly mirror: ProviderMirror | null;
  readonly operator: OperatorConfiguration;
  /** Hosts that the agent may reach at private addresses and over plain http; absent: none. */
  readonly privateHosts?: readonly string[];
}

export type Services = Readonly<Record<string, string>>;

const publicHosts = ['registry.terraform.io', 'registry.opentofu.org'] as const;

/** The services of the registries that the tools use by default. */
export const publicServices: Readonly<Record<string, Services>> = Object.fromEntries(
  publicHosts.map((host) => [
    host,
    { 'modules.v1': `https://${host}/v1/modules/`, 'providers.v1': `https://${host}/v1/providers/` },
  ]),
);

// Bounded, because the searched code may be hostile.
const namedSource = /source\s{0,100}=\s{0,100}"([a-z0-9.:-]{1,255})\/[\w-]{1,100}\/[\w-]{1,100}"/gi;

/** Hosts in the sources of a configuration, in addition to the default ones. */
export function hostsNamedIn(text: string): string[] {
  const named = [...text.matchAll(namedSource)]
    .map(([, host = '']) => host.toLowerCase())
    .filter((host) => /[^.]\.[^.]/.test(host));
  const locked = [...text.matchAll(/^provider "([^"/]+)\/[^"/]+\/[^"/]+" \{/gm)].map(([, host = '']) => host);
  return [...new Set([...named, ...locked])].filter(
    (host) => !(publicHosts as readonly string[]).includes(host) && host !== 'terraform.io',
  );
}

/** The hosts that the operator names: in a setting, as services of a host, and as mirrors. */
export function trustedHosts(order: ProviderOrder): TrustedHosts {
  const services = Object.values(order.operator.hosts).flatMap((one) => Object.values(one));
  const named = services.flatMap((url) => URL.parse(url)?.host ?? []);
  return new Set([...named, ...mirrorHosts(order), ...(order.privateHosts ?? [])]);
}

const usesRemoteState = /\bcloud"?\s{0,20}[:={]|"remote"/;
const hostName = /\bhostname"?\s{0,100}[=:]\s{0,100}"?([a-z0-9.:-]{1,255})/gi;

/**
 * Hosts where the code stores or reads states through HCP Terraform or a compatible service (`cloud` block,
 * `remote` backend). Every command of the tool needs their tokens.
 */
export function stateHostsNamedIn(text: string): string[] {
  if (!usesRemoteState.test(text)) return [];
  const named = [...text.matchAll(hostName)].map(([, host = '']) => host.toLowerCase());
  return [...new Set(['app.terraform.io', ...named])];
}

/** The hosts of network mirrors, whose tokens the tool itself sends. */
export function mirrorHosts({ operator, mirror }: Pick<ProviderOrder, 'operator' | 'mirror'>): string[] {
  const urls = (operator.installation ?? []).map(({ attributes: { url } }) => url);
  return [...urls, mirror?.kind === 'address' ? mirror.url : null].flatMap((url) =>
    typeof url === 'string' ? (URL.parse(url)?.host ?? []) : [],
  );
}

/**
 * The hosts whose packages come from the agent's cache. Hosts with a token are left to the tool: private
 * packages must not be readable for every run.
 * @param services by host, from the operator, from discovery, or the public ones
 * @param needsSignature whether packages must be signed by their publisher
 */
export function cachedHosts(
  order: ProviderOrder,
  services: Readonly<Record<string, Services>>,
  hasToken: (host: string) => boolean,
  needsSignature: boolean,
): Map<string, Upstream> {
  const { cache, mirror } = order;
  if (cache === null || mirror?.kind === 'folder') return new Map();
  const trusted = trustedHosts(order);
  const open = Object.entries(services).filter(
    ([host, { 'providers.v1': url }]) => url !== undefined && !hasToken(host),
  );
  return new Map(
    open.map(([host, { 'providers.v1': url = '' }]) => [
      host,
      mirror === null
        ? { kind: 'registry', url: url.replace(/\/*$/, '/'), needsSignature, trusted }
        : { kind: 'mirror', url: mirror.url.replace(/\/*$/, '/'), trusted },
    ]),
  );
}

/**
 * The methods of `provider_installation`. The cache precedes each `direct` and provides exactly the same
 * packages.
 * @param packages folder of the cache's packages; null if the cache is not used
 * @param hosts the hosts whose packages come from the cache
 */
export function installationMethods(
  { operator, mirror }: Pick<ProviderOrder, 'operator' | 'mirror'>,
  packages: string | null,
  hosts: readonly string[],
): InstallationMethod[] {
  if (operator.installation === null && mirror !== null) return mirrorMethods(mirror, packages, hosts);
  const methods: readonly InstallationMethod[] = operator.installation ?? [
    { kind: 'direct', attributes: {} },
  ];
  if (packages === null) return [...methods];
  return methods.flatMap((method) =>
    method.kind === 'direct'
      ? [{ kind: 'filesystem_mirror', attributes: { ...method.attributes, path: packages } }, method]
      : [method],
  );
}

function mirrorMethods(
  mirror: ProviderMirror,
  packages: string | null,
  hosts: readonly string[],
): InstallationMethod[] {
  if (mirror.kind === 'folder') return [{ kind: 'filesystem_mirror', attributes: { path: mirror.path } }];
  const patterns = hosts.map((host) => `${host}/*/*`);
  if (packages === null || patterns.length === 0)
    return [{ kind: 'network_mirror', attributes: { url: mirror.url } }];
  return [
    { kind: 'filesystem_mirror', attributes: { path: packages, include: patterns } },
    // The agent's own server replaces its registries, and queries the mirror.
    { kind: 'direct', attributes: { include: patterns } },
    ...(mirror.url.startsWith('https:')
      ? [{ kind: 'network_mirror' as const, attributes: { url: mirror.url, exclude: patterns } }]
      : []),
  ];
}

/** The folders that a run's tool must be able to read for these methods. */
export function foldersOf(methods: readonly InstallationMethod[]): string[] {
  return methods.flatMap(({ attributes: { path } }) => (typeof path === 'string' ? [path] : []));
}

/** The host of a variable `TF_TOKEN_<host>`, decoded as in the tools; null for any other name. */
export function hostOfTokenVariable(name: string): string | null {
  const host = /^TF_TOKEN_(.+)$/.exec(name)?.[1];
  return host === undefined ? null : host.replaceAll('__', '-').replaceAll('_', '.').toLowerCase();
}
