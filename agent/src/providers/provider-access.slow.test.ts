import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../testing/outcomes.ts';
import {
  type Lie,
  type PackageOptions,
  type ProviderRegistry,
  startProviderRegistry,
  thisPlatform,
} from '../../testing/provider-registry.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  withBubblewrap,
  withTerraform,
  withTerraformAsRoot,
} from '../../testing/runner-setup.ts';
import { findProgram } from '../processes/programs.ts';
import type { ProviderOrder } from './installation.ts';
import { directoryHash } from './provider-cache.ts';

const withTofu = { skip: withTerraform.skip || withToolbox('opentofu', 'provider-time').skip };
const withTimeInBubblewrap = { skip: withBubblewrap.skip || withToolbox('provider-time').skip };
const withTime = { skip: withTerraform.skip || withToolbox('provider-time').skip };
const host = 'registry.terraform.io';
const lockFile = '.terraform.lock.hcl';
const noOperator = { rest: '', hosts: {}, credentials: {}, installation: null };

/** Code that needs a provider and makes nothing with it: init alone installs it. */
function code(...sources: readonly { source: string; version?: string }[]): string {
  const lines = sources.map(
    ({ source, version }, index) =>
      `    p${index} = {\n      source = "${source}"\n${version ? `      version = "${version}"\n` : ''}    }\n`,
  );
  return `terraform {\n  required_providers {\n${lines.join('')}  }\n}\nresource "terraform_data" "one" {}\n`;
}

interface Setting extends AsyncDisposable {
  readonly registry: ProviderRegistry;
  readonly cache: string;
  readonly order: { readonly providers: ProviderOrder };
}

async function setting(
  t: TestContext,
  packages: readonly PackageOptions[],
  more: Partial<ProviderOrder> = {},
): Promise<Setting> {
  const registry = await startProviderRegistry(packages);
  const cache = temporaryFolder(t, 'provider-cache-');
  const operator = { ...noOperator, hosts: { [host]: { 'providers.v1': registry.providers } } };
  const providers: ProviderOrder = {
    cache: { folder: cache, limitBytes: 1e9 },
    mirror: null,
    operator,
    ...more,
  };
  return {
    registry,
    cache,
    order: { providers },
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  };
}

function packageFolder({ cache }: Setting, name: string, version: string): string {
  return join(cache, 'packages', host, name, version, thisPlatform);
}

function treeOf(setup: RunnerSetup) {
  return join(setup.workFolder, '00000000-0000-7000-8000-0000000000e1', 'tree');
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

/** Entry of the cache for its only package. */
function recordIn({ cache }: Setting): { hashes: string[]; directoryHash: string } {
  const [name = ''] = readdirSync(join(cache, 'records'));
  return JSON.parse(readFileSync(join(cache, 'records', name), 'utf8')) as {
    hashes: string[];
    directoryHash: string;
  };
}

function lockText(name: string, version: string, hashes: readonly string[]): string {
  const list = hashes.map((hash) => `    "${hash}",\n`).join('');
  return `provider "${host}/${name}" {\n  version = "${version}"\n  hashes = [\n${list}  ]\n}\n`;
}

/** The stub that most tests install answers no plan: what init did is what they look at. */
function initStep(ran: Ran): string | undefined {
  return ran.steps()['tf:init'];
}

test(
  'a provider is fetched once, verified, and linked into every run that needs it',
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [
      { name: 'acme/one', version: '1.2.0' },
      { name: 'acme/one', version: '2.0.0' },
    ]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one', version: '~> 1.0' }) });
    const first = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(first), 'SUCCESS', first.log('tf:init'));
    assert.match(first.log('tf:init'), /Fetching provider registry\.terraform\.io\/acme\/one 1\.2\.0/);
    assert.match(first.log('tf:init'), /checksum verified, signed by [0-9A-F]{16}/);
    assert.doesNotMatch(first.log('tf:init'), /Error/);
    const second = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(second), 'SUCCESS');
    assert.doesNotMatch(second.log('tf:init'), /Fetching/);
    assert.equal(registrySetting.registry.downloads('acme/one'), 1);
  },
);

