import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCheckoutSetup, type Files } from '../testing/checkout.ts';

const pointer = 'version https://git-lfs.github.com/spec/v1\n';

test('the files of a repository are listed only if one of them may name submodules or LFS files', async (t) => {
  const setup = createCheckoutSetup(t);
  const repositories: Record<string, [Files, boolean]> = {
    plain: [{ 'main.tf': '', 'modules/gitattributes/main.tf': '', '.gitignore': 'x\n' }, false],
    attributes: [{ 'main.tf': '', '.gitattributes': '*.sh text\n' }, true],
    deep: [{ 'a/b/c/.gitattributes': '*.bin filter=lfs\n', 'a/b/c/text': 'x' }, true],
    submodules: [{ 'main.tf': '', '.gitmodules': '' }, true],
    odd: [{ 'new\nline.tf': '', 'quo"te/é\t.tf': '', '-x': '', '*': '' }, false],
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
