import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainGitFailure } from '#guards/git/git-errors.ts';
import { answeredRequest, createCheckoutSetup } from '../../testing/checkout.ts';
import { missingSshServer, startSshServer } from '../../testing/ssh-server.ts';
import { checkOut } from './git-checkout.ts';
import { readCloneArguments } from './partial-clone.ts';

test('allowed arguments are accepted in either spelling, others are refused by name', () => {
  assert.deepEqual(readCloneArguments(undefined).clone, ['--depth=1', '--single-branch', '--no-tags']);
  assert.deepEqual(readCloneArguments('').clone, []);
  assert.deepEqual(
    readCloneArguments('  --depth 5  --no-single-branch --recurse-submodules --filter blob:none --sparse'),
    {
      clone: ['--depth=5', '--no-single-branch'],
      fetch: ['--depth=5'],
      isSparse: true,
      filter: 'blob:none',
    },
  );
  for (const word of [
    '--upload-pack=touch',
    '-u',
    '--config=core.sshCommand=id',
    '-c',
    '--depth=x',
    '--filter=sparse:path=x',
    '--template=/x',
    '--reference=/x',
    'https://other/x',
    '--',
    '--branch=x',
    ';id',
  ]) {
    assert.throws(
      () => readCloneArguments(`--depth=1 ${word}`),
      (error: Error) =>
        error.message.startsWith(`ENVARIUM_GIT_CLONE_ARGS: ${word} is not allowed: use --depth=N`),
    );
  }
});

/** @returns the folders of a sparse checkout, apart from that of the configuration, which has this code */
async function foldersNamedBy(path: string, code: string): Promise<string[]> {
  const logged: string[] = [];
  const request = answeredRequest(() => '', {
    path,
    cloneArguments: readCloneArguments('--sparse'),
    codeIn: async (folder) => (folder === path ? [code] : []),
    log: (text) => void logged.push(text),
  });
  await checkOut(request);
  const [own, ...named] = (/^Sparse checkout of (.*)$/.exec(logged.join())?.[1] ?? '').split(', ');
  assert.equal(own, path);
  return named;
}

test('folders that a configuration names by relative paths are found', async () => {
  const code = `module "a" {
  source = "../../modules/vpc"
}
module "b" { source = "./local//x" }
locals {
  policy = file("\${path.module}/../policies/p.json")
  other  = jsondecode(file("../../shared/data.yaml"))
  away   = "../../../../../etc/passwd"
  root   = "../../-x"
  text   = "no path at all"
}
`;
  assert.deepEqual(await foldersNamedBy('live/net', code), [
    'modules/vpc',
    'live/net/local',
    'live/policies',
    'shared',
  ]);
});

test('code and answers that are made to be slow to read are read quickly', async () => {
  const startedAt = performance.now();
  assert.deepEqual(await foldersNamedBy('live', `"./a${'/'.repeat(500_000)}\nx"`), []);
  const source = {
    repository: 'https://host/code',
    access: { kind: 'web', url: 'https://host/code' },
  } as const;
  assert.match(explainGitFailure('repository '.repeat(90_000), source), /could not be read/);
  assert.ok(performance.now() - startedAt < 2000);
});

const files = {
  'live/net/main.tf': 'module "vpc" {\n  source = "../../modules/vpc"\n}\n',
  'modules/vpc/main.tf': 'module "subnet" {\n  source = "../subnet"\n}\n',
  'modules/subnet/main.tf': '# subnet\n',
  'modules/unused/main.tf': '# unused\n',
  'assets/large.bin': 'x'.repeat(100_000),
  'top.txt': 'top',
};

test('a sparse checkout has the configuration and its folders, of a branch or commit, locally and over ssh', {
  skip: missingSshServer,
}, async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', files);
  const first = code.git('rev-parse', 'HEAD');
  code.commit({ 'top.txt': 'later' });
  code.git('config', 'uploadpack.allowFilter', 'true');
  await using server = await startSshServer();
  const ssh = { keys: [server.key], knownHosts: server.knownHosts };
  for (const repository of [code.path, `${server.address}${code.path}`]) {
    for (const revision of ['main', first]) {
      const source = setup.source(repository, { revision, path: 'live/net', ssh });
      const { tree, read, found } = await setup.checkOut(source, {
        cloneArguments: '--depth=1 --filter=blob:none --sparse',
      });
      assert.deepEqual(
        [read('modules/subnet/main.tf'), read('top.txt')],
        ['# subnet\n', revision === 'main' ? 'later' : 'top'],
      );
      for (const absent of ['modules/unused', 'assets'])
        assert.equal(existsSync(join(tree, absent)), false, absent);
      assert.equal(found.commit === first, revision === first);
    }
  }
});

test('a clone with contents on demand checks out everything', { skip: missingSshServer }, async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', files);
  code.git('config', 'uploadpack.allowFilter', 'true');
  await using server = await startSshServer();
  const source = setup.source(`${server.address}${code.path}`, {
    ssh: { keys: [server.key], knownHosts: server.knownHosts },
  });
  const { read } = await setup.checkOut(source, { cloneArguments: '--depth=1 --filter=blob:none' });
  assert.equal(read('assets/large.bin').length, 100_000);
});

test('a sparse checkout fetches its own submodules, and the requested history', async (t) => {
  const setup = createCheckoutSetup(t);
  const net = setup.repository('net', { 'net.tf': '# net\n' });
  const code = setup.repository('code', files);
  const commit = net.git('rev-parse', 'HEAD');
  code.addSubmodule('live/net/part', '../net', commit);
  code.addSubmodule('elsewhere/part', '../none', commit);
  const { read, tree } = await setup.checkOut(setup.source(code.path, { path: 'live/net' }), {
    cloneArguments: '--sparse',
  });
  assert.equal(read('live/net/part/net.tf'), '# net\n');
  assert.equal(existsSync(join(tree, '.git', 'shallow')), false);
});
