/** Deployments for each state of a stack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../../tools/suite/until.ts';
import {
  type Invocation,
  type StackProgram,
  stackProgram,
} from '../../../../testing/cloudformation/program.ts';
import type { ChangeSetReport, DeletionReport, OutputsReport } from './api/reports.ts';

const two = `
Parameters: { Size: { Type: Number, Default: 1 } }
Resources:
  First: { Type: AWS::SQS::Queue, Properties: { DelaySeconds: !Ref Size } }
  Second: { Type: AWS::SQS::Queue, DependsOn: First, Properties: { DelaySeconds: !Ref Size } }
`;
const kept = `
Resources:
  Kept: { Type: AWS::SQS::Queue, DeletionPolicy: Retain }
  Second: { Type: AWS::SQS::Queue, DependsOn: Kept }
`;

async function deploy(program: StackProgram, invocation: Invocation = {}) {
  const planned = await program.run<ChangeSetReport>('create-change-set', invocation);
  assert.equal(planned.status, 0, planned.log);
  const applied = await program.run('execute-change-set', { ...invocation, approved: planned.report });
  return { planned, applied };
}

async function destroy(program: StackProgram, invocation: Invocation = {}) {
  const planned = await program.run<DeletionReport>('plan-deletion', {
    job: { type: 'destroy' },
    ...invocation,
  });
  assert.equal(planned.status, 0, planned.log);
  const applied = await program.run('delete-stack', {
    job: { type: 'destroy' },
    ...invocation,
    approved: planned.report,
  });
  return { planned, applied };
}

const statusOf = ({ aws }: StackProgram) => aws.account.stack('orders').status;

test('a failed creation says the first reason, and the next deployment creates another stack', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  program.aws.account.cloud.refuse('create', 'Second', 'Queue limit exceeded');
  const { applied } = await deploy(program);
  assert.equal(applied.status, 1);
  assert.match(
    applied.log,
    /Error: stack orders is ROLLBACK_COMPLETE: Second \(AWS::SQS::Queue\): Queue limit exceeded\n/,
  );
  assert.match(applied.log, /DELETE_COMPLETE AWS::SQS::Queue First/, 'the log has the rollback');
  program.aws.account.cloud.refuse('create', 'Second', null);
  const again = await deploy(program, { job: { deploymentId: 'second' } });
  assert.match(
    again.planned.log,
    /was rolled back: what is left of the stack is deleted, which has no resources/,
  );
  assert.equal(again.applied.status, 0, again.applied.log);
  assert.equal(statusOf(program), 'CREATE_COMPLETE');
});

test('what a rolled back stack has retained is named before it is deleted', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': kept });
  program.aws.account.cloud.refuse('create', 'Second', 'no');
  await deploy(program);
  program.aws.account.cloud.refuse('create', 'Second', null);
  const again = await deploy(program, { job: { deploymentId: 'second' } });
  assert.match(again.planned.log, /These exist and belong to no stack any more: Kept \(AWS::SQS::Queue\)/);
  assert.equal(program.aws.account.cloud.resources.size, 3);
});

test('plans that no one applies do not delete a rolled back stack', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  program.aws.account.cloud.refuse('create', 'Second', 'no');
  await deploy(program);
  const planned = await program.run('create-change-set', { job: { type: 'prPlan' } });
  assert.equal(planned.status, 1);
  assert.match(planned.log, /nothing can be planned until a deployment has removed it/);
  assert.equal(statusOf(program), 'ROLLBACK_COMPLETE');
});

test('a failed update is rolled back with its reason, and the next one succeeds', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program);
  program.aws.account.cloud.refuse('update', 'Second', 'Invalid delay');
  const failed = await deploy(program, { job: { deploymentId: 'second' }, parameters: { Size: '2' } });
  assert.match(
    failed.applied.log,
    /stack orders is UPDATE_ROLLBACK_COMPLETE: Second \(AWS::SQS::Queue\): Invalid delay/,
  );
  program.aws.account.cloud.refuse('update', 'Second', null);
  const { applied } = await deploy(program, { job: { deploymentId: 'third' }, parameters: { Size: '2' } });
  assert.equal(applied.status, 0, applied.log);
});

test('a failed rollback is continued if a variable says so, and otherwise named', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const { cloud } = program.aws.account;
  await deploy(program);
  cloud.refuse('update', 'Second', 'Invalid delay');
  cloud.refuse('update', 'First', 'Access to queue denied', 1);
  const { applied } = await deploy(program, { parameters: { Size: '2' } });
  assert.match(
    applied.log,
    /is UPDATE_ROLLBACK_FAILED: Second \(AWS::SQS::Queue\): Invalid delay \(and 1 more error\)/,
  );
  const refused = await program.run('create-change-set');
  assert.match(refused.log, /is UPDATE_ROLLBACK_FAILED .*set ENVARIUM_CF_CONTINUE_ROLLBACK to true/);
  for (const id of ['First', 'Second']) cloud.refuse('update', id, null);
  const continued = await deploy(program, {
    environment: { ENVARIUM_CF_CONTINUE_ROLLBACK: 'true' },
    parameters: { Size: '3' },
  });
  assert.match(continued.planned.log, /The rollback of stack orders is continued\./);
  assert.equal(continued.applied.status, 0, continued.applied.log);
});

test('a plan waits until a change of the stack by another user has ended', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const planned = await program.run<ChangeSetReport>('create-change-set');
  program.aws.account.cloud.hold();
  const applying = await program.start('execute-change-set', { approved: planned.report });
  await applying.until('CREATE_IN_PROGRESS AWS::SQS::Queue First');
  applying.child.kill('SIGKILL');
  await applying.ended;
  const next = await program.start<ChangeSetReport>('create-change-set', {
    job: { deploymentId: 'second' },
    parameters: { Size: '2' },
  });
  await next.until('is CREATE_IN_PROGRESS: another change or an earlier run is at work. Waiting for its end');
  program.aws.account.cloud.release();
  const { status, report, log } = await next.ended;
  assert.equal(status, 0, log);
  assert.equal(report.isCreation, false);
  assert.deepEqual(
    report.changes.map(({ logicalId, action }) => [logicalId, action]),
    [
      ['First', 'Modify'],
      ['Second', 'Modify'],
    ],
  );
});

test('an execution that was killed is followed by the same deployment, and not begun again', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const { report } = await program.run<ChangeSetReport>('create-change-set');
  program.aws.account.cloud.hold();
  const first = await program.start('execute-change-set', { approved: report });
  await first.until('CREATE_IN_PROGRESS AWS::SQS::Queue First');
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await program.start('execute-change-set', { approved: report });
  await second.until('CREATE_IN_PROGRESS AWS::SQS::Queue First');
  program.aws.account.cloud.release();
  const { status, log } = await second.ended;
  assert.equal(status, 0, log);
  assert.match(log, /has begun to execute the change set already: its work is followed/);
  assert.equal(program.aws.requests.filter((action) => action === 'ExecuteChangeSet').length, 1);
});

test('an interrupted update is cancelled, and an interrupted creation is not', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const { cloud } = program.aws.account;
  const interrupted = async (invocation: Invocation, line: string) => {
    const planned = await program.run<ChangeSetReport>('create-change-set', invocation);
    assert.equal(planned.status, 0, planned.log);
    cloud.hold();
    const running = await program.start('execute-change-set', { ...invocation, approved: planned.report });
    await running.until(line);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    cloud.release();
    await program.aws.account.idle();
    return ended;
  };
  const creation = await interrupted({}, 'CREATE_IN_PROGRESS AWS::SQS::Queue First');
  assert.match(creation.log, /Stopped: AWS still works on the stack/);
  assert.equal(statusOf(program), 'CREATE_COMPLETE');
  const update = await interrupted(
    { job: { deploymentId: 'second' }, parameters: { Size: '2' } },
    'UPDATE_IN_PROGRESS AWS::SQS::Queue First',
  );
  assert.match(update.log, /Stopped: AWS cancels the update and rolls it back/);
  assert.equal(statusOf(program), 'UPDATE_ROLLBACK_COMPLETE');
});

test('an update is cancelled, although AWS had not answered yet when it was interrupted', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program);
  const { account, holdAnswer, requests } = program.aws;
  const invocation = { job: { deploymentId: 'second' }, parameters: { Size: '2' } };
  const planned = await program.run<ChangeSetReport>('create-change-set', invocation);
  account.cloud.hold();
  const answer = holdAnswer('ExecuteChangeSet');
  const running = await program.start('execute-change-set', { ...invocation, approved: planned.report });
  await until('the update', () => statusOf(program) === 'UPDATE_IN_PROGRESS');
  running.child.kill('SIGINT');
  answer();
  const { log } = await running.ended;
  account.cloud.release();
  await account.idle();
  assert.match(log, /Stopped: AWS cancels the update and rolls it back/);
  assert.ok(requests.includes('CancelUpdateStack'));
  assert.equal(statusOf(program), 'UPDATE_ROLLBACK_COMPLETE');
});

test('a plan waits until a stack is deleted, and creates another one', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program);
  const planned = await program.run<DeletionReport>('plan-deletion', { job: { type: 'destroy' } });
  program.aws.account.cloud.hold();
  const deleting = await program.start('delete-stack', {
    job: { type: 'destroy' },
    approved: planned.report,
  });
  await deleting.until('DELETE_IN_PROGRESS AWS::SQS::Queue Second');
  deleting.child.kill('SIGKILL');
  await deleting.ended;
  const next = await program.start<ChangeSetReport>('create-change-set', { job: { deploymentId: 'second' } });
  await next.until('is DELETE_IN_PROGRESS: another change or an earlier run is at work. Waiting for its end');
  program.aws.account.cloud.release();
  const { status, report, log } = await next.ended;
  assert.equal(status, 0, log);
  assert.equal(report.isCreation, true);
  assert.equal(report.changes.length, 2);
});

test('a destroy names what stays, and deletes the rest', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': kept });
  await deploy(program);
  const { planned, applied } = await destroy(program);
  assert.deepEqual(
    planned.report.resources.map(({ logicalId, stays }) => [logicalId, stays]),
    [
      ['Kept', 'it stays, because its DeletionPolicy is Retain'],
      ['Second', null],
    ],
  );
  assert.equal(applied.status, 0, applied.log);
  assert.equal(program.aws.account.cloud.resources.size, 1);
  const nothing = await destroy(program);
  assert.equal(nothing.planned.report.stackId, null);
});

test('a failed deletion names what is left; the next one tries again, and can leave resources behind', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program);
  program.aws.account.cloud.refuse('delete', 'First', 'Queue is in use');
  const { applied } = await destroy(program);
  assert.match(
    applied.log,
    /stack orders is DELETE_FAILED: First \(AWS::SQS::Queue\): Queue is in use\n\(what is left: First/,
  );
  const refused = await program.run('create-change-set');
  assert.match(
    refused.log,
    /is DELETE_FAILED, because of First \(AWS::SQS::Queue: Queue is in use\): its deletion has failed: destroy/,
  );
  const again = await destroy(program, {
    environment: { ENVARIUM_CF_CLI_ARGS_DELETE_STACK: '--retain-resources First' },
  });
  assert.match(again.planned.log, /An earlier deletion has failed, because of First/);
  assert.equal(again.planned.report.resources[0]?.stays, 'it stays, because --retain-resources names it');
  assert.equal(again.applied.status, 0, again.applied.log);
});

test('a protected stack is not deleted, and the plan says how to switch its protection off', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program);
  program.aws.account.stack('orders').isProtected = true;
  const planned = await program.run('plan-deletion', { job: { type: 'destroy' } });
  assert.equal(planned.status, 1);
  assert.match(planned.log, /cannot be deleted: its termination protection is on: switch it off in AWS/);
  assert.ok(!program.aws.requests.includes('DeleteStack'));
});

test('a stack of people is taken over by a deployment, and left by a destroy', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await program.aws.account.createByHand('orders', 'Resources: { First: { Type: AWS::SQS::Queue } }');
  const left = await destroy(program);
  assert.match(left.planned.log, /stays as it is: no deployment of this environment has made it/);
  assert.equal(statusOf(program), 'CREATE_COMPLETE');
  const { planned, applied } = await deploy(program);
  assert.match(planned.log, /no deployment of this environment has made it: the apply takes it over/);
  assert.equal(applied.status, 0, applied.log);
  assert.equal((await destroy(program)).planned.report.resources.length, 2);
});

test('a stack of another environment is refused, with the remedy', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  await deploy(program, { job: { environmentId: 'other' } });
  for (const verb of ['create-change-set', 'plan-deletion', 'detect-drift'] as const) {
    const { status, log } = await program.run(verb);
    assert.equal(status, 1);
    assert.match(log, /belongs to the environment other: choose another workspaceName, or remove the tag/);
  }
});

test('rejected plans leave nothing once the environment plans again or is destroyed', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const names = () => program.aws.account.changeSets.map(({ name }) => name);
  await program.run('create-change-set', { job: { deploymentId: 'one' } });
  await program.run('create-change-set', { job: { deploymentId: 'two' } });
  assert.deepEqual(names(), ['envarium-plan-two']);
  const look = await program.run<ChangeSetReport>('create-change-set', {
    job: { deploymentId: 'three', type: 'dryRun' },
  });
  assert.equal(look.report.changes.length, 2);
  assert.deepEqual(names(), ['envarium-plan-two'], 'a look leaves what may still be approved');
  const { applied } = await destroy(program);
  assert.equal(applied.status, 0, applied.log);
  await program.aws.account.idle();
  assert.deepEqual(program.aws.account.stackNames, []);
  await program.run('create-change-set', { job: { type: 'prPlan' } });
  await program.aws.account.idle();
  assert.deepEqual(program.aws.account.stackNames, [], 'a stack that was only made for a look is removed');
});

test('outputs that contain hidden values are sensitive', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': `
Parameters: { Token: { Type: String, NoEcho: true } }
Resources: { Queue: { Type: AWS::SQS::Queue } }
Outputs:
  Open: { Value: !Ref Queue }
  Hidden: { Value: !Sub 'prefix-\${Token}' }
`,
  });
  const parameters = { Token: 'planted-token' };
  await deploy(program, { parameters });
  const { report } = await program.run<OutputsReport>('describe-outputs', { parameters });
  assert.deepEqual(
    report.outputs.map(({ name, isSensitive }) => [name, isSensitive]),
    [
      ['Open', false],
      ['Hidden', true],
    ],
  );
});

test('credentials that expire while AWS works are named, and the work is not lost', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': two });
  const planned = await program.run<ChangeSetReport>('create-change-set');
  program.aws.account.cloud.hold();
  const running = await program.start('execute-change-set', { approved: planned.report });
  await running.until('CREATE_IN_PROGRESS AWS::SQS::Queue First');
  program.aws.expire();
  const { status, log } = await running.ended;
  assert.equal(status, 1);
  assert.match(
    log,
    /Error: the AWS credentials have expired .*\n\(AWS still works on the stack: the next deployment waits/,
  );
});
