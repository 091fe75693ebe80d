import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { confinements } from '../../../testing/attacks.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup } from '../../../testing/runner-setup.ts';

/** Configuration of programs, which would run a command or leave the run without its providers. */
function files(mark: string): Record<string, string> {
  const git = `[core]\n\tfsmonitor = touch ${mark}\n\thooksPath = hooks\n[filter "x"]\n\tsmudge = touch ${mark}\n`;
  const tool = 'provider_installation {\n  filesystem_mirror {\n    path = "/nowhere"\n  }\n}\n';
  return {
    'main.tf': 'variable "given" { default = "by the code" }\noutput "given" { value = var.given }\n',
    '.gitconfig': git,
    '.config/git/config': git,
    '.gitattributes': '*.txt filter=x\n',
    'a.txt': 'text\n',
    'hooks/post-checkout': `#!/bin/sh\ntouch ${mark}\n`,
    '.terraformrc': tool,
    'terraform.rc': tool,
    '.env': 'TF_VAR_given=by-the-file\nTF_LOG=trace\n',
    '.envrc': 'export TF_VAR_given=by-the-file\n',
    '.npmrc': 'ignore-scripts=false\n',
  };
}

for (const { name, skip, options } of confinements)
  test(`configuration of programs in a repository has no effect, confined ${name}`, { skip }, async (t) => {
    const setup = createSetup(t, { readme: 'x' }, options);
    const mark = join(setup.workFolder, 'mark');
    setup.commit(files(mark));
    const planned = await setup.run(setup.job());
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned)));
    assert.match(setup.newestState(applied)?.toString() ?? '', /"by the code"/);
    assert.equal(existsSync(mark), false);
  });

for (const { name, skip, options } of confinements)
  test(`the kernel ends a run before the service where memory runs out, confined ${name}`, {
    skip,
  }, async (t) => {
    const setup = createSetup(t, { 'main.tf': '' }, options);
    const taskPayload = 'echo score $(cat /proc/self/oom_score_adj)';
    const ran = await setup.run(setup.job({ type: 'task', taskPayload }));
    assert.match(ran.log('task:run'), /^score 500$/m);
  });
