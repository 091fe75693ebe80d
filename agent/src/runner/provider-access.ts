/**
 * How the tool of one attempt gets its providers: from the agent's cache, which is filled on the way, or as the operator or the run
 * itself says.
 *
 * The tool's first init finds in the cache what is there, and fails where something is missing; what it asked for is then fetched and
 * verified once for all runs, and init goes on. So the rules by which a tool chooses versions stay the tool's own.
 */
import { appendFileSync, chmodSync, chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { runEnvironment } from '#protocol/run-environment.ts';
import { writeRunConfiguration } from '../providers/cli-configuration.ts';
import {
  cachedHosts,
  foldersOf,
  hostOfTokenVariable,
  hostsNamedIn,
  installationMethods,
  type ProviderOrder,
  publicServices,
} from '../providers/installation.ts';
import { completeLockFile, type LockedProvider, readLockFile } from '../providers/lock-file.ts';
import {
  type CachedPackage,
  cachedPackage,
  cachedVersions,
  dropPackage,
  fillCache,
  isIntact,
  keepPackage,
  makeRoom,
  openProviderCache,
  packagesFolder,
  type ProviderCacheOptions,
  readCache,
} from '../providers/provider-cache.ts';
import { isSound, nameOf, ownPlatform, type ProviderPackage } from '../providers/provider-package.ts';
import { discoverServices, type Upstream } from '../providers/registry-client.ts';
import { type RegistryProxy, startRegistryProxy } from '../providers/registry-proxy.ts';
import { type Attempt, type CommandEnd, say, scratchPath, warn } from './attempt.ts';
import { RunFailure } from './failure.ts';

/** Tools that read the CLI configuration. */
const readers: readonly string[] = ['terraform', 'opentofu', 'terragrunt'];
/** One round learns everything that is missing; another is for what changes meanwhile. */
const mostRounds = 3;
const discoveryMilliseconds = 5_000;
const useVariable = 'ENVARIUM_USE_TF_PLUGIN_CACHE';
const lockFileName = '.terraform.lock.hcl';

/** What a phase knows of its providers once its tool's configuration is written. */
export interface ProviderAccess extends AsyncDisposable {
  /** The tool's CLI configuration. */
  readonly file: string;
  /** Folders and files that the tool has to see. */
  readonly readable: readonly string[];
  /**
   * Runs a command that installs providers, again after what it misses was fetched.
   * @param folder the configuration's
   * @param start runs the command once, its output going to the given file
   */
  install(step: string, folder: string, start: (log: string) => Promise<CommandEnd>): Promise<CommandEnd>;
}

/** @returns null where the tool has no use for it, or the run brings a configuration of its own */
export async function openProviderAccess(attempt: Attempt): Promise<ProviderAccess | null> {
  const order = attempt.order.providers;
  const own = runEnvironment(attempt.job);
  if (order === undefined || !readers.includes(attempt.job.tool) || own['TF_CLI_CONFIG_FILE'] !== undefined) return null;
  const wanted = own[useVariable]?.toLowerCase();
  const cache = wanted === 'false' ? null : order.cache;
  if (wanted === 'true' && cache === null)
    warn(
      attempt,
      'variables:setup',
      `${useVariable} asks for the agent's cache of providers, which ENVARIUM_PROVIDER_CACHE has switched off`,
    );
  if (cache !== null) await openProviderCache(cache.folder);
  const access = new Access(attempt, { ...order, cache }, own);
  await access.configure('');
  return access;
}

interface Locked {
  readonly one: CachedPackage;
  readonly provider: LockedProvider;
}

class Access implements ProviderAccess {
  readonly file: string;
  readable: readonly string[] = [];
  readonly #attempt: Attempt;
  readonly #order: ProviderOrder;
  readonly #tokens: Readonly<Record<string, string>>;
  readonly #ownTokens: ReadonlySet<string | null>;
  readonly #stop = new AbortController();
  readonly #silence: () => void;
  #upstreams = new Map<string, Upstream>();
  #proxy: RegistryProxy | null = null;

  constructor(attempt: Attempt, order: ProviderOrder, own: Readonly<Record<string, string>>) {
    this.#attempt = attempt;
    this.#order = order;
    this.file = join(attempt.folders.root, 'cli.tfrc');
    this.#tokens = Object.fromEntries((attempt.job.registryCredentials ?? []).map(({ host, token }) => [host, token]));
    this.#ownTokens = new Set(Object.keys(own).map(hostOfTokenVariable));
    this.#silence = attempt.stop.onStop(({ message }) => this.#stop.abort(new Error(message)));
  }

  /** Writes the tool's configuration. @param code texts that may name registries */
  async configure(code: string): Promise<void> {
    const { operator, cache } = this.#order;
    const services: Record<string, Readonly<Record<string, string>>> = { ...publicServices, ...(await this.#discover(code)) };
    for (const [host, given] of Object.entries(operator.hosts)) services[host] = { ...given };
    this.#upstreams = cachedHosts(this.#order, services, (host) => this.#hasToken(host), this.#attempt.job.tool);
    const hosts = await this.#hostsThroughProxy(services);
    const packages = cache === null || this.#upstreams.size === 0 ? null : packagesFolder(cache.folder);
    const installation = installationMethods(this.#order, packages, [...this.#upstreams.keys()]);
    this.readable = [this.file, ...foldersOf(installation)];
    this.#write(writeRunConfiguration({ operator, hosts, tokens: this.#tokens, installation }));
  }

  #hasToken(host: string): boolean {
    const { credentials } = this.#order.operator;
    return Object.hasOwn(this.#tokens, host) || Object.hasOwn(credentials, host) || this.#ownTokens.has(host.toLowerCase());
  }

  async #discover(code: string): Promise<Record<string, Readonly<Record<string, string>>>> {
    const { operator, cache, mirror } = this.#order;
    if (cache === null || mirror?.kind === 'folder') return {};
    const hosts = hostsNamedIn(code).filter((host) => !Object.hasOwn(operator.hosts, host) && !this.#hasToken(host));
    if (mirror !== null) return Object.fromEntries(hosts.map((host) => [host, { 'providers.v1': `https://${host}/` }]));
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(discoveryMilliseconds)]);
    const found = await Promise.all(hosts.map(async (host) => [host, await discoverServices(host, signal).catch(() => null)] as const));
    return Object.fromEntries(found.flatMap(([host, services]) => (services === null ? [] : [[host, services] as const])));
  }

  async #hostsThroughProxy(services: Readonly<Record<string, Readonly<Record<string, string>>>>) {
    const { cache } = this.#order;
    await this.#proxy?.[Symbol.asyncDispose]();
    this.#proxy = null;
    if (cache === null || this.#upstreams.size === 0) return {};
    const proxy = await startRegistryProxy({
      upstreams: this.#upstreams,
      atHand: (one) => cachedVersions(cache, one),
      signal: this.#stop.signal,
    });
    this.#proxy = proxy;
    return Object.fromEntries(
      [...this.#upstreams.keys()].map((host) => [host, { ...services[host], 'providers.v1': proxy.addressFor(host) }]),
    );
  }

  // Tokens stand in it: for the slot and nobody else.
  #write(text: string): void {
    const { slotUid } = this.#attempt.order;
    rmSync(this.file, { force: true });
    writeFileSync(this.file, text, { mode: 0o600, flag: 'wx' });
    if (slotUid === null) return;
    chownSync(this.file, process.getuid?.() ?? 0, slotUid);
    chmodSync(this.file, 0o640);
  }

  async install(step: string, folder: string, start: (log: string) => Promise<CommandEnd>): Promise<CommandEnd> {
    const { cache } = this.#order;
    await this.configure(await this.#codeOf(folder));
    if (cache === null || this.#proxy === null) return start(this.#attempt.spool.stepLog(step));
    const end = await this.#installThroughCache(cache, this.#proxy, step, folder, start);
    await makeRoom(cache).catch((error: unknown) =>
      warn(this.#attempt, step, `the cache of providers cannot be tidied up: ${(error as Error).message}`),
    );
    return end;
  }

  async #installThroughCache(
    cache: ProviderCacheOptions,
    proxy: RegistryProxy,
    step: string,
    folder: string,
    start: (log: string) => Promise<CommandEnd>,
  ): Promise<CommandEnd> {
    await using _reading = await readCache(cache);
    for (let round = 1; ; round += 1) {
      await this.#completeLock(cache, step, folder, await this.#checkLock(cache, folder));
      const log = scratchPath(this.#attempt, `init-${round}.log`);
      rmSync(log, { force: true });
      const end = await start(log);
      const wanted = proxy.takeWanted();
      const problems = proxy.takeProblems();
      const isGood = end.exitCode === 0;
      const isRepaired = !isGood && end.stop === null && wanted.length === 0 && (await this.#repair(cache, step, folder, log));
      const goesOn = !isGood && end.stop === null && (wanted.length > 0 || isRepaired) && round < mostRounds;
      this.#tell(step, log, goesOn);
      for (const problem of problems) warn(this.#attempt, step, problem);
      if (isGood) await this.#settle(cache, step, folder);
      if (!isGood && end.stop === null && wanted.length === 0 && problems.length > 0) throw new RunFailure(problems.join('\n'));
      if (!goesOn) return end;
      await this.#fetchAll(cache, step, wanted);
    }
  }

  /** What the tool printed; of an init that goes on without the errors that are being seen to. */
  #tell(step: string, log: string, goesOn: boolean): void {
    const text = existsSync(log) ? readFileSync(log) : Buffer.alloc(0);
    const errors = goesOn ? firstError(text.toString('utf8')) : null;
    appendFileSync(this.#attempt.spool.stepLog(step), errors === null ? text : text.toString('utf8').slice(0, errors), { mode: 0o600 });
  }

  async #fetchAll(cache: ProviderCacheOptions, step: string, wanted: readonly ProviderPackage[]): Promise<void> {
    const context = { signal: this.#stop.signal, say: (text: string) => say(this.#attempt, step, text), keepUntil: this.#keepUntil() };
    const results = await Promise.allSettled(
      wanted.map((one) => {
        const upstream = this.#upstreams.get(one.host);
        if (!upstream) throw new Error(`provider ${nameOf(one)}: its registry is not known`);
        return fillCache(cache, one, upstream, context);
      }),
    );
    this.#attempt.stop.throwIfStopped();
    const problems = results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : []));
    if (problems.length > 0) throw new RunFailure(problems.join('\n'), { result: 'failed', failedCommand: 'init' });
  }

  /** Takes packages out of the cache whose files are not what was verified, after the tool has said so. */
  async #repair(cache: ProviderCacheOptions, step: string, folder: string, log: string): Promise<boolean> {
    if (!existsSync(log) || !/match any of\s+(the )?checksums/.test(plainText(readFileSync(log, 'utf8')))) return false;
    let isRepaired = false;
    for (const { one } of await this.#lockedPackages(cache, folder)) {
      if (await isIntact(cache, one)) continue;
      await dropPackage(cache, one);
      warn(this.#attempt, step, `provider ${nameOf(one)}: its files in the agent's cache are not what was verified; they are fetched anew`);
      isRepaired = true;
    }
    return isRepaired;
  }

  /** Longer than this phase and one that follows at once on the same tree can take. */
  #keepUntil(): number {
    const { runSeconds, abortSeconds } = this.#attempt.job.limits;
    return Date.now() + 2 * (runSeconds + abortSeconds + 60) * 1000;
  }

  /** The packages of the cache that are in use stay; their files are what was verified; the lock file names their checksums. */
  async #settle(cache: ProviderCacheOptions, step: string, folder: string): Promise<void> {
    const locked = await this.#lockedPackages(cache, folder);
    for (const { one, provider } of locked) {
      // Vouched for by the registry's list for other platforms alone: the tool has checked the files itself.
      if (!provider.hashes.some((hash) => hash.startsWith('h1:')) || provider.hashes.includes(one.directoryHash)) {
        await keepPackage(cache, one, this.#keepUntil());
        continue;
      }
      await dropPackage(cache, one);
      throw new RunFailure(
        `provider ${nameOf(one)}: its files in the agent's cache are not what was verified; they were removed: deploy again`,
      );
    }
    await this.#completeLock(cache, step, folder, locked);
  }

  /** Of a lock file that names checksums of archives only, the tools would take any unpacked package. */
  async #checkLock(cache: ProviderCacheOptions, folder: string): Promise<readonly Locked[]> {
    const locked = await this.#lockedPackages(cache, folder);
    for (const { one, provider } of locked) {
      const verified = [one.directoryHash, ...one.hashes];
      if (provider.hashes.length === 0 || provider.hashes.some((hash) => verified.includes(hash))) continue;
      throw new RunFailure(
        `provider ${nameOf(one)}: none of the checksums in ${lockFileName} is one that its registry signs; correct the lock file ("init -upgrade" writes it anew)`,
      );
    }
    return locked;
  }

  async #completeLock(cache: ProviderCacheOptions, step: string, folder: string, known?: readonly Locked[]): Promise<void> {
    // What was approved with the lock file stays as it is.
    if (this.#attempt.job.phase === 'apply') return;
    const text = await this.#lockText(folder);
    if (text === null) return;
    const locked = known ?? (await this.#lockedPackages(cache, folder));
    const completed = completeLockFile(text, (provider) => {
      const found = locked.find(({ provider: one }) => one.source === provider.source && one.version === provider.version)?.one;
      return found ? [found.directoryHash, ...found.hashes] : null;
    });
    if (completed === null) return;
    await this.#attempt.tree.write(folder, lockFileName, completed);
    say(this.#attempt, step, `Checksums that the registries sign were added to ${lockFileName}`);
  }

  async #lockText(folder: string): Promise<string | null> {
    const bytes = await this.#attempt.tree.read(folder, lockFileName, 10_000_000);
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  }

  async #lockedPackages(cache: ProviderCacheOptions, folder: string): Promise<Locked[]> {
    const providers = readLockFile((await this.#lockText(folder)) ?? '');
    const found = await Promise.all(
      providers.map(async (provider) => {
        const [host = '', namespace = '', type = ''] = provider.source.split('/');
        const wanted = { host, namespace, type, version: provider.version, platform: ownPlatform };
        const one = this.#upstreams.has(host) && isSound(wanted) ? await cachedPackage(cache, wanted) : null;
        return one === null ? [] : [{ one, provider }];
      }),
    );
    return found.flat();
  }

  /** The root module's own files and its lock file: where hosts are named. */
  async #codeOf(folder: string): Promise<string> {
    if (this.#order.cache === null) return '';
    const reader = this.#attempt.tree.reader(folder);
    const names = (await reader.list('')).filter((name) => /\.(tf|tofu)$/.test(name) || name === lockFileName);
    const texts = await Promise.all(names.map((name) => reader.text(name).catch(() => null)));
    return texts.filter((text) => text !== null).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#silence();
    this.#stop.abort(new Error('the phase is over'));
    await this.#proxy?.[Symbol.asyncDispose]();
    rmSync(this.file, { force: true });
  }
}

/** Where the tool's first error begins, without the frame and the colours around it; null where there is none. */
function firstError(text: string): number | null {
  let at = 0;
  for (const line of text.split('\n')) {
    if (/^[│╷\s]*(Error: |╷$)/.test(stripVTControlCharacters(line))) return at;
    at += line.length + 1;
  }
  return null;
}

// The tools break their sentences at the width of a page and frame them.
function plainText(output: string): string {
  return stripVTControlCharacters(output).replaceAll(/[│╷╵\s]+/g, ' ');
}
