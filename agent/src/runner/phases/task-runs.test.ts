import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  type StartOptions,
  withBubblewrap,
  withTerraform,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { processesOf } from '../../processes/end-processes.ts';
import { findProgram } from '../../processes/programs.ts';

const code = `
variable "name" { default = "none" }
resource "terraform_data" "a" { input = var.name }
resource "terraform_data" "b" {}
output "name" { value = terraform_data.a.output }
`;

interface Deployed {
  readonly setup: RunnerSetup;
  readonly state: Buffer;
  task(taskPayload: string, changes?: Partial<Job>): Job;
}

/** A configuration with two existing resources. */
async function deployed(t: TestContext, options: Parameters<typeof createSetup>[2] = {}): Promise<Deployed> {
  const setup = createSetup(t, { 'main.tf': code }, options);
  const applied = await setup.run(setup.applyJob(await setup.run(setup.job())));
  const state = setup.newestState(applied) ?? assert.fail(JSON.stringify(applied.outcome));
  return {
    setup,
    state,
    task: (taskPayload, changes = {}) => ({ ...setup.job(), type: 'task', taskPayload, ...changes }),
  };
}

const addresses = (state: Buffer | null) =>
  (JSON.parse(state?.toString() ?? '{"resources":[]}') as { resources: { name: string }[] }).resources
    .map(({ name }) => name)
    .sort();

function readIf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

test(
  'a task can use the code, the variables and the tool, and its changes to the state are stored',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const payload = `
terraform version
test "$(command -v terraform)" != "" && ls main.tf
echo "is $GREETING in $(basename "$PWD")"
cat envarium.auto.tfvars.json
terraform state rm terraform_data.b
`;
    const job = task(payload, {
      variables: {
        environment: [{ name: 'GREETING', value: 'hello', isSensitive: false }],
        terraform: [{ name: 'name', value: 'from-a-file', isSensitive: false }],
      },
    });
    const ran = await expectResult('applied', setup.run(job, { state }));
    assert.deepEqual(ran.steps(), {
      'git:clone': 'SUCCESS',
      'variables:setup': 'SUCCESS',
      'tf:init': 'SUCCESS',
      'tf:workspace': 'SUCCESS',
      'task:run': 'SUCCESS',
      'state:store': 'SUCCESS',
    });
    assert.match(ran.log('task:run'), /^> terraform version$[^]*^Terraform v/m);
    assert.match(
      ran.log('task:run'),
      /is hello in tree[^]*"name": ?"from-a-file"[^]*Removed terraform_data\.b/,
    );
    assert.deepEqual([addresses(state), addresses(setup.newestState(ran))], [['a', 'b'], ['a']]);
    assert.equal(ran.outcome.resourceCount, 1);
    assert.equal(existsSync(ran.spool.mark), true);
  },
);

test(
  'taint and import create new state versions; a task that changes nothing creates none',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const tainted = await setup.run(task('terraform taint terraform_data.a'), { state });
    assert.match(setup.newestState(tainted)?.toString() ?? '', /"tainted"/);
    const unchanged = await setup.run(task('terraform state list'), { state });
    assert.deepEqual(
      [unchanged.outcome.result, setup.newestState(unchanged), unchanged.outcome.resourceCount],
      ['applied', null, 2],
    );
    const removed = await setup.run(task('terraform state rm terraform_data.b'), { state });
    const imported = await setup.run(task('terraform import terraform_data.b known'), {
      state: setup.newestState(removed),
    });
    assert.equal(imported.outcome.result, 'applied', imported.outcome.error?.message);
    assert.deepEqual(addresses(setup.newestState(imported)), ['a', 'b']);
  },
);

test(
  'the first failing command ends the task with its exit code and last output; earlier changes are stored',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const ran = await setup.run(
      task('terraform state rm terraform_data.b\n(echo this went wrong >&2; exit 7)\necho never printed\n'),
      {
        state,
      },
    );
    assert.deepEqual(
      [ran.outcome.result, ran.outcome.failedCommand, ran.outcome.error?.exitCode],
      ['failed', 'task', 7],
    );
    assert.match(failureMessageOf(ran), /this went wrong$/);
    assert.doesNotMatch(ran.log('task:run').replaceAll(/^> .*$/gm, ''), /never printed/);
    assert.deepEqual(addresses(setup.newestState(ran)), ['a']);
    assert.equal(ran.steps()['task:run'], 'FAIL');
  },
);

