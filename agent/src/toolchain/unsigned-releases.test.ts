import assert from 'node:assert/strict';
import { createWriteStream, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, type TestContext, test } from 'node:test';
import { createGzip } from 'node:zlib';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { tarOf } from '../../testing/archives.ts';
import { type MirrorLie, type Release, scriptOf } from '../../testing/tool-mirror.ts';
import { createFinder } from '../../testing/toolchain/tool-finder.ts';
import { ownPlatform } from '../own/own-platform.ts';
import { unpackProgram } from './unpack-program.ts';

/** Files of each publisher for version 1.30.2, below the mirror's address. */
const layouts = {
  helm: ['/helm3-latest-version', `/helm-v1.30.2-${ownPlatform.replace('_', '-')}.tar.gz.sha256sum`],
  kubectl: ['/release/stable.txt', `/release/v1.30.2/bin/${ownPlatform.replace('_', '/')}/kubectl.sha256`],
  kustomize: [
    '/repos/kubernetes-sigs/kustomize/releases',
    '/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv1.30.2/checksums.txt',
  ],
  terragrunt: [
    '/repos/gruntwork-io/terragrunt/releases?per_page=100',
    '/gruntwork-io/terragrunt/releases/download/v1.30.2/SHA256SUMS',
  ],
  pulumi: [
    '/repos/pulumi/pulumi/releases?per_page=100',
    '/pulumi/pulumi/releases/download/v1.30.2/pulumi-1.30.2-checksums.txt',
  ],
} as const;

for (const [program, [index, checksums]] of Object.entries(layouts))
  describe(`${program}, whose releases are not signed`, () => {
    const create = (t: TestContext, release: Partial<Release> = {}) =>
      createFinder(t, [{ version: '1.30.2', ...release }], { program });

    test('is fetched, compared with its checksum and kept, executable by everybody', async (t) => {
      const setup = await create(t);
      const tool = await setup.find('v1.30.2');
      assert.equal(tool.version, '1.30.2');
      assert.deepEqual(readFileSync(tool.program), scriptOf('1.30.2'));
      assert.equal(statSync(tool.program).mode & 0o777, 0o555);
      assert.deepEqual(setup.releases(), [`${program}_1.30.2_${ownPlatform}`]);
      assert.equal(setup.mirror.requests[0]?.path, checksums);
      assert.equal(setup.mirror.requests.length, 2, 'an exact version needs no index');
      assert.match(
        setup.logged.at(-1) ?? '',
        /^Checksum is valid \(not signed by \w+\); kept in the tool cache/,
      );
      const again = await setup.find('1.30.2', { order: { mirrors: { [program]: null } } });
      assert.equal(again.from, 'cache');
    });

    test('is the newest that its index lists, where latest or nothing is requested', async (t) => {
      const setup = await create(t);
      setup.mirror.add({ version: '1.31.0' });
      assert.equal((await setup.find('latest')).version, '1.31.0');
      assert.equal(setup.mirror.requests[0]?.path, index);
      const onPath = { version: '1.29.0', path: `/usr/bin/${program}` };
      assert.equal((await setup.find(undefined, { onPath })).from, 'PATH');
      assert.equal((await setup.find(undefined)).version, '1.31.0');
      assert.equal((await setup.find('1.29.0', { onPath })).from, 'PATH');
    });

    test('that was requested exactly and is cached is the latest for no one else', async (t) => {
      const setup = await create(t);
      setup.mirror.add({ version: '2.0.0' });
      await setup.find('2.0.0');
      setup.mirror.answerIndex(
        index.startsWith('/repos/')
          ? JSON.stringify([{ tag_name: `${program === 'kustomize' ? 'kustomize/' : ''}v1.30.2` }])
          : 'v1.30.2\n',
      );
      assert.equal((await setup.find('latest')).version, '1.30.2');
      const onPath = { version: '3.0.0', path: `/usr/bin/${program}` };
      assert.equal((await setup.find('latest', { onPath })).from, 'PATH');
      const offline = await setup.find('latest', { order: { mirrors: { [program]: null } } });
      assert.equal(offline.version, '2.0.0');
    });

    test('is the newest of the PATH and the cache, where the index cannot be read', async (t) => {
      const setup = await create(t);
      await setup.find('1.30.2');
      setup.mirror.answerIndex('<html>Please sign in</html>');
      const found = await setup.find('latest', { onPath: { version: '1.29.0', path: '/usr/bin/it' } });
      assert.deepEqual([found.version, found.from], ['1.30.2', 'cache']);
      assert.match(found.note ?? '', /is unreachable \(http:.* is not an index of/);
    });

    test('that the publisher does not have, or not for this machine, is refused by its name', async (t) => {
      const setup = await create(t, { lie: 'not for this platform' });
      for (const version of ['1.30.2', '9.9.9'])
        await assert.rejects(
          setup.find(version),
          new RegExp(
            `^ToolProblem: ${program} ${version.replaceAll('.', '\\.')} \\(requested by .*could not be obtained: .*` +
              `(answered with status 404|there is no ${program} .* for ${ownPlatform})`,
          ),
        );
      await assert.rejects(
        setup.find('1.30.2', { order: { mirrors: { [program]: null } } }),
        /but this agent has no \w+, and nothing is fetched here: install it there, or request another version/,
      );
    });
  });

const refusals: readonly (readonly [MirrorLie, RegExp])[] = [
  ['checksum', /tar\.gz does not match its checksum: SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}/],
  ['other bytes', /does not match its checksum/],
  ['truncated', /does not match its checksum/],
  ['broken off', /cannot be read: the connection was reset/],
  ['slow', /gave no answer for 0\.3 s/],
  ['no archive', /has no helm 3\.1\.0: \S+\.tar\.gz answered with status 404/],
  ['no program', /the archive does not contain \w+-\w+\/helm/],
  ['leaves its folder', /the archive has an entry that leads out of its folder/],
  ['link', /the archive contains \w+-\w+\/helm, which is not a regular file/],
  ['too many entries', /the archive has 1001 entries, more than the limit of 1000/],
  ['no zip', /the archive cannot be unpacked/],
];

