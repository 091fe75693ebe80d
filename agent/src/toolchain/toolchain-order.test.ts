import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { allPrograms, tools } from '#protocol/tools/index.ts';
import { opentofuKey } from '#protocol/tools/keys/index.ts';
import { agentSettings } from '#settings/agent.ts';
import { readProgramSettings, SettingsError } from '#settings/settings.ts';
import { drivers } from '../drivers/index.ts';
import { findProgram } from '../processes/programs.ts';
import { findAvailableTools } from './available-tools.ts';
import { prepareToolchain } from './toolchain-order.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolchain-'));
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function settingsOf(values: Record<string, string>) {
  return readProgramSettings(agentSettings, values);
}

test('a mirror is read with its credentials and key, and the credentials are never printed', (t) => {
  const settings = settingsOf({
    ENVARIUM_TOOL_MIRROR_TERRAFORM: 'https://reader:open%40sesame@mirror.example/hashicorp/',
    ENVARIUM_TOOL_MIRROR_KEY_TERRAFORM: opentofuKey,
    ENVARIUM_TOOL_MIRROR_OPENTOFU: 'none',
  });
  const { order, secrets } = prepareToolchain(settings, folderOf(t));
  const coded = Buffer.from('reader:open@sesame').toString('base64');
  assert.deepEqual(order.mirrors, {
    terraform: {
      url: 'https://mirror.example/hashicorp',
      authorization: `Basic ${coded}`,
      publicKey: opentofuKey,
    },
    tofu: null,
  });
  assert.deepEqual(secrets, [coded, 'open@sesame']);
  assert.doesNotMatch(`${JSON.stringify(settings)} ${inspect(settings)}`, /sesame/);
});

test('malformed settings are named without their value', () => {
  const refused = (values: Record<string, string>) => {
    try {
      settingsOf(values);
    } catch (error) {
      return (error as Error).message;
    }
    return assert.fail('nothing was refused');
  };
  assert.match(
    refused({ ENVARIUM_TOOL_MIRROR_TERRAFORM: 'ftp://a:hunter2@b' }),
    /^ENVARIUM_TOOL_MIRROR_TERRAFORM must be an http/,
  );
  assert.doesNotMatch(refused({ ENVARIUM_TOOL_MIRROR_TERRAFORM: 'ftp://a:hunter2@b' }), /hunter2/);
  assert.match(
    refused({ ENVARIUM_TOOL_MIRROR_KEY_OPENTOFU: '/no/such/file' }),
    /ENVARIUM_TOOL_MIRROR_KEY_OPENTOFU must be an armored/,
  );
  assert.match(refused({ ENVARIUM_TOOL_CACHE_MB: '0' }), /ENVARIUM_TOOL_CACHE_MB/);
});

test('every download has its mirror, by the program that names its releases', (t) => {
  const settings = settingsOf({
    ENVARIUM_TOOL_MIRROR_ANSIBLE: 'https://reader:open%40sesame@mirror.example/simple/',
    ENVARIUM_TOOL_MIRROR_HELM: 'https://mirror.example/helm',
    ENVARIUM_TOOL_MIRROR_KUBECTL: 'none',
    ENVARIUM_TOOL_MIRROR_KUSTOMIZE: 'http://127.0.0.1:8080',
  });
  const { order, secrets } = prepareToolchain(settings, folderOf(t));
  assert.deepEqual(order.mirrors, {
    'ansible-playbook': {
      url: 'https://mirror.example/simple',
      authorization: `Basic ${Buffer.from('reader:open@sesame').toString('base64')}`,
    },
    helm: { url: 'https://mirror.example/helm' },
    kubectl: null,
    kustomize: { url: 'http://127.0.0.1:8080' },
  });
  assert.ok(secrets.includes('open@sesame'));
});

test('a key without a mirror is refused', (t) => {
  for (const mirror of ['', 'none']) {
    const settings = settingsOf({
      ENVARIUM_TOOL_MIRROR_OPENTOFU: mirror,
      ENVARIUM_TOOL_MIRROR_KEY_OPENTOFU: opentofuKey,
    });
    assert.throws(
      () => prepareToolchain(settings, folderOf(t)),
      /ENVARIUM_TOOL_MIRROR_KEY_OPENTOFU is set, but ENVARIUM_TOOL_MIRROR_OPENTOFU specifies no mirror/,
    );
  }
});

test('a cache that runs cannot read is refused by its setting', (t) => {
  const folder = folderOf(t);
  const { order } = prepareToolchain(
    settingsOf({ ENVARIUM_TOOL_CACHE_DIR: join(folder, 'a', 'cache'), ENVARIUM_TOOL_CACHE_MB: '7' }),
    folder,
  );
  assert.equal(order.cacheBytes, 7 * 1024 * 1024);
  assert.equal(statSync(order.cacheFolder).mode & 0o055, 0o055);
  assert.equal(prepareToolchain(settingsOf({}), folder).order.cacheFolder, join(folder, '.tools'));
  if (process.getuid?.() !== 0) return;
  chmodSync(folder, 0o700);
  assert.throws(
    () => prepareToolchain(settingsOf({ ENVARIUM_TOOL_CACHE_DIR: join(folder, 'cache') }), folder),
    (error: Error) =>
      error instanceof SettingsError && /^ENVARIUM_TOOL_CACHE_DIR: .* is closed to them/.test(error.message),
  );
});

test('an agent accepts tools that it has or can fetch, and reports missing ones', async (t) => {
  const before = process.env.PATH;
  t.after(() => void (process.env.PATH = before));
  process.env.PATH = '/nowhere';
  const order = { cacheFolder: folderOf(t), cacheBytes: 1, mirrors: {} };
  if (findProgram('python3') !== null)
    assert.deepEqual(await findAvailableTools(drivers, order), { types: Object.keys(drivers), missing: [] });
  // Ansible is fetched by python3, which this machine may lack.
  const fetchable = Object.fromEntries(Object.entries(drivers).filter(([type]) => type !== 'ansible'));
  const types = Object.keys(fetchable);
  assert.deepEqual(await findAvailableTools(fetchable, order), { types, missing: [] });
  const others = types.filter((type) => type !== 'terraform');
  const withoutOne = await findAvailableTools(fetchable, { ...order, mirrors: { terraform: null } });
  assert.deepEqual(withoutOne, { types: others, missing: ['terraform'] });
  const mirrors = Object.fromEntries(allPrograms.map(({ name }) => [name, null]));
  const none = await findAvailableTools(drivers, { ...order, mirrors });
  assert.deepEqual(none.types, Object.keys(drivers));
  const needed = Object.values(tools).flatMap(({ program, companions }) => [
    // A part of the agent is never missing.
    ...(program.ownVersion === undefined ? [program.name] : []),
    ...companions.filter(({ isOptional }) => !isOptional).map((one) => one.program.name),
  ]);
  assert.deepEqual(none.missing.toSorted(), [...new Set(needed)].toSorted());
});
