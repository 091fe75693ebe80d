/** Plans and applies the example with the real runner, against a server that answers as AWS does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { stackStage } from '../../../testing/cloudformation/stage.ts';
import { withOwnProgram } from '../../../testing/cloudformation/with-own-program.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';

const template = readFileSync(
  join(import.meta.dirname, '../../../../examples/cloudformation/template.yaml'),
  'utf8',
);
const files = { 'template.yaml': template };
const secret = 'planted-no-echo-value';

for (const onOtherMachine of [false, true])
  test(
    `a deployment plans and applies, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    withOwnProgram,
    async (t) => {
      const { aws, job, run, apply } = await stackStage(t, files);
      const planned = await expectResult(
        'planned',
        run(job({}, { parameters: { Stage: 'one', Token: secret } })),
      );
      assert.deepEqual(planned.outcome.planSummary, { added: 3, changed: 0, destroyed: 0 });
      assert.equal(planned.outcome.toolVersion, '1.0.0');
      assert.equal(aws.account.cloud.resources.size, 0);
      const applied = await expectResult('applied', apply(planned, { onOtherMachine }));
      assert.deepEqual(applied.outcome.outputs?.['OrdersName'], {
        value: 'test-one-one-orders',
        sensitive: false,
        type: 'string',
      });
      assert.equal(applied.outcome.resourceCount, 3);
      assert.deepEqual(applied.steps(), {
        'apply:prepare': 'SUCCESS',
        'cf:deploy': 'SUCCESS',
        'cf:output': 'SUCCESS',
      });
      const events = applied.events.filter((event) => event.kind === 'resource');
      assert.deepEqual(
        events
          .filter(({ status }) => status === 'done')
          .map(({ address, action, type }) => [address, action, type]),
        [
          ['Failed', 'create', 'AWS::SQS::Queue'],
          ['Orders', 'create', 'AWS::SQS::Queue'],
          ['Topic', 'create', 'AWS::SNS::Topic'],
        ],
      );
      assert.equal(aws.account.stack('test-one').status, 'CREATE_COMPLETE');
    },
  );

/** A stage with the example deployed. */
async function deployed(t: TestContext) {
  const stage = await stackStage(t, files);
  await expectResult('applied', stage.deploy(stage.job({}, { parameters: { Stage: 'one', Token: secret } })));
  return { ...stage, cloud: stage.aws.account.cloud };
}

const rowsOf = ({ outcome }: Ran) =>
  (outcome.plan?.resourceChanges ?? []).map(({ path, action, driftByCloud }) =>
    driftByCloud === true ? [path, action, 'drift'] : [path, action],
  );

test('a change says what is replaced and why, and hides values without echo', withOwnProgram, async (t) => {
  const { aws, job, run, apply } = await deployed(t);
  const values = { parameters: { Stage: 'two', Token: `${secret}-changed` } };
  const planned = await run(job({ deploymentId: 'second' }, values));
  assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 1, destroyed: 1, replaced: 1 });
  assert.deepEqual(rowsOf(planned), [
    ['Orders', 'recreate'],
    ['Topic', 'update'],
  ]);
  const [orders] = planned.outcome.plan?.resourceChanges ?? [];
  assert.equal(orders?.actionReason, 'replaced because of QueueName; because of the parameter Stage');
  assert.deepEqual(orders?.attributes, [
    {
      name: 'QueueName',
      before: 'test-one-one-orders',
      after: 'test-one-two-orders',
      forcesReplacement: true,
    },
  ]);
  assert.match(planned.log('cf:change-set'), /-\/\+ Orders \(replaced because of QueueName/);
  const applied = await expectResult('applied', apply(planned));
  assert.ok(aws.account.cloud.resources.has('test-one-two-orders'));
  for (const ran of [planned, applied])
    for (const step of Object.keys(ran.steps())) assert.ok(!ran.log(step).includes(secret), step);
  assert.ok(!JSON.stringify(planned.outcome).includes(secret));
});

