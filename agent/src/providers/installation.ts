/** Where a run's tool gets its providers from: pure rules over the operator's settings. */
import type { InstallationMethod, OperatorConfiguration } from './cli-configuration.ts';
import type { Upstream } from './registry-client.ts';

/** Where an operator has put providers for machines that reach no registry. */
export type ProviderMirror =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'address'; readonly url: string };

/** What every run of an agent needs to know of its providers; travels in a runner's order. */
export interface ProviderOrder {
  /** Null: no cache, every run fetches its own. */
  readonly cache: { readonly folder: string; readonly limitBytes: number } | null;
  readonly mirror: ProviderMirror | null;
  readonly operator: OperatorConfiguration;
}

export type Services = Readonly<Record<string, string>>;

const publicHosts = ['registry.terraform.io', 'registry.opentofu.org'] as const;

/** Services of the registries that the tools use unless a source names another host. */
export const publicServices: Readonly<Record<string, Services>> = Object.fromEntries(
  publicHosts.map((host) => [
    host,
    { 'modules.v1': `https://${host}/v1/modules/`, 'providers.v1': `https://${host}/v1/providers/` },
  ]),
);

// Bounded, because whoever writes the code decides what is looked through.
const namedSource = /source\s{0,100}=\s{0,100}"([a-z0-9.:-]{1,255})\/[\w-]{1,100}\/[\w-]{1,100}"/gi;

/** Hosts in the sources of a configuration, besides the default ones. */
export function hostsNamedIn(text: string): string[] {
  const named = [...text.matchAll(namedSource)]
    .map(([, host = '']) => host.toLowerCase())
    .filter((host) => /[^.]\.[^.]/.test(host));
  const locked = [...text.matchAll(/^provider "([^"/]+)\/[^"/]+\/[^"/]+" \{/gm)].map(([, host = '']) => host);
  return [...new Set([...named, ...locked])].filter(
    (host) => !(publicHosts as readonly string[]).includes(host) && host !== 'terraform.io',
  );
}

/**
 * The hosts whose packages come through the agent's cache. One that a token is known for is left to the tool:
 * what only its owner may have must not lie where every run reads it.
 * @param services by host, as operator, hosts themselves or the public ones tell
 * @param needsSignature packages of registries are accepted only with a signature of their publisher
 */
export function cachedHosts(
  { cache, mirror }: Pick<ProviderOrder, 'cache' | 'mirror'>,
  services: Readonly<Record<string, Services>>,
  hasToken: (host: string) => boolean,
  needsSignature: boolean,
): Map<string, Upstream> {
  if (cache === null || mirror?.kind === 'folder') return new Map();
  const open = Object.entries(services).filter(
    ([host, { 'providers.v1': url }]) => url !== undefined && !hasToken(host),
  );
  return new Map(
    open.map(([host, { 'providers.v1': url = '' }]) => [
      host,
      mirror === null
        ? { kind: 'registry', url: url.replace(/\/*$/, '/'), needsSignature }
        : { kind: 'mirror', url: mirror.url.replace(/\/*$/, '/') },
    ]),
  );
}

/**
 * The methods of `provider_installation`. The cache precedes each `direct` and serves exactly what that
 * one would.
 * @param packages folder of the cache's packages; null where it is not used
 * @param hosts those whose packages come through the cache
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
    // Its registries are the agent's own server, which asks the mirror.
    { kind: 'direct', attributes: { include: patterns } },
    ...(mirror.url.startsWith('https:')
      ? [{ kind: 'network_mirror' as const, attributes: { url: mirror.url, exclude: patterns } }]
      : []),
  ];
}

/** Folders that a run's tool must be able to read for these methods. */
export function foldersOf(methods: readonly InstallationMethod[]): string[] {
  return methods.flatMap(({ attributes: { path } }) => (typeof path === 'string' ? [path] : []));
}

/** The host that a variable `TF_TOKEN_<host>` is for, as the tools read it; null for any other name. */
export function hostOfTokenVariable(name: string): string | null {
  const host = /^TF_TOKEN_(.+)$/.exec(name)?.[1];
  return host === undefined ? null : host.replaceAll('__', '-').replaceAll('_', '.').toLowerCase();
}
