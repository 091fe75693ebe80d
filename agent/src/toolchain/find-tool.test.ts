import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../../../tools/suite/until.ts';
import { type MirrorLie, scriptOf } from '../../testing/tool-mirror.ts';
import { createFinder, type FinderSetup } from '../../testing/toolchain/tool-finder.ts';
import { ownPlatform } from '../own/own-platform.ts';

test('an exact version is fetched, checked and kept, executable by everybody and writable by no one', async (t) => {
  const setup = await createFinder(t, ['1.9.8', '1.10.0']);
  const tool = await setup.find('1.9.8', { onPath: { version: '1.11.4', path: '/usr/bin/terraform' } });
  assert.deepEqual({ ...tool, program: '' }, { program: '', version: '1.9.8', from: 'index', note: null });
  assert.deepEqual(readFileSync(tool.program), scriptOf('1.9.8'));
  assert.equal(statSync(tool.program).mode & 0o777, 0o555);
  assert.equal(setup.mirror.count('index.json'), 0, 'an exact version needs no index');
  assert.ok(setup.logged.some((line) => line.startsWith(`Fetching ${setup.mirror.url}/terraform/1.9.8/`)));
  assert.ok(
    setup.logged.some((line) =>
      /Checksum and signature are valid \(key [0-9A-F]{40}, Test Mirror/.test(line),
    ),
  );
  assert.deepEqual(setup.releases(), [`terraform_1.9.8_${ownPlatform}`]);
});

test('a cached release is used again without any request', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  await setup.find('1.9.8');
  const before = setup.mirror.requests.length;
  const tool = await setup.find('1.9.8', { order: { mirrors: { terraform: null } } });
  assert.equal(tool.from, 'cache');
  assert.equal(setup.mirror.requests.length, before);
});

test('opentofu is fetched in the same way, from its own layout', async (t) => {
  const setup = await createFinder(t, ['1.9.0', { version: '1.10.0-beta1' }], { program: 'tofu' });
  setup.mirror.add({ version: '1.8.1', content: Buffer.from('#!/bin/sh\n') });
  assert.equal((await setup.find('latest')).version, '1.9.0');
  assert.equal(
    (await setup.find('RESOLVE_FROM_CODE', { required: [{ file: 'main.tofu', constraint: '~> 1.8' }] }))
      .version,
    '1.8.1',
  );
  assert.deepEqual([...new Set(setup.mirror.requests.map(({ path }) => path))].slice(0, 4), [
    '/tofu/api.json',
    '/opentofu/opentofu/releases/download/v1.9.0/tofu_1.9.0_SHA256SUMS',
    '/opentofu/opentofu/releases/download/v1.9.0/tofu_1.9.0_SHA256SUMS.gpgsig',
    `/opentofu/opentofu/releases/download/v1.9.0/tofu_1.9.0_${ownPlatform}.zip`,
  ]);
});

test('latest is the newest release; a prerelease must be named', async (t) => {
  const setup = await createFinder(t, ['1.9.8', '1.10.0', '1.11.0-rc1']);
  assert.equal((await setup.find('latest')).version, '1.10.0');
  assert.equal((await setup.find('1.11.0-rc1')).version, '1.11.0-rc1');
});

test('the index is cached for some time and then revalidated by its tag', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  for (const _ of [1, 2, 3]) assert.equal((await setup.find('latest')).version, '1.9.8');
  assert.equal(setup.mirror.count('/terraform/index.json'), 1);
  const folder = join(setup.order.cacheFolder, 'indices');
  const file = join(folder, readdirSync(folder)[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"readAt":\d+/, '"readAt":1'));
  setup.mirror.add({ version: '1.9.7' });
  assert.equal((await setup.find('latest')).version, '1.9.8');
  assert.equal(setup.mirror.count('/terraform/index.json'), 2);
  assert.match(readFileSync(file, 'utf8'), /"1\.9\.7"/);
});