test(
  'variables that the template has no parameter for are warnings of the plan',
  withOwnProgram,
  async (t) => {
    const { job, run } = await stackStage(t, files);
    const { outcome } = await expectResult('planned', run(job({}, { parameters: { Other: 'x' } })));
    assert.deepEqual(outcome.diagnostics, [
      {
        severity: 'warning',
        step: 'cf:validate',
        text: 'the template has no parameters named Other: these variables are left out.',
      },
    ]);
  },
);

test('a plan without changes succeeds, and its apply does nothing', withOwnProgram, async (t) => {
  const { aws, job, run, apply } = await deployed(t);
  const planned = await run(job({ deploymentId: 'second' }, { parameters: { Stage: 'one', Token: secret } }));
  assert.equal(planned.outcome.hasChanges, false);
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 0 });
  const applied = await expectResult('applied', apply(planned));
  assert.equal(applied.outcome.outputs?.['OrdersName']?.value, 'test-one-one-orders');
  assert.equal(aws.requests.filter((action) => action === 'ExecuteChangeSet').length, 1);
});

test('a drift run names what was changed and deleted outside, with its values', withOwnProgram, async (t) => {
  const { job, run, cloud } = await deployed(t);
  cloud.change('test-one-one-orders', { MessageRetentionPeriod: '60' });
  cloud.remove(cloud.resourceNamed('events').physicalId);
  const drift = await expectResult(
    'planned',
    run(job({ type: 'driftDetection' }, { parameters: { Stage: 'one', Token: secret } })),
  );
  assert.deepEqual(rowsOf(drift), [
    ['Orders', 'update', 'drift'],
    ['Topic', 'create', 'drift'],
  ]);
  assert.deepEqual(drift.outcome.plan?.resourceChanges[0]?.attributes, [
    { name: 'MessageRetentionPeriod', before: '60', after: '345600' },
  ]);
  assert.equal(drift.outcome.approvedParts, undefined);
});

test('plans that no one applies leave nothing in AWS', withOwnProgram, async (t) => {
  const { aws, job, run } = await stackStage(t, files);
  for (const type of ['prPlan', 'dryRun', 'driftDetection'] as const) {
    const { outcome } = await run(job({ type }));
    assert.deepEqual(outcome.planSummary, { added: 3, changed: 0, destroyed: 0 }, JSON.stringify(outcome));
    await aws.account.idle();
    assert.deepEqual([aws.account.changeSets.length, aws.account.stackNames], [0, []]);
  }
});

test('a destroy deletes the stack, and needs no template', withOwnProgram, async (t) => {
  const { aws, setup, job, run, apply, cloud } = await deployed(t);
  setup.commit({ 'template.yaml': null, 'README.md': 'gone' });
  const planned = await run(job({ type: 'destroy', deploymentId: 'second' }));
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 3 });
  const applied = await expectResult('applied', apply(planned));
  assert.deepEqual(applied.steps(), { 'apply:prepare': 'SUCCESS', 'cf:delete-stack': 'SUCCESS' });
  assert.equal(cloud.resources.size, 0);
  assert.equal(aws.account.stack('test-one').status, 'DELETE_COMPLETE');
});

test(
  'retained resources are forgotten by a destroy, and its summary says that they stay',
  withOwnProgram,
  async (t) => {
    const { job, run, deploy } = await stackStage(t, {
      'template.yaml':
        'Resources: { Kept: { Type: AWS::SQS::Queue, DeletionPolicy: Retain }, Gone: { Type: AWS::SQS::Queue } }',
    });
    await deploy(job());
    const planned = await run(job({ type: 'destroy', deploymentId: 'second' }));
    assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 1, forgotten: 1 });
    assert.match(
      planned.log('cf:change-set'),
      /Plan: 1 to destroy, 1 to forget\. Forgotten resources stay as they are\./,
    );
  },
);

test('a destroy stops if the stack has got more resources since its approval', withOwnProgram, async (t) => {
  const { aws, job, run, apply } = await deployed(t);
  const planned = await run(job({ type: 'destroy', deploymentId: 'second' }));
  await aws.account.updateByHand(
    'test-one',
    template.replace('\nOutputs:', '\n  More:\n    Type: AWS::SQS::Queue\n\nOutputs:'),
  );
  const { outcome } = await apply(planned);
  assert.match(
    outcome.error?.message ?? '',
    /differs from what was approved \(the stack has more resources: More\)/,
  );
  assert.ok(!aws.requests.includes('DeleteStack'));
});

