import assert from 'node:assert/strict';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { approvedHash } from '#protocol/approved.ts';
import type { ApprovedParts } from '#protocol/messages/job.ts';
import { expectResult, failureMessageOf } from '../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../testing/runner-setup.ts';

const simple = `
variable "size" { default = "one" }
resource "terraform_data" "first" { input = var.size }
output "size" { value = terraform_data.first.output }
output "hidden" {
  value     = "h1dden"
  sensitive = true
}
`;

test('an apply in the tree of its plan needs no second clone or init', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const planned = await expectResult('planned', setup.run(setup.job()));
  assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
  assert.deepEqual(planned.steps(), {
    'git:clone': 'SUCCESS',
    'variables:setup': 'SUCCESS',
    'tf:init': 'SUCCESS',
    'tf:workspace': 'SUCCESS',
    'tf:plan': 'SUCCESS',
  });
  assert.equal(planned.outcome.commit, setup.git('rev-parse', 'HEAD'));
  const git = planned.events.find((event) => event.kind === 'git');
  assert.deepEqual([git?.commit, git?.branch], [planned.outcome.commit, 'main']);
  assert.ok(existsSync(planned.spool.outputPlan) && existsSync(planned.spool.outputTree));

  const applied = await expectResult('applied', setup.run(setup.applyJob(planned)));
  assert.deepEqual(applied.steps(), {
    'apply:prepare': 'SKIPPED',
    'tf:apply': 'SUCCESS',
    'tf:output': 'SUCCESS',
    'state:store': 'SUCCESS',
  });
  assert.equal(applied.outcome.resourceCount, 1);
  assert.deepEqual(applied.outcome.outputs?.['size']?.value, 'one');
  assert.match(applied.log('tf:output'), /^hidden = \(sensitive\)$/m);
  assert.doesNotMatch(applied.log('tf:output'), /h1dden/);
  assert.ok(setup.newestState(applied));
  assert.deepEqual(
    applied.events.filter((event) => event.kind === 'resource').map((event) => [event.address, event.status]),
    [
      ['terraform_data.first', 'started'],
      ['terraform_data.first', 'done'],
    ],
  );
  assert.deepEqual(
    readdirSync(setup.workFolder).filter((name) => !name.startsWith('.')),
    [],
  );
});

test('a transferred plan is applied in a restored tree at the same path', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'stack/main.tf': `${simple}\nresource "terraform_data" "path" { input = abspath(path.module) }`,
    'other/file': 'x',
  });
  const source = { ...setup.job().source, path: './stack/' };
  const planned = await setup.run(setup.job({ source }));
  const applied = await setup.run(setup.applyJob(planned, { onOtherMachine: true }));
  assert.equal(
    applied.outcome.result,
    'applied',
    `${JSON.stringify(applied.outcome)} ${applied.log('apply:prepare')}`,
  );
  assert.equal(applied.steps()['apply:prepare'], 'SUCCESS');
  assert.match(applied.log('apply:prepare'), /successfully initialized/);
  assert.equal(applied.outcome.resourceCount, 2);
});

test(
  'links inside of the repository are followed, also those that lead out of the configuration',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'common.tf': simple, 'stacks/app/main.tf': '' });
    for (const [name, target] of [
      ['common.tf', '../../common.tf'],
      ['.terraform.lock.hcl', '../../versions.lock.hcl'],
      ['dangling', 'nowhere'],
      ['absolute', '/etc/hostname'],
    ] as const)
      symlinkSync(target, join(setup.repository, 'stacks/app', name));
    setup.commit({ 'versions.lock.hcl': '' });
    const source = { ...setup.job().source, path: 'stacks/app' };
    const planned = await setup.run(setup.job({ source }));
    assert.deepEqual(
      planned.outcome.planSummary,
      { added: 1, changed: 0, destroyed: 0 },
      JSON.stringify(planned.outcome),
    );
    await expectResult('applied', setup.run(setup.applyJob(planned, { onOtherMachine: true })));
  },
);

