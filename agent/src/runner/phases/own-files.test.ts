/** The files that a run writes for itself, in a folder that a repository may have prepared. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { notIsolated } from '../../../testing/runner-setup.ts';
import { writeDriverFiles } from '../configuration/configuration.ts';
import { TreeLender } from '../tree/tree-lender.ts';

type Arguments = Parameters<typeof writeDriverFiles>;

async function stage(t: TestContext, phase: 'plan' | 'apply' = 'plan') {
  const code = join(mkdtempSync(join(tmpdir(), 'own-files-')), 'code');
  t.after(() => rmSync(dirname(code), { recursive: true, force: true }));
  const folder = join(code, 'app');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(code, 'other'));
  writeFileSync(join(code, 'other/values.yaml'), 'by the code\n');
  const order = { isolation: notIsolated, slotUid: null, workFolder: dirname(code) };
  const tree = new TreeLender().lend(order, { root: dirname(code), tree: code });
  t.after(() => tree[Symbol.asyncDispose]());
  const job = { phase, variables: { environment: [], terraform: [] }, systemVariables: {} };
  const files = async () => [{ name: '.envarium/values.yaml', content: 'by the run\n', isSecret: true }];
  const write = () =>
    writeDriverFiles(
      { driver: { files }, tree, job } as unknown as Arguments[0],
      { job, configurationFolder: folder } as unknown as Arguments[1],
    );
  return { code, folder, write };
}

for (const [what, target] of [
  ['into the repository', '../other'],
  ['out of the repository', '../..'],
  ['nowhere', 'nowhere'],
])
  test(`a committed link in the place of the run's own folder that leads ${what} is refused by name`, async (t) => {
    const { code, folder, write } = await stage(t);
    symlinkSync(target ?? '', join(folder, '.envarium'));
    await assert.rejects(write(), /^RunFailure: \.envarium is a symbolic link: .* remove the link/);
    assert.equal(readFileSync(join(code, 'other/values.yaml'), 'utf8'), 'by the code\n');
    assert.deepEqual(readdirSync(dirname(code)), ['code']);
  });

test('a committed link in the own folder of the run is refused by name', async (t) => {
  const { folder, write } = await stage(t);
  mkdirSync(join(folder, '.envarium/helm'), { recursive: true });
  symlinkSync('../../../other', join(folder, '.envarium/helm/cache'));
  await assert.rejects(write(), /^RunFailure: \.envarium\/helm\/cache is a symbolic link/);
});

test('a committed folder of that name with files is used', async (t) => {
  const { folder, write } = await stage(t);
  mkdirSync(join(folder, '.envarium'));
  writeFileSync(join(folder, '.envarium/values.yaml'), 'by the code\n');
  await write();
  assert.equal(readFileSync(join(folder, '.envarium/values.yaml'), 'utf8'), 'by the run\n');
});

test('links that a run itself has installed do not stop its apply', async (t) => {
  const { folder, write } = await stage(t, 'apply');
  mkdirSync(join(folder, '.envarium'));
  symlinkSync('collection', join(folder, '.envarium/link'));
  await write();
});
