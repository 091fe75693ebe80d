import { test } from 'node:test';
import { startLfsServer } from '../../testing/lfs-server.ts';
import { expectResult } from '../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../testing/runner-setup.ts';
import { findProgram } from './programs.ts';

const needs = {
  skip: withTerraform.skip || (findProgram('git-lfs') === null ? 'needs git-lfs' : false),
  timeout: 180_000,
};

test('LFS files that arrive slowly may take longer than a silent host', needs, async (t) => {
  await using files = await startLfsServer({ byteMilliseconds: 1000 });
  const content = 'x'.repeat(55);
  const setup = createSetup(t, {
    '.gitattributes': '*.bin filter=lfs\n',
    '.lfsconfig': `[lfs]\n\turl = ${files.address}\n`,
    'main.tf': 'output "text" {\n  value = file("one.bin")\n}\n',
    'one.bin': files.keep(content),
  });
  await expectResult('planned', setup.run(setup.job()));
});
