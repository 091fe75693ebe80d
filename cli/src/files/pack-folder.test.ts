import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { packFolder } from './pack-folder.ts';

let root: string;
const path = process.env.PATH ?? '';

before(() => {
  root = mkdtempSync(join(tmpdir(), 'envarium-pack-'));
});
after(() => {
  process.env.PATH = path;
  rmSync(root, { recursive: true });
});

function folderWith(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

function repositoryWith(name: string, files: Readonly<Record<string, string>>): string {
  const folder = folderWith(name, files);
  execFileSync('git', ['init', '--quiet', folder]);
  execFileSync('git', ['-C', folder, 'add', '.']);
  return folder;
}

/** Puts a program in front of all others. */
function shadow(program: string, script: string): void {
  const folder = folderWith(`bin-${program}`, { [program]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, program), 0o755);
  process.env.PATH = `${folder}${delimiter}${path}`;
}

function namesIn(archive: Uint8Array): string[] {
  const list = execFileSync('tar', ['--list', '--gzip', '--file=-'], { input: archive, encoding: 'utf8' });
  return list.trimEnd().split('\n').toSorted();
}

test('a folder of a repository is packed without ignored and deleted files, by any tar', async () => {
  const folder = repositoryWith('own', {
    '.gitignore': 'secret.tfvars\n',
    'main.tf': '',
    '-C': '',
    'gone.tf': '',
  });
  writeFileSync(join(folder, 'secret.tfvars'), 'hush');
  writeFileSync(join(folder, 'new.tf'), '');
  symlinkSync('nowhere', join(folder, 'link'));
  rmSync(join(folder, 'gone.tf'));
  const real = execFileSync('sh', ['-c', 'command -v tar'], { encoding: 'utf8' }).trim();
  shadow(
    'tar',
    `case "$*" in *--ignore-failed-read*|*--verbatim*) echo "unknown option" >&2; exit 1;; esac\nexec ${real} "$@"`,
  );
  const { archive, files } = await packFolder(folder);
  process.env.PATH = path;
  assert.deepEqual(namesIn(archive), ['-C', '.gitignore', 'link', 'main.tf', 'new.tf']);
  assert.equal(files, 5);
});

test('what links lead to elsewhere in the repository is packed; other links stay as they are', async () => {
  const repository = repositoryWith('linked', {
    'common.tf': 'common',
    '.gitignore': 'secret*\n',
    secret: 'hush',
  });
  const app = join(repository, 'stacks', 'app');
  for (const folder of [app, join(repository, 'modules', 'net')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(app, 'main.tf'), 'main');
  writeFileSync(join(repository, 'modules', 'net', 'net.tf'), 'net');
  writeFileSync(join(repository, 'modules', 'net', 'secret.tfvars'), 'hush');
  symlinkSync('../../common.tf', join(repository, 'modules', 'net', 'again.tf'));
  symlinkSync('../..', join(repository, 'modules', 'net', 'round'));
  symlinkSync('../../stacks/app', join(repository, 'modules', 'net', 'back'));
  for (const [name, target] of [
    ['common.tf', '../../common.tf'],
    ['modules', '../../modules'],
    ['own.tf', 'main.tf'],
    ['dangling', 'nowhere'],
    ['absolute', '/etc/hostname'],
    ['out', '../../../../x'],
  ] as const)
    symlinkSync(target, join(app, name));
  const { archive } = await packFolder(app);
  const unpacked = join(root, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', '-', '-C', unpacked], { input: archive });
  const text = (name: string) => readFileSync(join(unpacked, name), 'utf8');
  assert.deepEqual(['common.tf', 'modules/net/net.tf', 'modules/net/again.tf', 'own.tf'].map(text), [
    'common',
    'net',
    'common',
    'main',
  ]);
  assert.deepEqual(
    ['own.tf', 'dangling', 'absolute', 'out'].map((name) => readlinkSync(join(unpacked, name))),
    ['main.tf', 'nowhere', '/etc/hostname', '../../../../x'],
  );
  assert.equal(existsSync(join(unpacked, 'modules/net/secret.tfvars')), false);
});

test('variable files that git does not track are left out and named, also behind links, unless they are wanted', async () => {
  const repository = repositoryWith('values', {
    '.gitignore': 'ignored.auto.tfvars\n',
    'main.tf': '',
    'tracked.auto.tfvars': '',
  });
  for (const name of ['app', 'shared']) mkdirSync(join(repository, name));
  const mine = ['.env', '.env.local', 'ignored.auto.tfvars', 'my.auto.tfvars', 'terraform.tfvars.json'];
  for (const name of mine) writeFileSync(join(repository, name), 'hush');
  writeFileSync(join(repository, 'shared', 'net.tf'), '');
  writeFileSync(join(repository, 'shared', 'net.tfvars'), 'hush');
  for (const [name, target] of [
    ['env', '../.env'],
    ['shared', '../shared'],
    ['tracked.tf', '../tracked.auto.tfvars'],
    ['ignored', '../ignored.auto.tfvars'],
    ['config', '../.git/config'],
  ] as const)
    symlinkSync(target, join(repository, 'app', name));

  const without = await packFolder(repository);
  const links = ['app/config', 'app/env', 'app/ignored', 'app/shared', 'app/tracked.tf'];
  const always = ['.gitignore', ...links, 'main.tf', 'shared/net.tf', 'tracked.auto.tfvars'];
  const wanted = ['.env', '.env.local', 'my.auto.tfvars', 'shared/net.tfvars', 'terraform.tfvars.json'];
  assert.deepEqual(namesIn(without.archive), always.toSorted());
  assert.deepEqual(without.leftOut.toSorted(), wanted);
  const whole = await packFolder(repository, true);
  assert.deepEqual(namesIn(whole.archive), [...always, ...wanted].toSorted());
  assert.deepEqual(whole.leftOut, []);

  const app = await packFolder(join(repository, 'app'));
  assert.deepEqual(app.leftOut.toSorted(), ['../.env', '../shared/net.tfvars']);
  const unpacked = join(root, 'unpacked-values');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', '-', '-C', unpacked], { input: app.archive });
  assert.deepEqual(
    ['env', 'ignored', 'config'].map((name) => readlinkSync(join(unpacked, name))),
    ['../.env', '../ignored.auto.tfvars', '../.git/config'],
  );
  assert.equal(readFileSync(join(unpacked, 'tracked.tf'), 'utf8'), '');
  assert.deepEqual(readdirSync(join(unpacked, 'shared')), ['net.tf']);
});

test('outside of a repository, variable files are left out and named unless they are wanted', async () => {
  const folder = folderWith('plain-values', { 'main.tf': '', '.env': 'hush', 'my.auto.tfvars': 'hush' });
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub', 'x.tfvars.json'), '{}');
  const { archive, leftOut, files } = await packFolder(folder);
  assert.deepEqual(namesIn(archive), ['./', './main.tf', './sub/']);
  assert.deepEqual(leftOut.toSorted(), ['.env', 'my.auto.tfvars', 'sub/x.tfvars.json']);
  assert.equal(files, 1);
  const whole = await packFolder(folder, true);
  assert.deepEqual([whole.files, whole.leftOut], [4, []]);
});

test('a folder in whose place there is a file now is packed as that file', async () => {
  const folder = repositoryWith('replaced', { 'main.tf': '' });
  mkdirSync(join(folder, 'm'));
  writeFileSync(join(folder, 'm', 'a.tf'), '');
  execFileSync('git', ['-C', folder, 'add', '.']);
  rmSync(join(folder, 'm'), { recursive: true });
  writeFileSync(join(folder, 'm'), '');
  assert.deepEqual(namesIn((await packFolder(folder)).archive), ['m', 'main.tf']);
});

test('outside of a repository, git is not needed', async () => {
  const folder = folderWith('without', { 'main.tf': '' });
  const bin = folderWith('bin-tar-only', {});
  for (const program of ['tar', 'gzip']) {
    const real = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
    symlinkSync(real, join(bin, program));
  }
  process.env.PATH = bin;
  const packed = await packFolder(folder).finally(() => (process.env.PATH = path));
  assert.deepEqual(namesIn(packed.archive), ['./', './main.tf']);
});

test('outside of a repository, everything but files of tools is packed', async () => {
  const folder = folderWith('plain', { 'main.tf': '', 'terraform.tfstate': '{}' });
  assert.deepEqual(namesIn((await packFolder(folder)).archive), ['./', './main.tf']);
});

test('nothing is packed where git does not tell what it ignores', async () => {
  const folder = repositoryWith('refused', { '.gitignore': '*.tfvars\n', 'secret.tfvars': 'hush' });
  writeFileSync(join(folder, '.git', 'config'), 'not a configuration');
  await assert.rejects(packFolder(folder), {
    name: 'BadCall',
    message: /was not sent: git does not report which files are ignored: .*bad config/,
  });
  const ignored = repositoryWith('ignored', {});
  writeFileSync(join(ignored, '.gitignore'), '*\n');
  await assert.rejects(packFolder(ignored), /git would commit no file of it/);
  process.env.PATH = root;
  await assert.rejects(packFolder(folder), /git cannot be started\. Install it/);
});
