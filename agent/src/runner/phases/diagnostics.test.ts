import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectResult } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';

const precondition = (name: string, isGood: boolean) => `resource "terraform_data" "${name}" {
  input = "${name}"
  lifecycle {
    precondition {
      condition     = ${isGood ? 'terraform.workspace != ""' : 'terraform.workspace == ""'}
      error_message = "${name} is not ready, says hunter22."
    }
  }
}
`;

const check = `check "answer" {
  assert {
    condition     = terraform.workspace == ""
    error_message = "There is no answer."
  }
}
`;

const names = ['one', 'two', 'three', 'four', 'five'];

test('all errors of a plan are in its outcome, and its reason says how many', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'main.tf': names.map((name) => precondition(name, false)).join('\n') + check,
  });
  const { outcome } = await expectResult('failed', setup.run(setup.job({ secrets: ['hunter22'] })));
  assert.match(outcome.error?.message ?? '', /^Error: Resource precondition failed \(and 4 more errors\)\n/);
  const { diagnostics = [] } = outcome;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  assert.equal(errors.length, 5);
  for (const name of names)
    assert.ok(
      errors.some(({ step, text }) => step === 'tf:plan' && text.includes(`${name} is not ready`)),
      name,
    );
  assert.ok(!JSON.stringify(diagnostics).includes('hunter22'));
});

test('failed checks and warnings of a plan that succeeds are in its outcome', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': precondition('one', true) + check });
  for (const type of ['deploy', 'driftDetection'] as const) {
    const planned = await expectResult('planned', setup.run(setup.job({ type })));
    const { diagnostics = [] } = planned.outcome;
    assert.deepEqual(
      diagnostics.map(({ severity, text }) => [severity, text.split('\n').at(-1)]),
      [['check', 'There is no answer.']],
      type,
    );
  }
});
