/** For tests: a run exchanges the plan that it saved for another one. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { sha256 } from '#protocol/approved.ts';
import { findProgram } from '../../src/processes/programs.ts';
import type { confinements } from '../attacks.ts';
import { expectResult } from '../outcomes.ts';
import { createSetup, type RunnerSetup } from '../runner-setup.ts';

const code =
  'variable "size" { default = "approved" }\nresource "terraform_data" "it" { input = var.size }\n';

/**
 * A terraform whose plan also makes another plan, and leaves behind a process that puts now one, now the other
 * in the place of the saved one.
 */
function swapping(setup: RunnerSetup): Record<string, string> {
  const real = findProgram('terraform');
  const script = `#!/bin/sh
[ "$1" = plan ] || exec ${real} "$@"
${real} "$@"; code=$?
for each in "$@"; do case "$each" in -out=*) saved="\${each#-out=}";; esac; done
cp "$saved" "$HOME/first"
TF_CLI_ARGS_plan= ${real} plan -input=false -var size=another -out="$HOME/second" >/dev/null
setsid sh -c 'while :; do
  for each in first second; do
    cp "$HOME/$each" "$1.next" && mv "$1.next" "$1"
    cp "$HOME/$each" "$1"
  done
done' swap "$saved" >/dev/null 2>&1 &
sleep 0.1
exit $code
`;
  const terraform = join(setup.folder, 'terraform');
  writeFileSync(terraform, script, { mode: 0o755 });
  return { terraform };
}

/** Plans and applies such a configuration. @param times how many readable plans it takes */
export async function swapPlans(
  t: TestContext,
  { options }: (typeof confinements)[number],
  times: number,
): Promise<void> {
  const setup = createSetup(t, { 'main.tf': code }, options);
  const toolPaths = swapping(setup);
  for (let count = 0; count < times; ) {
    const planned = await setup.run(setup.job(), { toolPaths });
    // Its end may leave a half-written plan, which no one can approve.
    if (planned.outcome.result === 'failed') {
      assert.match(planned.outcome.error?.message ?? '', /Failed to read the given file/);
      continue;
    }
    count++;
    assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
    assert.equal(planned.outcome.approvedParts?.planFile, sha256(readFileSync(planned.spool.outputPlan)));
    const shown = JSON.stringify(planned.outcome.plan?.resourceChanges).includes('another')
      ? 'another'
      : 'approved';
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned)));
    assert.match(setup.newestState(applied)?.toString() ?? '', new RegExp(`"input":\\s*\\{?[^}]*${shown}`));
  }
}