test('a destroy continues from the state of the last deployment', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const first = await setup.run(setup.applyJob(await setup.run(setup.job())));
  const state = setup.newestState(first);
  const changed = await setup.run(
    setup.job({
      variables: { environment: [], terraform: [{ name: 'size', value: 'two', isSensitive: false }] },
    }),
    { state },
  );
  assert.deepEqual(changed.outcome.planSummary, { added: 0, changed: 1, destroyed: 0 });
  const applied = await setup.run(setup.applyJob(changed));
  assert.equal(applied.outcome.outputs?.['size']?.value, 'two', JSON.stringify(applied.outcome));
  const destroying = await setup.run(setup.job({ type: 'destroy' }), { state: setup.newestState(applied) });
  assert.deepEqual(destroying.outcome.planSummary, { added: 0, changed: 0, destroyed: 1 });
  const destroyed = await expectResult('applied', setup.run(setup.applyJob(destroying)));
  assert.equal(destroyed.outcome.resourceCount, 0);
  assert.deepEqual(destroyed.steps(), {
    'apply:prepare': 'SKIPPED',
    'tf:destroy': 'SUCCESS',
    'state:store': 'SUCCESS',
  });
});

test('a plan that is never applied leaves nothing', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  for (const type of ['driftDetection', 'dryRun', 'prPlan'] as const) {
    const ran = await expectResult('planned', setup.run(setup.job({ type })));
    assert.equal(ran.outcome.approvedParts, undefined);
    assert.deepEqual(readdirSync(ran.spool.outputs), []);
  }
  assert.deepEqual(
    readdirSync(setup.workFolder).filter((name) => !name.startsWith('.')),
    [],
  );
});

const withParts = (parts: ApprovedParts) => ({ parts, hash: approvedHash(parts) });

test('an apply of anything that was not approved is refused before its mark', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const planned = await setup.run(setup.job());
  const job = setup.applyJob(planned, { onOtherMachine: true });
  const changes = {
    'the variables': {
      variables: { environment: [{ name: 'A', value: 'b', isSensitive: false }], terraform: [] },
    },
    'the lock file': { approved: withParts({ ...job.approved!.parts, lockFile: 'other' }) },
    'the list of approved parts': { approved: { ...job.approved!, hash: 'other' } },
  };
  for (const [part, change] of Object.entries(changes)) {
    const ran = await setup.run({ ...setup.applyJob(planned, { onOtherMachine: true }), ...change });
    assert.match(failureMessageOf(ran), new RegExp(`differs from what was approved \\(${part}\\)`));
    assert.equal(existsSync(ran.spool.mark), false);
  }
  const approved = withParts({ ...job.approved!.parts, toolVersion: '0.0.1' });
  const ran = await setup.run({ ...setup.applyJob(planned, { onOtherMachine: true }), approved });
  assert.match(
    failureMessageOf(ran),
    /^terraform 0\.0\.1 is requested by the approved plan.*; nothing was applied$/,
  );
  assert.equal(existsSync(ran.spool.mark), false);
});

test('a run with a mark is never started again', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const planned = await setup.run(setup.job());
  const ran = await setup.run(setup.applyJob(planned), {
    prepare: (spool) => writeFileSync(spool.mark, '{"mark":"x"}'),
  });
  assert.equal(ran.outcome.result, 'internal');
  assert.match(ran.outcome.error?.message ?? '', /was started before/);
  assert.deepEqual(ran.events, []);
});

test('an apply that is aborted before its mark is stored starts nothing', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const planned = await setup.run(setup.job());
  const running = setup.start(setup.applyJob(planned), { mark: false });
  await running.until(() => existsSync(running.spool.mark), 'the mark');
  running.abort('gently');
  const { steps, log } = await expectResult('aborted', running.ended);
  assert.equal(steps()['tf:apply'], 'CANCELLED');
  assert.doesNotMatch(log('tf:apply'), /Creating/);
  assert.equal(existsSync(join(setup.workFolder, '00000000-0000-7000-8000-0000000000e1')), false);
});
