import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Secret } from '#settings/secret.ts';
import { SettingsError } from '#settings/settings.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { startProviderRegistry, thisPlatform } from '../../testing/provider-registry.ts';
import { completeLockFile, readLockFile } from '../drivers/terraform/lock-file.ts';
import { lockedProviders } from '../drivers/terraform/versions.ts';
import { fillCache } from './fill-cache.ts';
import { hostsNamedIn } from './installation.ts';
import { type ProviderSettings, prepareProviders } from './prepare-providers.ts';
import { cachedPackage, cachedVersions, makeRoom, openProviderCache, readCache } from './provider-cache.ts';
import { isSound } from './provider-package.ts';

const host = 'registry.example';

async function opened(t: TestContext, limitBytes: number) {
  const folder = temporaryFolder(t, 'provider-cache-');
  await openProviderCache(folder);
  return { folder, limitBytes };
}

function packageOf(version: string) {
  return { host, namespace: 'acme', type: 'one', version, platform: thisPlatform };
}

const upstreamOf = ({ providers: url }: { readonly providers: string }) =>
  ({ kind: 'registry', url, needsSignature: true, trusted: new Set(['127.0.0.1']) }) as const;

test('a full cache drops the least recently used packages, but none while a tool is choosing', async (t) => {
  const content = Buffer.alloc(1000, 'x');
  await using registry = await startProviderRegistry(
    ['1.0.0', '2.0.0', '3.0.0'].map((version) => ({ name: 'acme/one', version, content })),
  );
  const cache = await opened(t, 1500);
  const upstream = upstreamOf(registry);
  const context = (keepUntil: number) => ({
    signal: new AbortController().signal,
    log: () => undefined,
    keepUntil,
  });
  await fillCache(cache, packageOf('1.0.0'), upstream, context(0));
  await fillCache(cache, packageOf('2.0.0'), upstream, context(Date.now() + 60_000));
  await fillCache(cache, packageOf('3.0.0'), upstream, context(0));
  {
    await using _reading = await readCache(cache);
    await makeRoom(cache);
    assert.equal((await cachedVersions(cache, packageOf('')))?.length, 3);
  }
  await makeRoom(cache);
  assert.deepEqual(await cachedVersions(cache, packageOf('')), ['2.0.0']);
  assert.equal(await cachedPackage(cache, packageOf('1.0.0')), null);
  assert.deepEqual(readdirSync(join(cache.folder, 'unfinished')), []);
});

test('a killed reader does not block removal forever; packages that a run has just chosen remain', async (t) => {
  const content = Buffer.alloc(1000, 'x');
  await using registry = await startProviderRegistry(
    ['1.0.0', '2.0.0'].map((version) => ({ name: 'acme/one', version, content })),
  );
  const { folder } = await opened(t, 0);
  const upstream = upstreamOf(registry);
  const context = { signal: new AbortController().signal, log: () => undefined, keepUntil: 0 };
  for (const version of ['1.0.0', '2.0.0'])
    await fillCache({ folder, limitBytes: 0 }, packageOf(version), upstream, context);
  const chosen = await cachedPackage({ folder, limitBytes: 0 }, packageOf('2.0.0'));
  assert.ok(chosen);
  const yesterday = new Date(Date.now() - 25 * 3600 * 1000);
  for (const left of [join(folder, 'readers', 'killed'), join(folder, 'unfinished', 'killed')]) {
    writeFileSync(left, '');
    utimesSync(left, yesterday, yesterday);
  }
  let requests = 0;
  const cache = {
    folder,
    // Called once for each package: the second is chosen when the first is about to go.
    get limitBytes() {
      if (++requests === 1) {
        const [record = ''] = readdirSync(join(folder, 'records')).filter((name) =>
          readFileSync(join(folder, 'records', name), 'utf8').includes('"2.0.0"'),
        );
        writeFileSync(
          join(folder, 'records', record),
          JSON.stringify({ ...chosen, keepUntil: Date.now() + 60_000 }),
        );
      }
      return 0;
    },
  };
  await makeRoom(cache);
  assert.deepEqual(await cachedVersions(cache, packageOf('')), ['2.0.0']);
  for (const place of ['readers', 'unfinished']) assert.deepEqual(readdirSync(join(folder, place)), []);
});