test('a plan and its apply use the cached provider under one lock file', withTime, async (t) => {
  const program = toolboxProgram('provider-time') ?? '';
  await using registrySetting = await setting(t, [
    { name: 'hashicorp/time', version: '0.14.2', content: readFileSync(program) },
  ]);
  const setup = createSetup(t, {
    'main.tf': `${code({ source: 'hashicorp/time' }).replace('p0', 'time')}resource "time_static" "now" {}\n`,
  });
  const planned = await expectResult('planned', setup.run(setup.job(), { order: registrySetting.order }));
  const folder = packageFolder(registrySetting, 'hashicorp/time', '0.14.2');
  assert.equal(
    readlinkSync(join(treeOf(setup), '.terraform/providers', host, 'hashicorp/time/0.14.2', thisPlatform)),
    folder,
  );
  const lock = readFileSync(join(treeOf(setup), lockFile), 'utf8');
  assert.ok(lock.includes(await directoryHash(folder)), lock);
  assert.equal(lock.match(/zh:/g)?.length, 2, 'the lock file contains the checksums of other platforms too');
  const elsewhere = setup.applyJob(planned, { onOtherMachine: true });
  await expectResult('applied', setup.run(elsewhere, { order: registrySetting.order }));
  assert.equal(registrySetting.registry.downloads('hashicorp/time'), 1);
});

test('an apply in bubblewrap in the tree of its plan can read the cache', withTimeInBubblewrap, async (t) => {
  const program = toolboxProgram('provider-time') ?? '';
  await using registrySetting = await setting(t, [
    { name: 'hashicorp/time', version: '0.14.2', content: readFileSync(program) },
  ]);
  const files = {
    'main.tf': `${code({ source: 'hashicorp/time' }).replace('p0', 'time')}resource "time_static" "now" {}\n`,
  };
  const setup = createSetup(t, files, { asOrdinaryUser: true });
  if (setup.isOrdinary) execFileSync('chown', ['-R', '65534:65534', registrySetting.cache]);
  const planned = await setup.run(setup.job(), { order: registrySetting.order });
  await expectResult('applied', setup.run(setup.applyJob(planned), { order: registrySetting.order }));
});

test('a plan made without the cache is applied with it, and the other way round', withTime, async (t) => {
  const program = toolboxProgram('provider-time') ?? '';
  await using registrySetting = await setting(t, [
    { name: 'hashicorp/time', version: '0.14.2', content: readFileSync(program) },
  ]);
  const files = {
    'main.tf': `${code({ source: 'hashicorp/time' }).replace('p0', 'time')}resource "time_static" "now" {}\n`,
  };
  const without = { providers: { ...registrySetting.order.providers, cache: null } };
  for (const [first, second] of [
    [without, registrySetting.order],
    [registrySetting.order, without],
  ] as const) {
    const setup = createSetup(t, files);
    const planned = await setup.run(setup.job(), { order: first });
    await expectResult(
      'applied',
      setup.run(setup.applyJob(planned, { onOtherMachine: true }), { order: second }),
    );
  }
});

test(
  'a lock file from another platform is kept and completed as the tool would do',
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
    await setup.run(setup.job(), { order: registrySetting.order });
    const { hashes } = recordIn(registrySetting);
    setup.commit({ [lockFile]: lockText('acme/one', '1.2.0', [`h1:${'A'.repeat(43)}=`, ...hashes]) });
    const ran = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
    assert.match(
      ran.log('tf:init'),
      /Added the checksums signed by the registries to \.terraform\.lock\.hcl/,
    );
    setup.commit({ [lockFile]: lockText('acme/one', '1.2.0', [`zh:${'b'.repeat(64)}`]) });
    const refused = await setup.run(setup.job(), { order: registrySetting.order });
    assert.match(
      failureMessageOf(refused),
      /acme\/one 1\.2\.0: none of the checksums in \.terraform\.lock\.hcl is signed by its registry/,
    );
  },
);

