import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Job } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { firstThen } from '../../../testing/configurations.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  type StartOptions,
  withTerraform,
} from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';

/** Fails until the specified number of tries; the count is in the tree, where every try finds it. */
function failing(times: number, more = ''): string {
  const command = `echo x >> tries; echo "try $(wc -l < tries)"; test $(wc -l < tries) -gt ${times} || { echo "Error: throttled by the cloud" >&2; exit 3; }`;
  return `${firstThen('flaky', command)}
output "first" { value = terraform_data.first.id }
${more}`;
}

type Retry = NonNullable<Job['retry']>;

async function applied(
  t: TestContext,
  code: string,
  retry: Partial<Retry>,
  tool: 'terraform' | 'opentofu' = 'terraform',
): Promise<{ setup: RunnerSetup; ran: Ran }> {
  const setup = createSetup(t, { 'main.tf': code });
  const options: StartOptions =
    tool === 'terraform'
      ? {}
      : { toolPaths: { tofu: toolboxProgram('opentofu') ?? '', git: findProgram('git') ?? '' } };
  const planned = await setup.run(setup.job({ tool }), options);
  const job = setup.applyJob(planned, { changes: { retry: { times: 1, isReviewed: true, ...retry } } });
  return { setup, ran: await setup.run(job, options) };
}

const retryCounts = (ran: Ran) =>
  ran.events.flatMap((event) =>
    event.kind === 'step' && event.retryCount !== undefined ? [event.retryCount] : [],
  );

for (const [tool, step, needs] of [
  ['terraform', 'tf:apply', withTerraform],
  ['opentofu', 'opentofu:apply', withToolbox('opentofu')],
] as const)
  test(
    `a failed apply of ${tool} is retried with a new plan and a new mark, and its step logs all tries`,
    needs,
    async (t) => {
      const { setup, ran } = await applied(t, failing(2), { times: 3 }, tool);
      assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome));
      assert.deepEqual(retryCounts(ran), [1, 2]);
      const log = stripVTControlCharacters(ran.log(step));
      assert.match(
        log,
        /try 1[^]*──── Retry 1 of 3[^]*is tainted, so (it )?must be replaced[^]*try 2[^]*──── Retry 2 of 3[^]*try 3[^]*Apply complete/,
      );
      assert.equal(ran.steps()[step], 'SUCCESS');
      const last = ran.events.findLast((event) => event.kind === 'resource' && event.name === 'flaky');
      assert.equal(last?.kind === 'resource' && last.status, 'done');
      assert.match(setup.newestState(ran)?.toString() ?? '', /"flaky"/);
      assert.doesNotMatch(setup.newestState(ran)?.toString() ?? '', /"tainted"/);
      assert.equal(ran.outcome.outputs?.first?.value !== undefined, true);
      const mark = JSON.parse(readFileSync(ran.spool.mark, 'utf8')) as { mark: string; replaces?: string };
      assert.match(mark.replaces ?? '', /^[0-9a-f]{64}$/);
      assert.equal(readFileSync(ran.spool.markStored, 'utf8'), mark.mark);
    },
  );

test(
  'a run fails after its last retry and reports the number of retries and the final state',
  withTerraform,
  async (t) => {
    const { setup, ran } = await applied(t, failing(9), { times: 2, errorRegex: 'throttled +by' });
    assert.deepEqual(
      [ran.outcome.result, ran.outcome.error?.retryCount, ran.outcome.failedCommand],
      ['failed', 2, 'terraform apply'],
    );
    assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
  },
);

test(
  'only matching errors are retried, and an expression that takes forever does not match',
  withTerraform,
  async (t) => {
    const other = await applied(t, failing(1), { errorRegex: 'quota' });
    assert.deepEqual([other.ran.outcome.result, retryCounts(other.ran)], ['failed', []]);
    assert.match(
      other.ran.log('tf:apply'),
      /Not retried: errorRegex "quota" of the retry settings does not match/,
    );
    const slow = await applied(
      t,
      failing(
        1,
        `resource "terraform_data" "noise" {
  provisioner "local-exec" { command = "echo ${'a'.repeat(60)}" }
}`,
      ),
      { errorRegex: '(a+)+$' },
    );
    assert.deepEqual([slow.ran.outcome.result, retryCounts(slow.ran)], ['failed', []]);
    assert.match(slow.ran.log('tf:apply'), /could not be matched in time/);
  },
);

test('a failed destroy is retried, too, with a new plan of what is left', withTerraform, async (t) => {
  const count = 'echo x >> tries; echo "try $(wc -l < tries)"; test $(wc -l < tries) -gt 1';
  const code = (command: string) => `
resource "terraform_data" "first" {
  provisioner "local-exec" {
    when    = destroy
    command = ${JSON.stringify(command)}
  }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
}`;
  const setup = createSetup(t, {
    'main.tf': code(`${count} || { echo "Error: throttled by the cloud" >&2; exit 3; }`),
  });
  const deployed = await expectResult('applied', setup.run(setup.applyJob(await setup.run(setup.job()))));
  const planned = await setup.run(setup.job({ type: 'destroy' }), { state: setup.newestState(deployed) });
  const changes = { retry: { times: 2, errorRegex: 'throttled', isReviewed: true } };
  const ran = await expectResult('applied', setup.run(setup.applyJob(planned, { changes })));
  assert.deepEqual([retryCounts(ran), ran.outcome.resourceCount], [[1], 0]);
  const [step = ''] = ran.events.flatMap((event) =>
    event.kind === 'step' && event.retryCount === 1 ? [event.step] : [],
  );
  assert.match(stripVTControlCharacters(ran.log(step)), /try 1[^]*──── Retry 1 of 2[^]*try 2/);
});

/** Code that creates one more resource with each try. */
const growing = `
resource "terraform_data" "extra" {
  count = fileexists("\${path.module}/tries") ? 1 : 0
}`;

test(
  'a retry adds nothing to what a person approved; without a review, the new plan is applied',
  withTerraform,
  async (t) => {
    const reviewed = await applied(t, failing(1, growing), { isReviewed: true });
    assert.equal(reviewed.ran.outcome.result, 'failed');
    assert.match(
      reviewed.ran.outcome.error?.message ?? '',
      /not retried, because a new plan would make changes that were not approved: create terraform_data\.extra\[0\]/,
    );
    assert.match(reviewed.ran.outcome.error?.message ?? '', /^Error: throttled by the cloud$/m);
    const automatic = await applied(t, failing(1, growing), { isReviewed: false });
    assert.equal(automatic.ran.outcome.result, 'applied', JSON.stringify(automatic.ran.outcome));
    assert.match(automatic.setup.newestState(automatic.ran)?.toString() ?? '', /"extra"/);
  },
);

test('a run that was stopped is not retried', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'main.tf':
      'resource "terraform_data" "slow" {\n  provisioner "local-exec" { command = "echo began; sleep 100" }\n}\n',
  });
  const planned = await setup.run(setup.job());
  const running = setup.start(
    setup.applyJob(planned, { changes: { retry: { times: 3, isReviewed: false } } }),
  );
  await running.until(() => {
    try {
      return /began/.test(readFileSync(running.spool.stepLog('tf:apply'), 'utf8'));
    } catch {
      return false;
    }
  }, 'the provisioner to begin');
  running.abort('gently');
  const ran = await running.ended;
  assert.deepEqual([ran.outcome.result, retryCounts(ran)], ['aborted', []]);
});
