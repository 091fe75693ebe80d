/**
 * Determines how the tool of one attempt gets its providers: from the agent's cache, which is filled as
 * needed, or as configured by the operator or the run. Writes the tool's CLI configuration.
 */
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import type { CommandEnd } from '../attempt/run-command.ts';
import type { ProviderCapability } from '../drivers/interface/capabilities.ts';
import { lockFileName } from '../drivers/terraform/lock-file.ts';
import { writeRunConfiguration } from './cli-configuration.ts';
import { installThroughCache } from './install-providers.ts';
import {
  cachedHosts,
  foldersOf,
  hostOfTokenVariable,
  hostsNamedIn,
  installationMethods,
  mirrorHosts,
  type ProviderOrder,
  publicServices,
  type Services,
  stateHostsNamedIn,
  trustedHosts,
} from './installation.ts';
import { cachedVersions, type ProviderCacheOptions, packagesFolder } from './provider-cache.ts';
import type { ProviderPackage } from './provider-package.ts';
import { discoverServices, type Upstream } from './registry-client.ts';
import { type RegistryGate, startRegistryGate } from './registry-gate.ts';
import { type RegistryProxy, startRegistryProxy } from './registry-proxy.ts';

const discoveryMilliseconds = 5_000;
/** Files of the root module that may name the host of a state. */
const stateFiles = /\.(tf|tofu)(\.json)?$|\.(tfbackend|hcl)$/;
const useVariable = 'ENVARIUM_USE_TF_PLUGIN_CACHE';

/** Access to providers, once the tool's configuration is written. */
export interface ProviderAccess extends AsyncDisposable {
  /** Path of the tool's CLI configuration. */
  readonly file: string;
  /** Folders and files that the tool must be able to read. */
  readonly readable: readonly string[];
  /**
   * Prepares the configuration for the commands of a folder. A run has only the tokens of hosts where its code
   * keeps a state; those of registries are added by the agent while something is installed.
   */
  ready(folder: string): Promise<void>;
  /**
   * Runs a command that installs providers, and repeats it after missing ones were fetched.
   * @param folder the configuration's folder
   * @param start runs the command once, with its output in the specified file
   */
  install(step: string, folder: string, start: (log: string) => Promise<CommandEnd>): Promise<CommandEnd>;
  /** Null: the run does not use the agent's cache. */
  readonly cache: ProviderCacheOptions | null;
  /** All that determines where providers come from, apart from the code. Contains tokens. */
  readonly settings: unknown;
  /** Prepares the configuration for the commands of a folder whose providers are linked already. */
  readyInstalled(folder: string): Promise<void>;
}

/** @returns null if the tool has no providers, or the run has its own CLI configuration */
export function openProviderAccess(attempt: AttemptContext): ProviderAccess | null {
  const order = attempt.order.providers;
  const needs = attempt.driver.providers;
  const own = attempt.environment;
  if (order === undefined || needs === undefined || own[needs.configurationVariable] !== undefined)
    return null;
  return new Access(attempt, order, needs, own);
}

class Access implements ProviderAccess {
  readonly file: string;
  readable: readonly string[] = [];
  readonly #attempt: AttemptContext;
  readonly #order: ProviderOrder;
  readonly #needs: ProviderCapability;
  /** The run's own setting for the cache. */
  readonly #useCache: string | undefined;
  /** By host: those of the organization and of the operator. */
  readonly #tokens: ReadonlyMap<string, string>;
  /** Hosts whose tokens every command of the tool needs. */
  #stateHosts: readonly string[] | null = null;
  readonly #ownTokens: ReadonlySet<string | null>;
  readonly #stop = new AbortController();
  readonly #silence: () => void;
  readonly #upstreams = new Map<string, Upstream>();
  #proxy: Promise<RegistryProxy> | null = null;