for (const [lie, message] of [
  [
    'checksum',
    /acme\/one 1\.2\.0 for linux_\w+: the file has the checksum [0-9a-f]{64} instead of [0-9a-f]{64}; nothing was installed/,
  ],
  ['not in checksums', /its checksum is missing from the signed list/],
  ['signature', /signature of its checksums was not made with a key that the registry names/],
  ['other key', /signature of its checksums was not made with a key that the registry names/],
  ['no key', /names no key/],
  ['truncated', /cannot be read: the connection was reset/],
  ['error', /answered with status 500/],
  ['leaves its folder', /cannot be unpacked: /],
  ['link', /cannot be unpacked: .* link/],
] as const satisfies readonly (readonly [Lie, RegExp])[]) {
  test(`nothing is cached from a registry with a fault: ${lie}`, withTerraform, async (t) => {
    await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0', lie }]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
    const ran = await setup.run(setup.job(), { order: registrySetting.order });
    assert.match(failureMessageOf(ran), message);
    assert.deepEqual(readdirSync(join(registrySetting.cache, 'packages')), []);
    assert.deepEqual(readdirSync(join(registrySetting.cache, 'unfinished')), []);
    assert.equal(existsSync(join(registrySetting.cache, '..', 'planted')), false);
  });
}

test(
  'a run that is aborted while its provider is fetched leaves nothing behind',
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0', lie: 'slow' }]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
    const running = setup.start(setup.job(), { order: registrySetting.order });
    await running.until(
      () => registrySetting.registry.downloads('acme/one') === 1,
      'a request for the package',
    );
    running.abort('gently');
    await expectResult('aborted', running.ended);
    assert.deepEqual(readdirSync(join(registrySetting.cache, 'unfinished')), []);
  },
);

test(
  'an unavailable registry is reported only by runs whose providers are not cached',
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
    await setup.run(setup.job(), { order: registrySetting.order });
    registrySetting.registry.fail();
    const ran = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
    assert.match(
      ran.log('tf:init'),
      /Warning: provider registry\.terraform\.io\/acme\/one: .* status 500; using the versions in the agent's cache \(1\.2\.0\)/,
    );
    setup.commit({ 'main.tf': code({ source: 'acme/two' }) });
    const lacking = await setup.run(setup.job(), { order: registrySetting.order });
    assert.match(
      failureMessageOf(lacking),
      /acme\/two: .* status 500; and the agent's cache has no version of it/,
    );
  },
);

test('a provider that no registry has is reported by the tool itself', withTerraform, async (t) => {
  await using registrySetting = await setting(t, []);
  const setup = createSetup(t, { 'main.tf': code({ source: 'acme/none' }) });
  const ran = await setup.run(setup.job(), { order: registrySetting.order });
  assert.match(ran.outcome.error?.message.replaceAll(/\s+/g, ' ') ?? '', /does not have a provider named/);
});

test('changed files in the cache are detected and fetched again', withTerraform, async (t) => {
  await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
  const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
  await setup.run(setup.job(), { order: registrySetting.order });
  const { hashes, directoryHash: own } = recordIn(registrySetting);
  setup.commit({ [lockFile]: lockText('acme/one', '1.2.0', [own, ...hashes]) });
  const planted = join(packageFolder(registrySetting, 'acme/one', '1.2.0'), 'terraform-provider-one_v1.2.0');
  const damage = () => {
    chmodSync(planted, 0o755);
    writeFileSync(planted, '#!/bin/sh\necho planted\n');
  };
  damage();
  const ran = await setup.run(setup.job(), { order: registrySetting.order });
  assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
  assert.match(ran.log('tf:init'), /differ from the verified ones; fetching them again/);
  assert.equal(registrySetting.registry.downloads('acme/one'), 2);
  damage();
  setup.commit({ [lockFile]: null });
  const unlocked = await setup.run(setup.job(), { order: registrySetting.order });
  assert.match(failureMessageOf(unlocked), /differ from the verified ones and were removed: deploy again/);
  assert.equal(initStep(await setup.run(setup.job(), { order: registrySetting.order })), 'SUCCESS');
});

