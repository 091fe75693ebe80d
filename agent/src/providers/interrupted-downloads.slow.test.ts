/** Downloads of providers that are cut off, stuck, killed, or larger than the disk; and eviction while a run is at work. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';
import { expectResult } from '../../testing/outcomes.ts';
import { type PackageOptions, startProviderRegistry } from '../../testing/provider-registry.ts';
import { createSetup, type RunnerSetup, withTerraform } from '../../testing/runner-setup.ts';
import { type CachedPackage, makeRoom, openProviderCache } from './provider-cache.ts';

const host = 'registry.terraform.io';
const withTime = { skip: withTerraform.skip || withToolbox('provider-time').skip };
const canMount = process.getuid?.() === 0 && process.platform === 'linux';
const withDisk = { skip: withTerraform.skip || (canMount ? false : 'needs root: it mounts a small disk') };
/** Larger than what a socket holds. */
const content = Buffer.alloc(8_000_000, 'x').map((_, index) => (index * 2_654_435_761) >>> 24);

function code(source: string, rest = 'resource "terraform_data" "one" {}\n'): Record<string, string> {
  return {
    'main.tf': `terraform {\n  required_providers {\n    one = {\n      source = "${source}"\n    }\n  }\n}\n${rest}`,
  };
}

async function startRegistry(
  t: TestContext,
  packages: readonly PackageOptions[],
  more: { cache?: string; limitBytes?: number } = {},
) {
  const registry = await startProviderRegistry(packages);
  t.after(() => registry[Symbol.asyncDispose]());
  const cache = more.cache ?? mkdtempSync(join(tmpdir(), 'provider-cache-'));
  t.after(() => rmSync(cache, { recursive: true, force: true }));
  const operator = {
    rest: '',
    hosts: { [host]: { 'providers.v1': registry.providers } },
    credentials: {},
    installation: null,
  };
  const order = (limitBytes = more.limitBytes ?? 1e9) => ({
    providers: { cache: { folder: cache, limitBytes }, mirror: null, operator },
  });
  return { registry, cache, order };
}