  constructor(
    attempt: AttemptContext,
    order: ProviderOrder,
    needs: ProviderCapability,
    own: Readonly<Record<string, string>>,
  ) {
    this.#attempt = attempt;
    this.#needs = needs;
    this.#useCache = own[useVariable]?.toLowerCase();
    this.#order = this.#useCache === 'false' ? { ...order, cache: null } : order;
    this.file = join(attempt.folders.root, 'cli.tfrc');
    this.#ownTokens = new Set(Object.keys(own).map(hostOfTokenVariable));
    this.#tokens = new Map(
      [
        ...Object.entries(order.operator.credentials).flatMap(([host, { token }]) =>
          token === undefined ? [] : [[host, token] as const],
        ),
        ...(attempt.job.registryCredentials ?? []).map(({ host, token }) => [host, token] as const),
      ].filter(([host]) => !this.#ownTokens.has(host.toLowerCase())),
    );
    this.#silence = attempt.stop.onStop(({ message }) => this.#stop.abort(new Error(message)));
    // Sufficient for commands that install nothing.
    this.#configure({}, null, []);
    // Started early, while the code is fetched.
    if (this.#order.cache !== null && attempt.job.phase === 'plan') void this.#openProxy();
  }

  get cache(): ProviderCacheOptions | null {
    return this.#order.cache;
  }

  get settings(): unknown {
    const { mirror, operator, privateHosts, cache } = this.#order;
    const tokens = [...this.#tokens].sort(([left], [right]) => (left < right ? -1 : 1));
    const own = [...this.#ownTokens].filter((host) => host !== null).sort();
    return { mirror, operator, privateHosts, cache: cache?.folder ?? null, tokens, own };
  }

  async readyInstalled(folder: string): Promise<void> {
    await this.ready(folder);
    const { cache, operator } = this.#order;
    const services = { ...publicServices, ...operator.hosts };
    const hosts = cachedHosts(
      this.#order,
      services,
      (host) => this.#hasToken(host),
      this.#needs.needsSignature,
    );
    if (cache !== null && hosts.size > 0) this.#configure({}, packagesFolder(cache.folder), []);
  }

  async ready(folder: string): Promise<void> {
    if (this.#stateHosts !== null) return;
    this.#stateHosts = [];
    if (this.#tokens.size === 0) return;
    const names = await this.#attempt.tree.reader(folder).list('');
    const text = await this.#textOf(
      folder,
      names.filter((name) => stateFiles.test(name)),
    );
    const own = this.#attempt.environment;
    const more = [own['TF_CLOUD_HOSTNAME'], own['ENVARIUM_TERRAFORM_BACKEND_CONFIG']];
    const settings = more.map((value) => `\nhostname=${value?.replace(/^.*hostname=/, '') ?? ''}`).join('');
    this.#stateHosts = stateHostsNamedIn(`${text}${settings}`).filter((host) => this.#tokens.has(host));
    if (this.#stateHosts.length > 0) this.#configure({}, null, []);
  }

  async install(
    step: string,
    folder: string,
    start: (log: string) => Promise<CommandEnd>,
  ): Promise<CommandEnd> {
    const { cache } = this.#order;
    if (this.#useCache === 'true' && cache === null)
      this.#attempt.steps.warn(
        step,
        `${useVariable} requests the agent's provider cache, which ENVARIUM_PROVIDER_CACHE has disabled`,
      );
    const names = cache === null ? [] : await this.#attempt.tree.reader(folder).list('');
    const services = cache === null ? {} : await this.#services(folder, names);
    const upstreams = cachedHosts(
      this.#order,
      services,
      (host) => this.#hasToken(host),
      this.#needs.needsSignature,
    );
    await this.ready(folder);
    await using gate = await this.#openGate();
    if (cache === null || upstreams.size === 0) return this.#startWith(gate, step, start);
    for (const [host, upstream] of upstreams) this.#upstreams.set(host, upstream);
    const proxy = await this.#openProxy();
    const hosts = [...upstreams.keys()];
    const through = hosts.map(
      (host) => [host, { ...services[host], 'providers.v1': proxy.addressFor(host) }] as const,
    );
    this.#configure(
      { ...Object.fromEntries(through), ...gate?.hosts },
      packagesFolder(cache.folder),
      hosts,
      this.#tokensForInit(),
    );
    const { signal } = this.#stop;
    const hasLockFile = names.includes(lockFileName);
    try {
      return await installThroughCache({
        attempt: this.#attempt,
        cache,
        proxy,
        upstreams,
        step,
        folder,
        hasLockFile,
        signal,
        start,
      });
    } finally {
      // Later installations, in a task, cannot use the cache.
      this.#configure({}, packagesFolder(cache.folder), []);
    }
  }

  async #startWith(
    gate: RegistryGate | null,
    step: string,
    start: (log: string) => Promise<CommandEnd>,
  ): Promise<CommandEnd> {
    this.#configure(gate?.hosts ?? {}, null, [], this.#tokensForInit());
    try {
      return await start(this.#attempt.spool.stepLog(step));
    } finally {
      this.#configure({}, null, []);
    }
  }

  /** For the private registries whose tokens the run does not get; null without any. */
  async #openGate(): Promise<RegistryGate | null> {
    const known = this.#tokensForInit();
    const tokens = new Map([...this.#tokens].filter(([host]) => !Object.hasOwn(known, host)));
    if (tokens.size === 0) return null;
    const { hosts: services } = this.#order.operator;
    // A stored token vouches for its host.
    const trusted = new Set([...trustedHosts(this.#order), ...tokens.keys()]);
    return startRegistryGate({ tokens, services, trusted, signal: this.#stop.signal });
  }

  /** The tokens that the tool needs while it installs. */
  #tokensForInit(): Record<string, string> {
    return this.#only([...(this.#stateHosts ?? []), ...mirrorHosts(this.#order)]);
  }

  #only(hosts: readonly string[]): Record<string, string> {
    return Object.fromEntries([...this.#tokens].filter(([host]) => hosts.includes(host)));
  }

  #configure(
    hosts: Readonly<Record<string, Services>>,
    packages: string | null,
    cached: readonly string[],
    tokens: Readonly<Record<string, string>> = this.#only(this.#stateHosts ?? []),
  ): void {
    const { operator, cache } = this.#order;
    const installation = installationMethods(this.#order, packages, cached);
    // The tree that a plan kept for its apply contains links into the cache.
    this.readable = [
      this.file,
      ...foldersOf(installation),
      ...(cache === null ? [] : [packagesFolder(cache.folder)]),
    ];
    this.#write(writeRunConfiguration({ operator, hosts, tokens, installation }));
  }

  // The file may contain tokens: only the slot may read it.
  #write(text: string): void {
    const { slotUid } = this.#attempt.order;
    rmSync(this.file, { force: true });
    writeFileSync(this.file, text, { mode: 0o600, flag: 'wx' });
    if (slotUid === null) return;
    chownSync(this.file, process.getuid?.() ?? 0, slotUid);
    chmodSync(this.file, 0o640);
  }

  #hasToken(host: string): boolean {
    const { credentials } = this.#order.operator;
    return (
      this.#tokens.has(host) || Object.hasOwn(credentials, host) || this.#ownTokens.has(host.toLowerCase())
    );
  }

  /** The services of the registries that the run may use, by host; the operator's take precedence. */
  async #services(folder: string, names: readonly string[]): Promise<Record<string, Services>> {
    const { operator, mirror } = this.#order;
    const named = hostsNamedIn(await this.#codeOf(folder, names)).filter(
      (host) => !Object.hasOwn(operator.hosts, host) && !this.#hasToken(host),
    );
    // A mirror only needs the host's name; the host itself may be unreachable.
    const services =
      mirror === null
        ? await this.#discover(named)
        : named.map((host) => [host, { 'providers.v1': `https://${host}/` }] as const);
    return { ...publicServices, ...Object.fromEntries(services), ...operator.hosts };
  }

  async #discover(hosts: readonly string[]): Promise<(readonly [string, Services])[]> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(discoveryMilliseconds)]);
    const trusted = trustedHosts(this.#order);
    const found = await Promise.all(
      hosts.map(
        async (host) => [host, await discoverServices(host, { signal, trusted }).catch(() => null)] as const,
      ),
    );
    return found.flatMap(([host, services]) => (services === null ? [] : [[host, services] as const]));
  }

  #openProxy(): Promise<RegistryProxy> {
    const { cache } = this.#order;
    const atHand = async (one: Omit<ProviderPackage, 'version'>) =>
      cache === null ? [] : cachedVersions(cache, one);
    this.#proxy ??= startRegistryProxy({ upstreams: this.#upstreams, atHand, signal: this.#stop.signal });
    this.#proxy.catch(() => undefined);
    return this.#proxy;
  }

  /** The files that may name hosts: those of the root module, and its lock file. */
  async #codeOf(folder: string, names: readonly string[]): Promise<string> {
    return this.#textOf(
      folder,
      names.filter((name) => this.#needs.codeFiles.test(name) || name === lockFileName),
    );
  }

  async #textOf(folder: string, names: readonly string[]): Promise<string> {
    const reader = this.#attempt.tree.reader(folder);
    const texts = await Promise.all(names.map((name) => reader.text(name).catch(() => null)));
    return texts.filter((text) => text !== null).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#silence();
    this.#stop.abort(new Error('the phase has ended'));
    await (await this.#proxy?.catch(() => null))?.[Symbol.asyncDispose]();
    rmSync(this.file, { force: true });
  }
}