test('a reader that was killed no longer counts, and one that lives does', async (t) => {
  await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.0.0' }]);
  const cache = await opened(t, 0);
  const upstream = upstreamOf(registry);
  const context = { signal: new AbortController().signal, log: () => undefined, keepUntil: 0 };
  await fillCache(cache, packageOf('1.0.0'), upstream, context);
  const reading = `const { readCache } = await import(${JSON.stringify(import.meta.resolve('./provider-cache.ts'))});
await readCache({ folder: process.argv[1] });
console.log('reads');
setInterval(() => {}, 60_000);`;
  const reader = spawn(process.execPath, ['--input-type=module', '--eval', reading, cache.folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => reader.kill('SIGKILL'));
  await once(reader.stdout, 'data');
  await makeRoom(cache);
  assert.deepEqual(await cachedVersions(cache, packageOf('')), ['1.0.0']);
  reader.kill('SIGKILL');
  await once(reader, 'exit');
  await makeRoom(cache);
  assert.deepEqual(await cachedVersions(cache, packageOf('')), []);
  assert.deepEqual(readdirSync(join(cache.folder, 'readers')), []);
});

test('the cache is readable for all and writable only for its owner, whatever the umask', async (t) => {
  await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.0.0' }]);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  const cache = await opened(t, 1e9);
  const upstream = upstreamOf(registry);
  await fillCache(cache, packageOf('1.0.0'), upstream, {
    signal: new AbortController().signal,
    log: () => undefined,
    keepUntil: 0,
  });
  const packages = join(cache.folder, 'packages');
  for (const name of ['', ...readdirSync(packages, { recursive: true, encoding: 'utf8' })]) {
    const { mode } = statSync(join(packages, name));
    assert.equal(mode & 0o044, 0o044, name);
    assert.equal(mode & 0o022, 0, name);
  }
});

test('names that would lead out of the cache are rejected', () => {
  for (const part of ['..', '.', '', 'a/b', '-x', 'A', 'a\0'])
    assert.equal(isSound({ ...packageOf('1.0.0'), type: part }), false, JSON.stringify(part));
  for (const version of ['..', '1', '1.0', 'latest', '1.0.0/..', ''])
    assert.equal(isSound(packageOf(version)), false, version);
  assert.equal(isSound({ ...packageOf('1.0.0-beta1'), host: '127.0.0.1:8080' }), true);
});

test('a lock file gets checksums only of packages that it already vouches for', () => {
  const entry = (name: string, hashes: string) =>
    `provider "${host}/acme/${name}" {\n  version     = "1.0.0"\n  constraints = "~> 1.0"\n  hashes = [\n${hashes}  ]\n}\n`;
  const text = `# Kept.\n\n${entry('one', '    "zh:aa",\n')}\n${entry('two', '    "zh:cc",\n')}`;
  assert.deepEqual(readLockFile(text)[0], {
    source: `${host}/acme/one`,
    version: '1.0.0',
    hashes: ['zh:aa'],
  });
  const completed = completeLockFile(text, () => ['h1:new', 'zh:aa', 'zh:bb']);
  assert.equal(
    completed,
    `# Kept.\n\n${entry('one', '    "h1:new",\n    "zh:aa",\n    "zh:bb",\n')}\n${entry('two', '    "zh:cc",\n')}`,
  );
  assert.equal(
    completeLockFile(completed ?? '', () => ['h1:new', 'zh:aa']),
    null,
  );
  assert.equal(
    completeLockFile(text, () => null),
    null,
  );
});

test('code and lock files that are made to be slow to read are read quickly', () => {
  const startedAt = performance.now();
  const size = 1_000_000;
  assert.deepEqual(readLockFile('provider "a/b/c" {\n'.repeat(size / 17)), []);
  assert.equal(readLockFile(`provider "a/b/c" {\n${'hashes = [\n'.repeat(size / 11)}}\n`).length, 1);
  assert.equal(readLockFile(`provider "a/b/c" {\n${'\n'.repeat(size)}}\n`).length, 1);
  assert.deepEqual(lockedProviders(`provider "a/b/c" {\n${'\n'.repeat(size)}version = "1.0.0"\n}\n`), {
    'a/b/c': '1.0.0',
  });
  assert.deepEqual(hostsNamedIn(`source = "${'a.'.repeat(size / 2)}`), []);
  assert.deepEqual(hostsNamedIn('source   = "Registry.Example:8443/acme/one"\nsource = "acme/one/aws"'), [
    'registry.example:8443',
  ]);
  assert.ok(performance.now() - startedAt < 5000);
});

const settings: ProviderSettings = {
  providerCache: false,
  providerCacheFolder: undefined,
  providerCacheMegabytes: 1,
  providerMirror: undefined,
  registryPrivateHosts: [],
  terraformCliConfig: undefined,
};

test('invalid settings stop the start with their names', async (t) => {
  const folder = temporaryFolder(t, 'providers-');
  chmodSync(folder, 0o755);
  const refused = (changed: Partial<ProviderSettings>, message: RegExp) =>
    assert.rejects(prepareProviders({ ...settings, ...changed }, folder), (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, message);
      return true;
    });
  await refused(
    { providerMirror: join(folder, 'none') },
    /^ENVARIUM_PROVIDER_MIRROR names .*none, which cannot be read/,
  );
  await refused(
    { terraformCliConfig: new Secret('nonsense = 1') },
    /^ENVARIUM_TERRAFORM_CLI_CONFIG: nonsense is not part/,
  );
  const mirrored = new Secret('provider_installation {\n  filesystem_mirror {\n    path = "/gone"\n  }\n}\n');
  await refused({ terraformCliConfig: mirrored }, /names the filesystem_mirror \/gone, which cannot be read/);
  const direct = new Secret('provider_installation {\n  direct {\n  }\n}\n');
  await refused({ terraformCliConfig: direct, providerMirror: folder }, /set only one of them/);
  const prepared = await prepareProviders(
    { ...settings, providerCache: true, providerMirror: 'https://mirror.example' },
    folder,
  );
  assert.deepEqual(prepared.order.cache, { folder: join(folder, '.providers'), limitBytes: 1_000_000 });
});