test(
  'the message of a failure shows no part of a secret at the end of a long line',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const secret = 'planted-secret-0123456789';
    const job = task(`printf '%0990d%s\\n' 0 "$TOKEN"; exit 7`, {
      variables: { environment: [{ name: 'TOKEN', value: secret, isSensitive: true }], terraform: [] },
      secrets: [secret],
    });
    const { outcome } = await expectResult('failed', setup.run(job, { state }));
    assert.match(outcome.error?.message ?? '', /0{990}\*{3}$/);
  },
);

/** Never ends on its own. */
const neverEnding = 'terraform state rm terraform_data.b\necho began\nsleep 1000 & sleep 1000\n';

test(
  'a task that never ends is interrupted at the limit for tasks, and its state is stored',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const job = task(neverEnding);
    const ran = await setup.run(
      { ...job, limits: { ...job.limits, runSeconds: 4, abortSeconds: 1 } },
      { state },
    );
    assert.equal(ran.outcome.result, 'timed-out');
    assert.match(ran.outcome.error?.message ?? '', /longer than 4 seconds.*ENVARIUM_TASK_TIME_LIMIT_SECONDS/);
    assert.deepEqual([ran.steps()['task:run'], addresses(setup.newestState(ran))], ['TIMEOUT', ['a']]);
    if (setup.slotUid !== null) assert.deepEqual(processesOf(setup.slotUid), []);
  },
);

test(
  'an interrupt reaches the command that the shell runs, which may end cleanly',
  withTerraform,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const running = setup.start(
      task('sh -c \'trap "echo tidied; exit 3" INT; echo began; while :; do sleep 0.1; done\''),
      { state },
    );
    await running.until(
      () => /^began/m.test(readIf(running.spool.stepLog('task:run'))),
      'the command to begin',
    );
    running.abort('gently');
    const ran = await expectResult('aborted', running.ended);
    assert.match(ran.log('task:run'), /^tidied$/m);
  },
);

test(
  'a task that ignores the interrupt is killed with all processes that it started',
  withTerraformAsRoot,
  async (t) => {
    const { setup, state, task } = await deployed(t);
    const job = task(
      'trap "" INT; setsid sleep 1000 & setsid -f sleep 1000; echo began; while :; do sleep 0.1; done',
    );
    const running = setup.start({ ...job, limits: { ...job.limits, abortSeconds: 1 } }, { state });
    await running.until(
      () => /^began/m.test(readIf(running.spool.stepLog('task:run'))),
      'the command to begin',
    );
    running.abort('gently');
    await expectResult('aborted', running.ended);
    assert.deepEqual(processesOf(setup.slotUid ?? 0), []);
  },
);

const daemon =
  'setsid -f sh -c "sleep 2; terraform state rm terraform_data.a"\nterraform state rm terraform_data.b\n';

for (const [where, needs, options] of [
  ['under its own user', withTerraformAsRoot, {}],
  ['in a sandbox', withBubblewrap, { asOrdinaryUser: true }],
] as const) {
  test(`background processes of a task end with it, ${where}`, needs, async (t) => {
    const { setup, state, task } = await deployed(t, options);
    const startOptions: StartOptions = { state };
    const ran = await expectResult('applied', setup.run(task(daemon), startOptions));
    assert.deepEqual(addresses(setup.newestState(ran)), ['a']);
    if (setup.slotUid !== null) assert.deepEqual(processesOf(setup.slotUid), []);
  });
}

test('a task does not start until the server has stored its mark', withTerraform, async (t) => {
  const { setup, state, task } = await deployed(t);
  const running = setup.start(task('echo began'), { state, mark: false });
  await running.until(() => existsSync(running.spool.mark), 'the mark');
  // Time in which the command could begin.
  await delay(500);
  running.abort('now');
  const ran = await expectResult('aborted', running.ended);
  assert.doesNotMatch(ran.log('task:run'), /^began/m);
});

test(
  'a task of OpenTofu finds its tool as tofu, and its changes to the state are stored',
  withToolbox('opentofu'),
  async (t) => {
    const setup = createSetup(t, { 'main.tf': code });
    const options: StartOptions = {
      toolPaths: { tofu: toolboxProgram('opentofu') ?? '', git: findProgram('git') ?? '' },
    };
    const planned = await setup.run(setup.job({ tool: 'opentofu' }), options);
    const applied = await setup.run(setup.applyJob(planned), options);
    const state = setup.newestState(applied);
    const taskPayload = 'tofu state rm terraform_data.b\n';
    const ran = await setup.run(setup.job({ tool: 'opentofu', type: 'task', taskPayload }), {
      ...options,
      state,
    });
    assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome));
    assert.deepEqual(addresses(setup.newestState(ran)), ['a']);
  },
);
