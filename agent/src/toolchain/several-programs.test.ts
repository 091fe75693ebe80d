import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';
import { scriptOf } from '../../testing/tool-mirror.ts';
import { createFinder } from '../../testing/toolchain/tool-finder.ts';

const host = Buffer.from('#!/bin/sh\necho yaml\n');
const release = {
  version: '3.1.0',
  others: { 'pulumi-language-yaml': host, 'pulumi-language-python-exec': Buffer.from('exec\n') },
};

test('all programs of an archive that are wanted are kept next to each other, and nothing else', async (t) => {
  const others = { ...release.others, LICENSE: Buffer.from('free'), 'sub/pulumi-language-go': host };
  const setup = await createFinder(t, [{ ...release, others }], { program: 'pulumi' });
  const { program } = await setup.find('3.1.0');
  const folder = dirname(program);
  assert.deepEqual(readFileSync(program), scriptOf('3.1.0'));
  assert.deepEqual(readFileSync(join(folder, 'pulumi-language-yaml')), host);
  assert.equal(statSync(join(folder, 'pulumi-language-yaml')).mode & 0o777, 0o555);
  const { others: hashes, bytes } = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
  assert.deepEqual(Object.keys(hashes), ['pulumi-language-yaml', 'pulumi-language-python-exec']);
  assert.equal(bytes, scriptOf('3.1.0').length + host.length + 5, 'the limit of the cache counts all');
  for (const name of ['LICENSE', 'pulumi-language-go', 'sub'])
    assert.throws(() => statSync(join(folder, name)), /ENOENT/);
});

test('a release of which one program was changed or removed is fetched again', async (t) => {
  const setup = await createFinder(t, [release], { program: 'pulumi' });
  const other = join(dirname((await setup.find('3.1.0')).program), 'pulumi-language-yaml');
  rmSync(other);
  writeFileSync(other, '#!/bin/sh\necho hostile\n', { mode: 0o555 });
  await setup.find('3.1.0');
  assert.deepEqual(readFileSync(other), host);
  rmSync(other);
  await setup.find('3.1.0');
  assert.deepEqual(readFileSync(other), host);
  assert.equal(setup.mirror.count('.tar.gz'), 3);
});

test('a link among the wanted programs is refused, and nothing is kept', async (t) => {
  const setup = await createFinder(t, [{ ...release, lie: 'link to another' }], { program: 'pulumi' });
  await assert.rejects(
    setup.find('3.1.0'),
    /contains pulumi\/pulumi-language-yaml, which is not a regular file/,
  );
  assert.deepEqual(setup.releases(), []);
});

const page = (...versions: string[]) => JSON.stringify(versions.map((one) => ({ tag_name: `v${one}` })));

test('an index in parts is read to its end', async (t) => {
  const setup = await createFinder(t, ['1.1.0', '0.9.0', '0.8.0'], { program: 'terragrunt' });
  setup.mirror.answerPages([page('1.1.0', '1.2.0-rc1'), page('0.9.0'), page('0.8.0')]);
  const oldest = { file: 'root.hcl', constraint: '< 0.9' };
  assert.equal((await setup.find('RESOLVE_FROM_CODE', { required: [oldest] })).version, '0.8.0');
  assert.equal((await setup.find('latest')).version, '1.1.0');
  assert.equal(setup.mirror.count('&page=3'), 1, 'it is kept like any other index');
});

test('a part of an index on another server is not read, and endless parts end', async (t) => {
  const setup = await createFinder(t, ['1.1.0'], { program: 'terragrunt', authorization: 'Basic c2VjcmV0' });
  setup.mirror.answerPages([page('1.1.0'), page('2.0.0')], 'http://127.0.0.1:9');
  assert.equal((await setup.find('latest')).version, '1.1.0');
  const endless = await createFinder(t, ['1.1.0'], { program: 'terragrunt' });
  endless.mirror.answerPages(Array(50).fill(page('1.1.0')));
  assert.equal((await endless.find('latest')).version, '1.1.0');
  assert.equal(endless.mirror.requests.filter(({ path }) => path.includes('?per_page=')).length, 10);
});

test(
  'the real pulumi finds the host of a language next to it in the cache',
  withToolbox('pulumi', 'pulumi-language-yaml'),
  async (t) => {
    const others = { 'pulumi-language-yaml': readFileSync(toolboxProgram('pulumi-language-yaml')!) };
    const content = readFileSync(toolboxProgram('pulumi')!);
    const setup = await createFinder(t, [{ version: '3.259.0', content, others }], { program: 'pulumi' });
    const { program } = await setup.find('3.259.0');
    const folder = temporaryFolder(t, 'pulumi-');
    writeFileSync(join(folder, 'Pulumi.yaml'), 'name: own\nruntime: yaml\noutputs:\n  greeting: hello\n');
    const env = {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      PULUMI_HOME: join(folder, 'home'),
      PULUMI_BACKEND_URL: `file://${folder}`,
      PULUMI_CONFIG_PASSPHRASE: 'only here',
      PULUMI_SKIP_UPDATE_CHECK: 'true',
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    };
    const run = (...args: string[]) =>
      execFileSync(program, [...args, '--non-interactive'], { cwd: folder, env, encoding: 'utf8' });
    run('stack', 'init', 'one');
    assert.match(run('preview', '--stack', 'one'), /greeting: +"hello"/);
  },
);