function unfinishedIn(cache: string): string[] {
  const folder = join(cache, 'unfinished');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

/** A run whose code needs the provider; the stub answers no plan: init is what counts. */
async function init(
  setup: RunnerSetup,
  order: ReturnType<Awaited<ReturnType<typeof startRegistry>>['order']>,
) {
  const ran = await setup.run(setup.job(), { order });
  return {
    status: ran.steps()['tf:init'],
    log: ran.log('tf:init'),
    message: ran.outcome.error?.message ?? '',
  };
}

test('a download that is cut off in the middle is repeated from its beginning', withTerraform, async (t) => {
  const { registry, cache, order } = await startRegistry(t, [
    { name: 'acme/one', version: '1.2.0', content, lie: 'cut once' },
  ]);
  const { status, log } = await init(createSetup(t, code('acme/one')), order());
  assert.equal(status, 'SUCCESS', log);
  assert.equal(registry.downloads('acme/one'), 2);
  const [program = ''] = readdirSync(join(cache, 'packages'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('terraform-provider-one_v1.2.0'),
  );
  assert.ok(readFileSync(join(cache, 'packages', program)).equals(content));
});

test('what a killed run has downloaded in part is never used, and removed', withTerraform, async (t) => {
  const { registry, cache, order } = await startRegistry(t, [
    { name: 'acme/one', version: '1.2.0', content, lie: 'stuck once' },
  ]);
  const setup = createSetup(t, code('acme/one'));
  const running = setup.start(setup.job(), { order: order() });
  running.ended.catch(() => undefined);
  await running.until(
    () =>
      existsSync(join(cache, 'unfinished')) &&
      unfinishedIn(cache).some((name) => statSync(join(cache, 'unfinished', name)).size > 1_000_000),
    'half of the package',
  );
  const exited = new Promise((resolve) => running.child.once('exit', resolve));
  running.child.kill('SIGKILL');
  await exited;
  assert.deepEqual(readdirSync(join(cache, 'packages')), []);
  const [left = ''] = unfinishedIn(cache);
  const other = createSetup(t, code('acme/one'));
  const { status, log } = await init(other, order());
  assert.equal(status, 'SUCCESS', log);
  assert.equal(registry.downloads('acme/one'), 2);
  assert.equal(existsSync(join(cache, 'unfinished', left)), false);
  // Abandoned downloads are removed once nothing in them has changed for a while.
  const folder = join(cache, 'unfinished', 'of-another-package');
  execFileSync('mkdir', [folder]);
  writeFileSync(join(folder, 'package.zip'), 'half');
  await openProviderCache(cache);
  assert.equal(existsSync(folder), true);
  const before = new Date(Date.now() - 3600_000);
  utimesSync(folder, before, before);
  await openProviderCache(cache);
  assert.equal(existsSync(folder), true, 'its file has just been changed');
  utimesSync(join(folder, 'package.zip'), before, before);
  await openProviderCache(cache);
  assert.equal(existsSync(folder), false);
});

for (const [what, one] of [
  ['is downloaded', { content: Buffer.concat(Array.from({ length: 12 }, () => content)), lie: 'no length' }],
  ['is unpacked', { content: Buffer.alloc(200_000_000) }],
] as const)
  test(
    `a disk that becomes full while a provider ${what} is named, and nothing is left on it`,
    withDisk,
    async (t) => {
      const cache = mkdtempSync(join(tmpdir(), 'provider-disk-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=72m,mode=0755', 'tmpfs', cache]);
      t.after(() => {
        execFileSync('umount', ['--lazy', cache]);
        rmSync(cache, { recursive: true });
      });
      const { order } = await startRegistry(t, [{ name: 'acme/one', version: '1.2.0', ...one }], {
        cache: join(cache, 'cache'),
      });
      const { status, message } = await init(createSetup(t, code('acme/one')), order());
      assert.equal(status, 'FAIL');
      assert.match(message, /provider registry\.terraform\.io\/acme\/one 1\.2\.0.*no space left on device/s);
      assert.match(message, /The disk of the agent's machine is full/);
      assert.deepEqual(readdirSync(join(cache, 'cache', 'packages')), []);
      assert.deepEqual(readdirSync(join(cache, 'cache', 'unfinished')), []);
    },
  );

test(
  'a full cache keeps what a running tool uses, and is below its limit afterwards',
  withTime,
  async (t) => {
    const program = readFileSync(toolboxProgram('provider-time') ?? '');
    const { registry, cache, order } = await startRegistry(t, [
      { name: 'hashicorp/time', version: '0.14.2', content: program },
      { name: 'acme/two', version: '1.0.0' },
      { name: 'acme/three', version: '1.0.0' },
    ]);
    const packages = () =>
      readdirSync(join(cache, 'packages'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.includes('terraform-provider-'))
        .map((name) => name.split('/')[2])
        .sort();
    const wait =
      'resource "time_static" "now" {\n  provisioner "local-exec" {\n    command = "touch begun; while [ ! -e gate ]; do sleep 0.1; done"\n  }\n}\nresource "time_static" "later" {\n  depends_on = [time_static.now]\n}\n';
    const first = createSetup(t, {
      'main.tf': `terraform {\n  required_providers {\n    time = {\n      source = "hashicorp/time"\n    }\n  }\n}\n${wait}`,
    });
    const planned = await expectResult('planned', first.run(first.job(), { order: order() }));
    const applying = first.start(first.applyJob(planned), { order: order() });
    const tree = join(first.workFolder, '00000000-0000-7000-8000-0000000000e1', 'tree');
    await applying.until(() => existsSync(join(tree, 'begun')), 'the tool');
    // Neither has room; what these runs use is theirs for a while, too.
    for (const source of ['acme/two', 'acme/three']) {
      const { status, log } = await init(createSetup(t, code(source)), order(1));
      assert.equal(status, 'SUCCESS', log);
    }
    assert.deepEqual(packages(), ['three', 'time', 'two']);
    writeFileSync(join(tree, 'gate'), '');
    await expectResult('applied', applying.ended);
    assert.deepEqual(registry.downloads('hashicorp/time'), 1);
    for (const name of readdirSync(join(cache, 'records'))) {
      const file = join(cache, 'records', name);
      const record = JSON.parse(readFileSync(file, 'utf8')) as CachedPackage;
      assert.ok(record.keepUntil > Date.now());
      writeFileSync(file, JSON.stringify({ ...record, keepUntil: 0 }));
    }
    await makeRoom({ folder: cache, limitBytes: 1_000_000 });
    assert.equal(packages().includes('time'), false);
  },
);