test(
  "an operator's build takes precedence over that of the registry, which remains in the cache",
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one', version: '1.2.0' }) });
    assert.equal(initStep(await setup.run(setup.job(), { order: registrySetting.order })), 'SUCCESS');
    const path = temporaryFolder(t, 'operator-mirror-');
    chmodSync(path, 0o755);
    const folder = join(path, host, 'acme', 'one', '1.2.0', thisPlatform);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'terraform-provider-one_v1.2.0'), '#!/bin/sh\n# another build\n', {
      mode: 0o755,
    });
    const installation = [
      { kind: 'filesystem_mirror', attributes: { path } },
      { kind: 'direct', attributes: {} },
    ] as const;
    const operator = { ...registrySetting.order.providers.operator, installation };
    const ran = await setup.run(setup.job(), {
      order: { providers: { ...registrySetting.order.providers, operator } },
    });
    assert.equal(initStep(ran), 'SUCCESS', JSON.stringify(ran.outcome));
    assert.ok(existsSync(packageFolder(registrySetting, 'acme/one', '1.2.0')));
  },
);

test(
  'providers that a task installs come from their registry or from the cache',
  withTerraform,
  async (t) => {
    await using registrySetting = await setting(t, [
      { name: 'acme/one', version: '1.2.0' },
      { name: 'acme/two', version: '2.0.0' },
    ]);
    const setup = createSetup(t, {
      'main.tf': code({ source: 'acme/one' }),
      'later/main.tf': code({ source: 'acme/one' }, { source: 'acme/two' }),
    });
    const ran = await setup.run(
      setup.job({ type: 'task', taskPayload: 'cp later/main.tf main.tf\nterraform init -no-color\n' }),
      {
        order: registrySetting.order,
      },
    );
    assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome));
    assert.equal(registrySetting.registry.downloads('acme/one'), 1);
    assert.ok(registrySetting.registry.downloads('acme/two') > 0);
  },
);

test('a run cannot write into the cache', withTerraformAsRoot, async (t) => {
  await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
  const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
  await setup.run(setup.job(), { order: registrySetting.order });
  for (const path of filesBelow(join(registrySetting.cache, 'packages'))) {
    const { uid, mode } = statSync(path);
    assert.deepEqual([uid, mode & 0o022], [0, 0], path);
  }
});

for (const [where, options, condition] of [
  ["with a slot's user", {}, withTerraformAsRoot],
  ['in bubblewrap', { asOrdinaryUser: true }, withBubblewrap],
] as const) {
  test(`a hostile provider cannot write into the cache, ${where}`, condition, async (t) => {
    await using registrySetting = await setting(t, []);
    const places = ['$(dirname "$0")/planted', `${registrySetting.cache}/packages/planted`, '$0'];
    const tries = places.map((place) => `if echo planted >> "${place}"; then echo wrote; fi\n`).join('');
    registrySetting.registry.add({
      name: 'acme/one',
      version: '1.2.0',
      content: Buffer.from(`#!/bin/sh\n( ${tries} ) 2> /dev/null\necho tried\nexit 1\n`),
    });
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) }, options);
    if (setup.isOrdinary) execFileSync('chown', ['-R', '65534:65534', registrySetting.cache]);
    const ran = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
    assert.match(failureMessageOf(ran), /tried/);
    assert.doesNotMatch(failureMessageOf(ran), /wrote/);
    assert.equal(
      await directoryHash(packageFolder(registrySetting, 'acme/one', '1.2.0')),
      recordIn(registrySetting).directoryHash,
    );
    assert.equal(
      filesBelow(registrySetting.cache).some((path) => path.endsWith('planted')),
      false,
    );
  });
}

