import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { answeredRequest, createCheckoutSetup, type Files } from '../../testing/checkout.ts';
import { checkOut } from './git-checkout.ts';

const pointer = 'version https://git-lfs.github.com/spec/v1\n';

test('the files of a repository are listed only if one of them may name submodules or LFS files', async (t) => {
  const setup = createCheckoutSetup(t);
  const repositories: Record<string, [Files, boolean]> = {
    plain: [{ 'main.tf': '', 'modules/gitattributes/main.tf': '', '.gitignore': 'x\n' }, false],
    attributes: [{ 'main.tf': '', '.gitattributes': '*.sh text\n' }, true],
    deep: [{ 'a/b/c/.gitattributes': '*.bin filter=lfs\n', 'a/b/c/text': 'x' }, true],
    submodules: [{ 'main.tf': '', '.gitmodules': '' }, true],
    unusualNames: [{ 'new\nline.tf': '', 'quo"te/é\t.tf': '', '-x': '', '*': '' }, false],
    empty: [{}, false],
  };
  for (const [name, [files, isListed]] of Object.entries(repositories)) {
    const { path } = setup.repository(name, files);
    for (const cloneArguments of ['--depth=1', '--depth=5', '--no-single-branch --tags'])
      assert.equal(
        (await setup.checkOut(setup.source(path), { cloneArguments })).commands.includes('git ls-files'),
        isListed,
        `${name} ${cloneArguments}`,
      );
  }
});

test('the files of a repository with a large index are listed by git', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', {});
  const deep = join(code.path, ...Array.from({ length: 12 }, () => 'x'.repeat(250)));
  mkdirSync(deep, { recursive: true });
  for (let count = 0; count < 400; count++) writeFileSync(join(deep, String(count)), '');
  code.git('add', '-A');
  code.commit({});
  const { commands } = await setup.checkOut(setup.source(code.path));
  assert.ok(commands.includes('git ls-files'));
});

test('attributes of a folder far down are found in every clone', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', { 'main.tf': '' });
  code.commit({ 'a/b/.gitattributes': '*.bin filter=lfs\n', 'a/b/é "x".bin': pointer });
  const commit = code.commit({ 'main.tf': '# later\n' });
  for (const cloneArguments of ['--depth=1', '--depth=2', '--sparse --depth=1'])
    for (const revision of ['main', commit])
      await assert.rejects(
        setup.checkOut(setup.source(code.path, { revision, path: 'a/b' }), { cloneArguments, hasLfs: false }),
        /keeps "a\/b\/é \\"x\\"\.bin" in LFS/,
        `${cloneArguments} ${revision}`,
      );
});

test('a checkout keeps no log of its branches, however it was made', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', { 'main.tf': '' });
  const commit = code.commit({ 'main.tf': '# later\n' });
  for (const revision of ['main', commit]) {
    const { tree } = await setup.checkOut(setup.source(code.path, { revision }));
    assert.ok(existsSync(join(tree, '.git', 'HEAD')), revision);
    assert.equal(existsSync(join(tree, '.git', 'logs')), false, revision);
  }
});