for (const [lie, message] of refusals)
  test(`a tar archive is refused, and nothing kept: ${lie}`, async (t) => {
    const setup = await createFinder(t, [{ version: '3.1.0', lie }], { program: 'helm' });
    await assert.rejects(setup.find('3.1.0', { bounds: { silenceSeconds: 0.3 } }), message);
    assert.deepEqual(setup.releases(), []);
  });

for (const lie of ['checksum', 'truncated', 'broken off'] as const)
  test(`a program without an archive is refused, and nothing kept: ${lie}`, async (t) => {
    const setup = await createFinder(t, [{ version: '1.30.2', lie }], { program: 'kubectl' });
    await assert.rejects(setup.find('1.30.2'), /does not match its checksum|the connection was reset/);
    assert.deepEqual(setup.releases(), []);
  });

test('a checksum file with anything else than one checksum is refused', async (t) => {
  const setup = await createFinder(t, [{ version: '1.30.2', lie: 'no checksum' }], { program: 'kubectl' });
  await assert.rejects(setup.find('1.30.2'), /the file of the checksum has other content: "<html>/);
  const list = await createFinder(t, [{ version: '3.1.0', lie: 'no checksum' }], { program: 'helm' });
  await assert.rejects(list.find('3.1.0'), /the list of checksums has an invalid line: "<html>/);
});

test('what unpacks to more than the limit is refused while it is read', async (t) => {
  const folder = temporaryFolder(t, 'unpack-');
  const zeros = Buffer.alloc(1 << 20);
  const [bomb, file] = [join(folder, 'bomb'), join(folder, 'program')];
  const archive = tarOf([
    { name: 'helm', content: Buffer.from('#!/bin/sh\n') },
    { name: 'large', content: Buffer.alloc(9 << 20) },
  ]);
  await pipeline(Readable.from([archive]), createWriteStream(bomb));
  const unpack = () => unpackProgram(bomb, { format: 'tar.gz', entry: 'helm' }, file, 8 << 20);
  await assert.rejects(unpack(), /the archive cannot be unpacked: it unpacks to more than 8 MB/);
  rmSync(file);
  await pipeline(Readable.from(Array(64).fill(zeros)), createGzip(), createWriteStream(bomb));
  await assert.rejects(unpack(), /the archive cannot be unpacked/);
  assert.equal(existsSync(file), false);
  await pipeline(Readable.from(Array(9).fill(zeros)), createWriteStream(bomb));
  await assert.rejects(
    unpackProgram(bomb, { format: 'program', entry: 'kubectl' }, file, 8 << 20),
    /unpacks to more than 8388608 bytes/,
  );
});