test('an index as large as the real one is read quickly', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  const platforms = [
    'darwin_amd64',
    'darwin_arm64',
    'freebsd_386',
    'freebsd_amd64',
    'freebsd_arm',
    'linux_386',
    'linux_arm',
    'openbsd_386',
    'openbsd_amd64',
    'solaris_amd64',
    'windows_386',
    'windows_amd64',
    'linux_arm64',
    'linux_amd64',
  ];
  const versions = Array.from({ length: 600 }, (_, index) => `0.${Math.floor(index / 30)}.${index % 30}`);
  const entry = (version: string) => ({
    name: 'terraform',
    version,
    shasums: `terraform_${version}_SHA256SUMS`,
    shasums_signature: `terraform_${version}_SHA256SUMS.sig`,
    builds: platforms.map((platform) => {
      const [os, arch] = platform.split('_');
      const filename = `terraform_${version}_${platform}.zip`;
      return {
        name: 'terraform',
        version,
        os,
        arch,
        filename,
        url: `https://releases.example/terraform/${version}/${filename}`,
      };
    }),
  });
  const all = [...versions, '1.9.8'];
  const text = JSON.stringify({
    name: 'terraform',
    versions: Object.fromEntries(all.map((version) => [version, entry(version)])),
  });
  assert.ok(text.length > 1_500_000);
  setup.mirror.answerIndex(text);
  const start = performance.now();
  const required = [{ file: 'main.tf', constraint: '>= 0.19.30' }];
  assert.equal((await setup.find('RESOLVE_FROM_TERRAFORM_CODE', { required })).version, '1.9.8');
  assert.ok(performance.now() - start < 5_000);
});

test('an unreadable index is reported in one sentence, and available versions are used', async (t) => {
  const setup = await createFinder(t, ['1.9.8', '1.8.0']);
  await setup.find('1.9.8');
  await setup.find('1.8.0');
  const onPath = { version: '1.11.4', path: '/usr/bin/terraform' };
  setup.mirror.answerIndex('<html>Please sign in</html>');
  const latest = await setup.find('latest', { onPath });
  assert.equal(latest.version, '1.11.4');
  assert.match(
    latest.note ?? '',
    /The index of terraform versions is unreachable \(http:.*index\.json answered with something that is not an index of terraform versions\): the newest/,
  );
  await setup.mirror[Symbol.asyncDispose]();
  rmSync(join(setup.order.cacheFolder, 'indices'), { recursive: true });
  const least = await setup.find('RESOLVE_FROM_TERRAFORM_CODE', {
    onPath,
    required: [{ file: 'main.tf', constraint: '>= 1.8.5' }],
  });
  assert.deepEqual([least.version, least.from], ['1.9.8', 'cache']);
  assert.match(
    least.note ?? '',
    /cannot be read: the connection was refused\): the lowest that fits on the agent's PATH or in its cache is used/,
  );
});

test('an index that did not answer is not requested again immediately', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  await setup.mirror[Symbol.asyncDispose]();
  const onPath = { version: '1.11.4', path: '/usr/bin/terraform' };
  for (const _ of [1, 2]) assert.match((await setup.find('latest', { onPath })).note ?? '', /refused/);
  const file = join(
    setup.order.cacheFolder,
    'indices',
    readdirSync(join(setup.order.cacheFolder, 'indices'))[0] ?? '',
  );
  assert.ok(JSON.parse(readFileSync(file, 'utf8')).failure.at > Date.now() - 60_000);
});

const refusals: readonly (readonly [MirrorLie, RegExp])[] = [
  [
    'checksum',
    /terraform_1\.9\.8_\S+\.zip does not match its checksum: SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}/,
  ],
  ['other bytes', /does not match its checksum/],
  ['truncated', /does not match its checksum/],
  [
    'signature',
    /the signature \S+SHA256SUMS\.sig is not valid for the checksums: .*digest did not match; nothing was installed/,
  ],
  ['other key', /was made by key [0-9A-F]{16}, which does not belong to [0-9A-F]{40}; nothing was installed/],
  ['no signature', /SHA256SUMS has no signature; nothing was installed/],
  ['broken off', /cannot be read: the connection was reset/],
  ['slow', /gave no answer for 0\.3 s/],
  ['no archive', /has no terraform 1\.9\.8: \S+\.zip answered with status 404/],
  ['no program', /the archive does not contain terraform/],
  ['leaves its folder', /the archive cannot be unpacked: .*invalid relative path/],
  ['link', /the archive contains terraform, which is not a regular file/],
  ['no zip', /the archive cannot be unpacked/],
  [
    'not for this platform',
    /there is no terraform 1\.9\.8 for \w+, only for darwin_arm64: choose another version/,
  ],
];