test('the commit of a clone is read without a command, as git shows it', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', { 'main.tf': '' });
  const expectAsGit = async (changes: { revision?: string } = {}, cloneArguments = '--depth=1') => {
    const { found, commands } = await setup.checkOut(setup.source(code.path, changes), { cloneArguments });
    const [commit = '', date = ''] = code
      .git('log', '-1', '--format=%H%n%cI', changes.revision ?? 'HEAD')
      .split('\n');
    assert.equal(found.commit, commit);
    assert.equal(found.timestamp.replace('+00:00', 'Z'), date.replace('+00:00', 'Z'));
    return { branch: found.branch, isRead: !commands.includes('git log') };
  };
  for (const [date, message] of [
    ['1700000000 +0000', 'utc'],
    ['1700000000 +0530', 'east\n\ncommitter x <x> 1 +0000\n'],
    ['1700000000 -0330', 'west'],
    ['0 +0000', 'oldest'],
    ['1700000000 +0100', `long ${'é'.repeat(100_000)}`],
  ] as const) {
    const tree = code.git('write-tree');
    const text = `tree ${tree}\nparent ${code.git('rev-parse', 'HEAD')}\nauthor A <a@x> 5 +0000\ncommitter O'dd <> N <c@x> ${date}\ngpgsig -----BEGIN-----\n committer y <y> 2 +0000\n -----END-----\n\n${message}\n`;
    const raw = join(setup.folder, 'raw');
    writeFileSync(raw, text);
    code.git('reset', '-q', '--hard', code.git('hash-object', '-t', 'commit', '-w', '--literally', raw));
    assert.deepEqual(await expectAsGit(), { branch: 'main', isRead: true }, message.slice(0, 20));
  }
  code.git('checkout', '-q', '-b', 'feature/o,dd');
  code.commit({ 'b.tf': '' });
  assert.deepEqual(await expectAsGit(), { branch: 'feature/o,dd', isRead: true });
  code.git('tag', '-a', 'v1', '-m', 'annotated');
  assert.equal((await expectAsGit({ revision: 'v1' })).branch, 'v1');
  assert.equal((await expectAsGit({ revision: 'main' }, '--no-single-branch --tags')).branch, 'main');
  const id = code.git('rev-parse', 'main');
  assert.equal((await expectAsGit({ revision: id })).branch, id);
});

test('a full name is the branch or the tag that it says, where both have the name', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', { 'main.tf': 'first' });
  code.git('tag', '-a', 'v1', '-m', 'annotated');
  code.git('branch', 'abc1234');
  code.commit({ 'main.tf': 'second' });
  code.git('branch', 'v1');
  for (const cloneArguments of ['--depth=1', '--sparse'])
    for (const [revision, text, branch] of [
      ['refs/tags/v1', 'first', 'v1'],
      ['refs/heads/v1', 'second', 'v1'],
      ['refs/heads/abc1234', 'first', 'abc1234'],
    ] as const) {
      const checkout = await setup.checkOut(setup.source(code.path, { revision }), { cloneArguments });
      assert.equal(checkout.read('main.tf'), text, revision);
      assert.equal(checkout.found.branch, branch);
    }
  const source = setup.source(code.path, { revision: 'refs/heads/gone' });
  await assert.rejects(setup.checkOut(source), /revision "refs\/heads\/gone" does not exist/);
  await assert.rejects(
    setup.checkOut(source, { cloneArguments: '--sparse' }),
    /revision "refs\/heads\/gone" does not exist/,
  );
});

test('git shows the commit if no pack begins with it', async () => {
  const text = 'tree 0\ncommitter A <a> 1 +0000\n\nx\n';
  const other = Buffer.concat([
    Buffer.from('PACK\0\0\0\u0002\0\0\0\u0001'),
    Buffer.from([0x90, 1]),
    deflateSync(text),
  ]);
  const bytesOf = async (path: string) =>
    path.endsWith('HEAD') ? Buffer.from(`${'a'.repeat(40)}\n`) : path.endsWith('pack') ? other : null;
  const namesIn = async () => ['pack-1.pack'];
  const shown = { commit: 'b'.repeat(40), timestamp: '2026-03-01T12:00:00Z', branch: 'main' };
  const log = `${shown.commit}\n${shown.timestamp}\nHEAD -> main\n`;
  for (const files of [
    { bytesOf, namesIn },
    { bytesOf, namesIn: async () => [] },
    { bytesOf: async () => null, namesIn },
    { bytesOf: async () => Buffer.alloc(20), namesIn },
  ])
    assert.deepEqual(
      await checkOut(answeredRequest((label) => (label === 'git log' ? log : ''), files)),
      shown,
    );
});