test('OpenTofu gets its providers from the same cache, under its own registry', withTofu, async (t) => {
  const registry = await startProviderRegistry([
    {
      name: 'hashicorp/time',
      version: '0.14.2',
      content: readFileSync(toolboxProgram('provider-time') ?? ''),
    },
  ]);
  t.after(() => registry[Symbol.asyncDispose]());
  const cache = temporaryFolder(t, 'provider-cache-');
  const operator = {
    ...noOperator,
    hosts: { 'registry.opentofu.org': { 'providers.v1': registry.providers } },
  };
  const order = { providers: { cache: { folder: cache, limitBytes: 1e9 }, mirror: null, operator } };
  const files = {
    'main.tf': `${code({ source: 'hashicorp/time' }).replace('p0', 'time')}resource "time_static" "now" {}\n`,
  };
  const toolPaths = { tofu: toolboxProgram('opentofu') ?? '', git: findProgram('git') ?? '' };
  for (const _ of [1, 2]) {
    const setup = createSetup(t, files);
    const planned = await expectResult(
      'planned',
      setup.run(setup.job({ tool: 'opentofu' }), { order, toolPaths }),
    );
    await expectResult(
      'applied',
      setup.run(setup.applyJob(planned, { onOtherMachine: true }), { order, toolPaths }),
    );
  }
  assert.equal(registry.downloads('hashicorp/time'), 1);
});

test(
  'a network mirror replaces every registry, and fills the cache using its own checksums',
  withTerraform,
  async (t) => {
    await using registry = await startProviderRegistry([
      { name: 'acme/one', version: '1.2.0' },
      { name: 'acme/two', version: '1.0.0', lie: 'checksum' },
      { name: 'acme/three', version: '1.0.0', lie: 'not in checksums' },
    ]);
    const mirror = { kind: 'address', url: `${registry.url}/mirror` } as const;
    await using registrySetting = await setting(t, [], { mirror });
    const setup = createSetup(t, { 'main.tf': code({ source: 'acme/one' }) });
    const ran = await setup.run(setup.job(), { order: registrySetting.order });
    assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
    assert.equal(registry.downloads('acme/one'), 1);
    assert.deepEqual(registrySetting.registry.requests, []);
    for (const [name, message] of [
      ['two', /acme\/two 1\.0\.0 .* instead of zh:/],
      ['three', /provides no checksum \(zh:…\)/],
    ] as const) {
      setup.commit({ 'main.tf': code({ source: `acme/${name}` }) });
      const refused = await setup.run(setup.job(), { order: registrySetting.order });
      assert.match(failureMessageOf(refused), message);
    }
  },
);

test('a run may disable the cache or use its own configuration', withTerraform, async (t) => {
  await using registrySetting = await setting(t, [{ name: 'acme/one', version: '1.2.0' }]);
  const setup = createSetup(t, {
    'main.tf': code({ source: 'acme/one' }),
    'own.tfrc': `host "${host}" {\n  services = { "providers.v1" = "${registrySetting.registry.providers}" }\n}\n`,
  });
  for (const [name, value] of [
    ['ENVARIUM_USE_TF_PLUGIN_CACHE', 'false'],
    ['TF_CLI_CONFIG_FILE', 'own.tfrc'],
  ] as const) {
    const variables = { environment: [{ name, value, isSensitive: false }], terraform: [] };
    const ran = await setup.run(setup.job({ variables }), { order: registrySetting.order });
    assert.equal(initStep(ran), 'SUCCESS', ran.log('tf:init'));
    assert.doesNotMatch(ran.log('tf:init'), /agent's cache/);
    assert.equal(existsSync(packageFolder(registrySetting, 'acme/one', '1.2.0')), false);
  }
});
