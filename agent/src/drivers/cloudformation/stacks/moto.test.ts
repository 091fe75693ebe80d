/** The program against moto, whose resources exist outside of the stack too. moto has neither events nor drift. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stackProgram } from '../../../../testing/cloudformation/program.ts';
import { startAwsServer, withAwsServer } from '../../../../testing/secret-stores/aws-server.ts';
import type { ChangeSetReport, DeletionReport, OutputsReport } from './api/reports.ts';

// moto reads no template without its version.
const template = `
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Token: { Type: String, NoEcho: true, Default: planted-no-echo }
Resources:
  Queue: { Type: AWS::SQS::Queue, Properties: { QueueName: orders, DelaySeconds: 1 } }
  Note: { Type: AWS::SSM::Parameter, Properties: { Name: note, Type: String, Value: !Ref Token } }
`;

const changed = (report: ChangeSetReport) =>
  report.changes.map(({ action, logicalId }) => [action, logicalId]);

test('a stack of moto is created, changed, found unchanged and deleted', withAwsServer(), async (t) => {
  await using moto = await startAwsServer();
  const program = await stackProgram(t, { 'template.yaml': template });
  const { environment } = moto;
  const step = async <Report>(
    verb: Parameters<typeof program.run>[0],
    more: { readonly id?: string; readonly approved?: unknown } = {},
  ) => {
    const { status, report, log } = await program.run<Report>(verb, {
      environment,
      job: { deploymentId: more.id ?? 'first' },
      approved: more.approved,
    });
    assert.equal(status, 0, log);
    assert.ok(!log.includes('planted-no-echo'), log);
    return report;
  };
  await step('validate');
  const created = await step<ChangeSetReport>('create-change-set');
  assert.deepEqual(changed(created).toSorted(), [
    ['Add', 'Note'],
    ['Add', 'Queue'],
  ]);
  await step('describe-change-set', { approved: created });
  await step('execute-change-set', { approved: created });
  const outputs = await step<OutputsReport>('describe-outputs');
  assert.deepEqual(outputs.resources.map(({ type }) => type).toSorted(), [
    'AWS::SQS::Queue',
    'AWS::SSM::Parameter',
  ]);
  program.write({ 'template.yaml': template.replace('DelaySeconds: 1', 'DelaySeconds: 5') });
  const updated = await step<ChangeSetReport>('create-change-set', { id: 'second' });
  assert.deepEqual(changed(updated), [['Modify', 'Queue']]);
  assert.ok(!JSON.stringify(updated).includes('planted-no-echo'));
  await step('execute-change-set', { id: 'second', approved: updated });
  const empty = await step<ChangeSetReport>('create-change-set', { id: 'third' });
  assert.equal(empty.changeSetId, null);
  const deletion = await step<DeletionReport>('plan-deletion', { id: 'fourth' });
  assert.equal(deletion.resources.length, 2);
  await step('delete-stack', { id: 'fourth', approved: deletion });
  assert.equal((await step<DeletionReport>('plan-deletion', { id: 'fifth' })).stackId, null);
});

test('drift that cannot be detected is an error that says so', withAwsServer(), async (t) => {
  await using moto = await startAwsServer();
  const program = await stackProgram(t, { 'template.yaml': template });
  const { environment } = moto;
  const { report } = await program.run<ChangeSetReport>('create-change-set', { environment });
  await program.run('execute-change-set', { environment, approved: report });
  const { status, log } = await program.run('detect-drift', {
    environment: { ...environment, AWS_MAX_ATTEMPTS: '1' },
  });
  assert.equal(status, 1);
  assert.match(log, /Error: the drift of the stack cannot be detected/);
});
