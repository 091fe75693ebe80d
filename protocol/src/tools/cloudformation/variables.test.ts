import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stackArgumentsProblem, stackOptions } from './arguments.ts';
import { cloudformation } from './facts.ts';
import { readStackVariables, stackVariableProblem } from './variables.ts';

const deploy = 'ENVARIUM_CF_CLI_ARGS_DEPLOY';
const role = 'arn:aws:iam::123456789012:role/deployer';

test('options are those that the command line of AWS has, by command', () => {
  const environment = {
    [deploy]: `--role-arn ${role} --tags team=web 'cost center=a b' --capabilities=CAPABILITY_IAM --disable-rollback`,
    ENVARIUM_CF_CLI_ARGS_delete_stack: '--retain-resources Queue Topic',
  };
  assert.deepEqual(stackOptions(environment, 'deploy'), {
    'role-arn': [role],
    tags: ['team=web', 'cost center=a b'],
    capabilities: ['CAPABILITY_IAM'],
    'disable-rollback': [],
  });
  assert.deepEqual(stackOptions(environment, 'delete'), { 'retain-resources': ['Queue', 'Topic'] });
});

test('options that a run cannot have are refused with the reason, and no value is repeated', () => {
  for (const [value, expected] of [
    [
      '--stack-name very-secret',
      /--stack-name is not allowed, because the stack's name is the workspaceName; remove it/,
    ],
    ['--parameter-overrides a=very-secret', /because variables of the environment are the parameters/],
    ['--region=very-secret', /use the variable AWS_REGION/],
    ['--unheard-of very-secret', /--unheard-of is not allowed; remove it \(allowed are --capabilities,/],
    ['--role-arn very-secret', /a value of --role-arn has the wrong form/],
    ['--role-arn', /--role-arn needs a value/],
    [`--role-arn ${role} ${role}`, /--role-arn takes one value/],
    ['--disable-rollback very-secret', /--disable-rollback takes no value/],
    ['very-secret', /one of its words does not begin with --/],
    ['--retain-resources Queue', /--retain-resources is not allowed/],
    ['--tags a=b; x', /has a ; outside of quotes/],
  ] as const) {
    const problem = stackArgumentsProblem(deploy, value) ?? '';
    assert.match(problem, expected, value);
    assert.ok(problem.startsWith(`${deploy}: `));
    assert.ok(!problem.includes('very-secret'));
  }
  assert.match(
    stackArgumentsProblem('ENVARIUM_CF_CLI_ARGS_ROLLBACK', '') ?? '',
    /runs have no such command; options can be in ENVARIUM_CF_CLI_ARGS_DEPLOY and ENVARIUM_CF_CLI_ARGS_DELETE_STACK/,
  );
  assert.equal(stackArgumentsProblem('OTHER', '--stack-name x'), null);
});

test('variables of stacks are checked by name', () => {
  for (const [name, value, expected] of [
    ['ENVARIUM_CF_PARAM_a_b', '1', /cannot be the name of a parameter/],
    ['ENVARIUM_CF_PARAMETERS_FILE', '/etc/x.json', /must be relative/],
    ['ENVARIUM_CF_CAPABILITIES', 'IAM', /must be a list such as CAPABILITY_IAM/],
    ['ENVARIUM_CF_S3_BUCKET', 'Bucket/prefix', /must be the name of a bucket/],
    ['ENVARIUM_CF_REVERT_DRIFT', 'no', /must be true or false/],
    ['ENVARIUM_CF_CONTINUE_ROLLBACK', '--x;', /must be true, false, or a list/],
  ] as const)
    assert.match(stackVariableProblem(name, value) ?? '', expected, name);
  for (const [name, value] of [
    ['ENVARIUM_CF_PARAM_Stage', 'x'],
    ['ENVARIUM_CF_PARAMETERS_FILE', '../parameters.json'],
    ['ENVARIUM_CF_S3_BUCKET', '${ENVARIUM_PROJECT_NAME}-templates'],
    ['ENVARIUM_CF_CONTINUE_ROLLBACK', 'Queue, Nested.Topic'],
  ] as const)
    assert.equal(stackVariableProblem(name, value), null, name);
  assert.match(stackVariableProblem('ENVARIUM_CF_PARAMETERS_FILE', '../p.json', '') ?? '', /lead out/);
});

test('variables of stacks are read with their defaults', () => {
  assert.deepEqual(readStackVariables({}), {
    parametersFile: null,
    capabilities: [],
    bucket: null,
    bucketPrefix: '',
    continuesRollback: null,
    revertsDrift: true,
  });
  const read = readStackVariables({
    ENVARIUM_CF_CAPABILITIES: 'CAPABILITY_IAM, CAPABILITY_AUTO_EXPAND',
    ENVARIUM_CF_S3_PREFIX: '/a/b/',
    ENVARIUM_CF_CONTINUE_ROLLBACK: 'true',
    ENVARIUM_CF_REVERT_DRIFT: 'false',
  });
  assert.deepEqual(
    [read.capabilities, read.bucketPrefix, read.continuesRollback, read.revertsDrift],
    [['CAPABILITY_IAM', 'CAPABILITY_AUTO_EXPAND'], 'a/b/', [], false],
  );
  assert.deepEqual(readStackVariables({ ENVARIUM_CF_CONTINUE_ROLLBACK: 'A,B' }).continuesRollback, [
    'A',
    'B',
  ]);
});

test('the name of a stack is one that AWS takes', () => {
  assert.equal(cloudformation.workspaceNameRefusal?.('Orders-1'), null);
  for (const name of ['1orders', 'orders_1', 'a.b', 'a'.repeat(129)])
    assert.match(cloudformation.workspaceNameRefusal?.(name) ?? '', /is the name of the stack/, name);
});