test('an apply stops if the stack was changed since its approval', withOwnProgram, async (t) => {
  const { aws, job, run, apply } = await deployed(t);
  const planned = await run(job({ deploymentId: 'second' }, { parameters: { Stage: 'two' } }));
  await aws.account.updateByHand('test-one', template.replace('1209600', '60'));
  const { outcome } = await apply(planned);
  assert.match(
    outcome.error?.message ?? '',
    /^the apply differs from what was approved \(the stack was changed after the plan, .*and nothing was applied/,
  );
});

test(
  'a failed apply has the first reason as its message, and a retry does not hide it',
  withOwnProgram,
  async (t) => {
    const { aws, job, run, apply } = await stackStage(t, files);
    aws.account.cloud.refuse('create', 'Orders', 'A queue of this name was deleted less than 60 seconds ago');
    const planned = await run(job());
    const { outcome, events } = await expectResult(
      'failed',
      apply(planned, { changes: { retry: { times: 1, isReviewed: true } } }),
    );
    assert.match(
      outcome.error?.message ?? '',
      /^stack test-one is ROLLBACK_COMPLETE: Orders \(AWS::SQS::Queue\): A queue of this name was deleted/,
    );
    assert.equal(outcome.failedCommand, 'cloudformation execute-change-set');
    assert.deepEqual(outcome.diagnostics, [
      {
        severity: 'error',
        step: 'cf:deploy',
        text: 'Orders (AWS::SQS::Queue): A queue of this name was deleted less than 60 seconds ago',
      },
    ]);
    const failed = events.filter((event) => event.kind === 'resource' && event.status === 'failed');
    assert.ok(failed.length > 0);
    assert.equal(aws.requests.filter((action) => action === 'ExecuteChangeSet').length, 1);
  },
);

test('an abort ends an apply to which AWS does not answer', withOwnProgram, async (t) => {
  const { aws, setup, job, run, start } = await stackStage(t, files);
  const planned = await run(job());
  aws.account.cloud.hold();
  aws.hang('DescribeStackEvents');
  const running = start(setup.applyJob(planned));
  await running.until(() => aws.requests.includes('DescribeStackEvents'), 'the request without an answer');
  running.abort('gently');
  await expectResult('aborted', running.ended);
});

test('bad values are refused before anything runs', withOwnProgram, async (t) => {
  const { aws, job, run } = await stackStage(t, files);
  const refused = async (changes: Partial<Job>, environment: Record<string, string> = {}) =>
    failureMessageOf(await run(job(changes, { environment })));
  assert.match(await refused({ workspaceName: '9stack' }), /workspaceName is the name of the stack/);
  assert.match(await refused({ settings: { fileName: '../x.yaml' } }), /fileName: a path must not lead out/);
  assert.match(await refused({ targets: ['Orders'] }), /targets: CloudFormation deploys a stack as a whole/);
  assert.match(
    await refused({}, { ENVARIUM_CF_CLI_ARGS_DEPLOY: '--stack-name other' }),
    /--stack-name is not allowed, because the stack's name is the workspaceName/,
  );
  assert.match(
    await refused({}, { ENVARIUM_CF_CAPABILITIES: 'all' }),
    /ENVARIUM_CF_CAPABILITIES: it must be a list/,
  );
  assert.deepEqual(aws.requests, []);
});

test('a task has the credentials and no program for stacks', withOwnProgram, async (t) => {
  const { job, run } = await stackStage(t, files);
  const ran = await run(
    job({ type: 'task', taskPayload: 'echo "region $AWS_REGION"; ! command -v cloudformation' }),
  );
  assert.equal(ran.outcome.result, 'applied', JSON.stringify(ran.outcome));
  assert.match(ran.log('task:run'), /region eu-west-1/);
  assert.equal(ran.steps()['cf:validate'], 'SUCCESS');
});