for (const [lie, message] of refusals) {
  test(`refused, and nothing kept: ${lie}`, async (t) => {
    const setup = await createFinder(t, [{ version: '1.9.8', lie }]);
    const onPath = { version: '1.11.4', path: '/usr/bin/terraform' };
    await assert.rejects(setup.find('1.9.8', { onPath, bounds: { silenceSeconds: 0.3 } }), (error: Error) => {
      assert.match(error.message, message);
      assert.match(
        error.message,
        /^terraform 1\.9\.8 \(requested by terraformVersion\) could not be obtained: .*\. This agent has 1\.11\.4/,
      );
      return true;
    });
    assert.deepEqual(setup.releases(), []);
  });
}

test('an unknown version and a file above the limit are refused', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  await assert.rejects(
    setup.find('9.9.9'),
    /http:\/\/127\.0\.0\.1:\d+ has no terraform 9\.9\.9: \S+SHA256SUMS answered with status 404; request another version, or put it there\. This agent has no terraform/,
  );
  await assert.rejects(setup.find('1.9.8', { bounds: { bytes: 100 } }), /sends more than 100 bytes/);
  await assert.rejects(
    setup.find('1.9.8', { order: { mirrors: { terraform: null } } }),
    /terraform 1\.9\.8 is requested .*this agent has no terraform, and nothing is fetched here/,
  );
});

test('a temporary failure of a mirror is retried; a permanent one is reported', async (t) => {
  const setup = await createFinder(t, ['1.9.8', '1.8.0']);
  setup.mirror.fail(503, 2);
  assert.equal((await setup.find('1.9.8')).from, 'index');
  setup.mirror.fail(502, 3);
  await assert.rejects(setup.find('1.8.0'), /SHA256SUMS answered with status 502/);
  assert.equal(setup.mirror.count('1.8.0_SHA256SUMS'), 3);
});

test('an unwritable cache and an unreadable key are reported', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  mkdirSync(setup.order.cacheFolder, { recursive: true });
  writeFileSync(join(setup.order.cacheFolder, 'releases'), 'in the way');
  await assert.rejects(
    setup.find('1.9.8'),
    /terraform 1\.9\.8 .* could not be obtained: it cannot be kept in \S+ \(setting ENVARIUM_TOOL_CACHE_DIR\): E/,
  );
  rmSync(join(setup.order.cacheFolder, 'releases'));
  const publicKey = setup.mirror.publicKey.replaceAll(/^[A-Za-z0-9+/]{40,}$/gm, 'A'.repeat(60));
  const mirrors = { terraform: { url: setup.mirror.url, publicKey } };
  await assert.rejects(
    setup.find('1.9.8', { order: { mirrors } }),
    /could not be obtained: the OpenPGP public key cannot be read: /,
  );
  assert.deepEqual(setup.releases(), []);
});

test("a mirror that has only the publisher's signature needs the publisher's key", async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  const mirrors = { terraform: { url: setup.mirror.url } };
  await assert.rejects(
    setup.find('1.9.8', { order: { mirrors } }),
    /does not belong to C874011F0AB405110D02105534365D9472D7468F/,
  );
  assert.equal(
    setup.mirror.count('SHA256SUMS.72D7468F.sig'),
    1,
    'the signature by the configured key is found',
  );
});

test('credentials of a mirror are sent and never shown', async (t) => {
  const authorization = `Basic ${Buffer.from('reader:opensesame').toString('base64')}`;
  const setup = await createFinder(t, ['1.9.8', { version: '1.8.0', lie: 'checksum' }], { authorization });
  const anybody = { terraform: { url: setup.mirror.url, publicKey: setup.mirror.publicKey } };
  const problemOf = (...args: Parameters<FinderSetup['find']>) =>
    setup.find(...args).then(
      () => assert.fail('nothing was refused'),
      (error: Error) => error.message,
    );
  await setup.find('latest');
  assert.match(await problemOf('1.7.0', { order: { mirrors: anybody } }), /answered with status 401/);
  const record = join(setup.order.cacheFolder, 'releases', setup.releases()[0] ?? '', 'release.json');
  for (const text of [...setup.logged, await problemOf('1.8.0'), readFileSync(record, 'utf8')])
    assert.doesNotMatch(text, /opensesame|cmVhZGVy/);
});

test('concurrent runs fetch a release once', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  const found = await Promise.all(Array.from({ length: 8 }, () => setup.find('1.9.8')));
  assert.equal(new Set(found.map(({ program }) => program)).size, 1);
  assert.equal(setup.mirror.count('.zip'), 1);
  assert.ok(setup.logged.includes('Another run is fetching terraform 1.9.8: waiting for it'));
});

