import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { variableRefusal } from '../variable-refusals.ts';
import { readRunVariables, runVariableProblem } from './run-variables.ts';

describe('variables that change a run', () => {
  it('are read from the environment of the run', () => {
    assert.deepEqual(
      readRunVariables({
        ENVARIUM_TERRAFORM_BACKEND_CONFIG: 'bucket=b, key=k=1,,more.tfbackend',
        ENVARIUM_CLI_ARGS_PLAN: "-parallelism=3 -var 'a=b c'",
        ENVARIUM_CLI_ARGS_APPLY: '-parallelism=1',
        ENVARIUM_TERRAFORM_TARGET: 'module.m["a,b"].x.y, z.z[0]',
        ENVARIUM_TERRAFORM_CONFIG_FILE_PATH: 'a.tfvars,../b.tfvars.json',
        ENVARIUM_SKIP_WORKSPACE: 'true',
        ENVARIUM_IGNORE_STATE: 'false',
        ENVARIUM_ALLOW_EMPTY_WORKSPACE: 'true',
      }),
      {
        backendConfig: ['bucket=b', 'key=k=1', 'more.tfbackend'],
        planArguments: ['-parallelism=3', '-var', 'a=b c'],
        applyArguments: ['-parallelism=1'],
        targets: ['module.m["a,b"].x.y', 'z.z[0]'],
        variableFiles: ['a.tfvars', '../b.tfvars.json'],
        skipsWorkspace: true,
        ignoresState: false,
        allowsEmptyWorkspace: true,
      },
    );
  });

  it('say nothing where they are not set', () => {
    const { skipsWorkspace, ignoresState, allowsEmptyWorkspace, ...lists } = readRunVariables({});
    assert.deepEqual([skipsWorkspace, ignoresState, allowsEmptyWorkspace], [false, false, false]);
    assert.deepEqual(Object.values(lists).flat(), []);
  });

  for (const [name, value, problem] of [
    ['ENVARIUM_CLI_ARGS_PLAN', '-out=x', /-out is not allowed/],
    ['ENVARIUM_CLI_ARGS_PLAN', '-var a=b; rm x', /has a ; outside of quotes/],
    ['ENVARIUM_CLI_ARGS_APPLY', '-state-out=x', /-state-out is not allowed/],
    ['ENVARIUM_CLI_ARGS_APPLY', '"-json', /not closed/],
    ['ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', '/etc/passwd', /relative/],
    ['ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', 'ok.tfvars,../../../x', /out of the repository/],
    ['ENVARIUM_TERRAFORM_BACKEND_CONFIG', '/etc/shadow', /relative/],
    ['ENVARIUM_TERRAFORM_BACKEND_CONFIG', '=x', /has no name/],
    ['ENVARIUM_TERRAFORM_TARGET', '-destroy', /does not begin with -/],
    ['ENVARIUM_SKIP_WORKSPACE', 'yes', /true or false/],
    ['ENVARIUM_IGNORE_STATE', '1', /true or false/],
    ['ENVARIUM_ALLOW_EMPTY_WORKSPACE', 'yes', /true or false/],
  ] as const) {
    it(`refuse ${name}=${value}, and name themselves`, () => {
      const text = runVariableProblem(name, value, 'network/blue') ?? '';
      assert.ok(text.startsWith(`${name}: `), text);
      assert.match(text, problem);
    });
  }

  it('are refused when they are written, as far as the folder is not needed to tell', () => {
    assert.match(
      variableRefusal(0, 'ENVARIUM_CLI_ARGS_APPLY', '-state=hunter2') ?? '',
      /^ENVARIUM_CLI_ARGS_APPLY: -state is not allowed/,
    );
    assert.equal(
      variableRefusal(0, 'ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', '../../${ENVARIUM_ENVIRONMENT_NAME}.tfvars'),
      null,
    );
    assert.equal(variableRefusal(0, 'ENVARIUM_SKIP_WORKSPACE', '${ENVARIUM_OTHER}'), null);
    assert.equal(runVariableProblem('ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', '../b.tfvars', 'network'), null);
  });
});
