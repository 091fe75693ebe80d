/** Code that names what belongs to others, and runs of one environment that work at the same time. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../../tools/suite/temporary-folder.ts';
import { stackProgram } from '../../../../testing/cloudformation/program.ts';
import { readCode } from './api/code-files.ts';
import { type ChangeSetReport, eventLine, type OutputsReport } from './api/reports.ts';

const queue = 'Resources: { Queue: { Type: AWS::SQS::Queue } }\n';

test('a file that leads out of the repository is not read', (t) => {
  const folder = temporaryFolder(t, 'code-');
  const root = join(folder, 'repository');
  mkdirSync(join(root, 'stacks'), { recursive: true });
  writeFileSync(join(root, 'shared.yaml'), queue);
  writeFileSync(join(folder, 'outside.yaml'), 'a secret of the machine');
  symlinkSync('../shared.yaml', join(root, 'stacks/inside.yaml'));
  symlinkSync('../../outside.yaml', join(root, 'stacks/outside.yaml'));
  symlinkSync('../..', join(root, 'stacks/folder'));
  const read = (name: string) => readCode(join(root, 'stacks', name), root);
  assert.equal(read('inside.yaml'), queue);
  assert.equal(read('missing.yaml'), null);
  assert.throws(() => read('outside.yaml'), /outside\.yaml leads out of the repository: replace the link/);
  assert.throws(() => read('folder/outside.yaml'), /leads out of the repository/);
  assert.throws(() => readCode('/dev/zero', '/'), /must be a file/);
});

test('no name of a parameter is special', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': `Parameters: { constructor: { Type: String }, toString: { Type: String } }\n${queue}`,
  });
  const { status, log } = await program.run('validate', { parameters: { toString: 'given' } });
  assert.equal(status, 1);
  assert.match(log, /the template needs a value for constructor: add a variable of type 1/);
});

test('hidden values of a file are hidden in outputs, and nothing is shown without knowing them', async (t) => {
  const program = await stackProgram(t, {
    'template.yaml': `
Parameters: { Token: { Type: String, NoEcho: true }, Word: { Type: String, NoEcho: true, Default: by-default } }
${queue}
Outputs:
  Token: { Value: !Ref Token }
  Word: { Value: !Ref Word }
  Open: { Value: something else }
`,
    'parameters.json': '{ "Token": "planted-token" }',
  });
  const environment = { ENVARIUM_CF_PARAMETERS_FILE: 'parameters.json' };
  const planned = await program.run<ChangeSetReport>('create-change-set', { environment });
  await program.run('execute-change-set', { environment, approved: planned.report });
  const { report } = await program.run<OutputsReport>('describe-outputs', { environment });
  assert.deepEqual(
    report.outputs.map(({ name, isSensitive }) => [name, isSensitive]),
    [
      ['Token', true],
      ['Word', true],
      ['Open', false],
    ],
  );
  program.aws.deny('GetTemplateSummary');
  const refused = await program.run<OutputsReport>('describe-outputs', { environment });
  assert.equal(refused.status, 1);
  assert.match(refused.log, /AWS denies access/);
});

test('a plan leaves the change set of another run that is still looking', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  const { changeSets } = program.aws.account;
  const names = () => program.aws.account.changeSets.map(({ name }) => name);
  await program.run('create-change-set', { job: { deploymentId: 'other' } });
  Object.assign(changeSets[0] ?? {}, { name: 'envarium-look-other' });
  await program.run('create-change-set', { job: { deploymentId: 'one' } });
  assert.deepEqual(names(), ['envarium-look-other', 'envarium-plan-one']);
  await program.run('create-change-set', { job: { deploymentId: 'two', type: 'prPlan' } });
  assert.deepEqual(names(), ['envarium-look-other', 'envarium-plan-one']);
  Object.assign(changeSets[0] ?? {}, { created: new Date(0) });
  await program.run('create-change-set', { job: { deploymentId: 'three', type: 'prPlan' } });
  assert.deepEqual(names(), ['envarium-plan-one'], 'that of a run that was killed is removed');
});

test('a rolled back stack of people is left to them', async (t) => {
  const program = await stackProgram(t, { 'template.yaml': queue });
  program.aws.account.cloud.refuse('create', 'Queue', 'no');
  await program.aws.account.createByHand('orders', queue);
  assert.equal(program.aws.account.stack('orders').status, 'ROLLBACK_COMPLETE');
  const { status, log } = await program.run('create-change-set');
  assert.equal(status, 1);
  assert.match(log, /no deployment of this environment has made it: delete it in AWS/);
  assert.equal(program.aws.account.stack('orders').status, 'ROLLBACK_COMPLETE');
});

test('what a resource says of itself stays in its line', () => {
  const line = eventLine({
    time: '10:00:00',
    status: 'CREATE_COMPLETE',
    type: 'Custom::Own',
    path: 'Own',
    physicalId: 'id\nError: made up\x1b[2J',
    reason: 'one\r\ntwo',
  });
  assert.equal(line, '10:00:00 CREATE_COMPLETE Custom::Own Own [id Error: made up [2J]: one two');
});