function startFinder(setup: FinderSetup): { ended: Promise<number | null>; kill(): void } {
  const order = JSON.stringify({ order: setup.order });
  const program = `
    const { findTool } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'find-tool.ts')).href)});
    const { order } = ${order};
    const wanted = { kind: 'exact', version: '1.9.8', by: 'test' };
    await findTool({ order, signal: new AbortController().signal, log: () => {} }, { name: 'terraform', wanted, onPath: null, required: async () => [] });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  return {
    ended: new Promise((resolve) => child.once('exit', resolve)),
    kill: () => void child.kill('SIGKILL'),
  };
}

test('concurrent processes fetch a release once', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  const finders = Array.from({ length: 3 }, () => startFinder(setup));
  assert.deepEqual(await Promise.all(finders.map(({ ended }) => ended)), [0, 0, 0]);
  assert.equal(setup.mirror.count('.zip'), 1);
});

test('the remains of a killed fetch are not used', async (t) => {
  const setup = await createFinder(t, [{ version: '1.9.8', lie: 'slow' }]);
  const finder = startFinder(setup);
  await until('the download', () => setup.mirror.count('.zip') > 0);
  finder.kill();
  await finder.ended;
  const [left] = setup.releases();
  assert.match(left ?? '', /^\.new-/);
  await assert.rejects(
    setup.find('1.9.8', { order: { mirrors: { terraform: null } } }),
    /this agent has no terraform/,
  );
  setup.mirror.release();
  const old = new Date(Date.now() - 86_400_000);
  utimesSync(join(setup.order.cacheFolder, 'releases', left ?? ''), old, old);
  assert.equal((await setup.find('1.9.8')).from, 'index');
  assert.deepEqual(setup.releases(), [`terraform_1.9.8_${ownPlatform}`]);
});

test('an abort ends a fetch immediately', async (t) => {
  const setup = await createFinder(t, [{ version: '1.9.8', lie: 'slow' }]);
  const stop = new AbortController();
  const finding = setup.find('1.9.8', { signal: stop.signal });
  finding.catch(() => undefined);
  await until('the download', () => setup.mirror.count('.zip') > 0);
  const waiting = setup.find('1.9.8', { signal: stop.signal });
  stop.abort(new Error('the deployment was aborted'));
  for (const end of await Promise.allSettled([finding, waiting]))
    assert.match(String(end.status === 'rejected' && end.reason), /was aborted/);
  assert.deepEqual(setup.releases(), []);
});

test('a cached program is fetched again after a change of its bytes, not of its times', async (t) => {
  const setup = await createFinder(t, ['1.9.8']);
  const { program } = await setup.find('1.9.8');
  utimesSync(program, new Date(), new Date());
  assert.equal((await setup.find('1.9.8', { order: { mirrors: { terraform: null } } })).from, 'cache');
  chmodSync(program, 0o755);
  appendFileSync(program, 'echo hostile\n');
  await setup.find('1.9.8');
  assert.deepEqual(readFileSync(program), scriptOf('1.9.8'));
  assert.equal(setup.mirror.count('.zip'), 2);
});

test('the cache drops the least recently used releases, never those in use', async (t) => {
  const content = Buffer.alloc(100_000, 'x');
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const setup = await createFinder(
    t,
    versions.map((version) => ({ version, content })),
  );
  const order = { cacheBytes: 250_000 };
  const used = (version: string) =>
    join(setup.order.cacheFolder, 'releases', `terraform_${version}_${ownPlatform}`);
  for (const version of versions.slice(0, 3)) await setup.find(version, { order });
  assert.equal(setup.releases().length, 3, 'all of them are in use by this process');
  for (const [index, version] of ['1.1.0', '1.2.0', '1.0.0'].entries()) {
    const at = new Date(Date.now() - 1_000_000 + index * 1000);
    utimesSync(join(used(version), 'used'), at, at);
    if (version !== '1.1.0') rmSync(join(used(version), 'uses'), { recursive: true });
  }
  await setup.find('1.3.0', { order });
  assert.deepEqual(
    setup.releases().toSorted(),
    ['1.1.0', '1.3.0'].map((version) => `terraform_${version}_${ownPlatform}`),
  );
  assert.ok(
    setup.logged.some(
      (line) => line === `Removed terraform_1.2.0_${ownPlatform} from the tool cache: least recently used`,
    ),
  );
});
