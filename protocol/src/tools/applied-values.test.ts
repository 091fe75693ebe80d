import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { appliedValuesProblem, namedValueFiles, plannedValues } from './applied-values.ts';
import { variableRefusal } from './variable-refusals.ts';

describe('an apply has no values that its plan does not have', () => {
  for (const [name, value] of [
    ['TF_CLI_ARGS_apply', '-var size=hunter2'],
    ['TF_CLI_ARGS_apply', '-lock=false --var=size=hunter2'],
    ['TF_CLI_ARGS_apply', "-v'ar' 'size=hunter2'"],
    ['ENVARIUM_CLI_ARGS_APPLY', '-var=size=hunter2'],
    ['ENVARIUM_CLI_ARGS_APPLY', '"-var-file" hunter2'],
    ['ENVARIUM_CLI_ARGS_APPLY', '--var-file=hunter2'],
  ] as const)
    it(`in ${name}=${value}`, () => {
      const problem = appliedValuesProblem({ [name]: value, TF_CLI_ARGS_plan: '-var size=small' }) ?? '';
      assert.match(
        problem,
        new RegExp(`^${name}: -var(-file| size) is not allowed, because an apply gets the values`),
      );
      assert.doesNotMatch(problem, /hunter2/);
    });

  it('even if they seem to be values of the plan', () => {
    for (const plan of ['-generate-config-out', '-lock-timeout', '-unheard-of'])
      assert.match(
        appliedValuesProblem({
          TF_CLI_ARGS_plan: plan,
          ENVARIUM_CLI_ARGS_PLAN: '-var=size=huge',
          ENVARIUM_CLI_ARGS_APPLY: '-var=size=huge',
        }) ?? '',
        /^TF_CLI_ARGS_plan: its last argument has no value/,
      );
  });

  it('but may have the same ones again, in any form and from any variable', () => {
    const same: Record<string, string>[] = [
      { TF_CLI_ARGS_plan: '-var size=huge', TF_CLI_ARGS_apply: '--var=size=huge' },
      { ENVARIUM_CLI_ARGS_PLAN: '-var=size=huge', TF_CLI_ARGS_apply: '-var size=huge -parallelism=1' },
      { TF_CLI_ARGS: '-var=size=huge', ENVARIUM_CLI_ARGS_APPLY: '-var=size=huge' },
      { ENVARIUM_TERRAFORM_CONFIG_FILE_PATH: 'a,b', ENVARIUM_CLI_ARGS_APPLY: '-var-file=b' },
      { TF_CLI_ARGS_init: '-var=size=huge', ENVARIUM_CLI_ARGS_APPLY: '-parallelism 1' },
      {},
    ];
    for (const environment of same)
      assert.equal(appliedValuesProblem(environment), null, JSON.stringify(environment));
  });

  it('nor any that refer to who approves, with any tool', () => {
    for (const name of [
      'TF_VAR_size',
      'ANSIBLE_VAR_size',
      'ENVARIUM_HELM_SET_size',
      'ENVARIUM_CLI_ARGS_APPLY',
      'ENVARIUM_CF_PARAM_Size',
    ]) {
      const problem = variableRefusal(0, name, 'x${ENVARIUM_REVIEWER_NAME}') ?? '';
      assert.ok(problem.startsWith(`${name}: its value cannot refer to who approves`), problem);
      assert.equal(variableRefusal(0, name, '${ENVARIUM_DEPLOYER_NAME}'), null, name);
    }
    assert.equal(variableRefusal(0, 'APPROVED_BY', '${ENVARIUM_REVIEWER_NAME}'), null);
  });
});

it('the values of a plan are passed on in the order in which they take precedence', () => {
  assert.deepEqual(
    plannedValues(
      {
        TF_CLI_ARGS_plan: '-lock=false -var a=1',
        ENVARIUM_TERRAFORM_CONFIG_FILE_PATH: 'x.tfvars',
        ENVARIUM_CLI_ARGS_PLAN: '-var=b=2 -parallelism=1',
        TF_CLI_ARGS: '-var=c=3',
      },
      (file) => `/code/${file}`,
    ),
    ['-var=a=1', '-var-file=/code/x.tfvars', '-var=b=2'],
  );
});

it('files with values are found in all arguments of a plan, also in those that every command gets', () => {
  const environment = {
    TF_CLI_ARGS_plan: '-lock=false -var-file plan.tfvars',
    ENVARIUM_TERRAFORM_CONFIG_FILE_PATH: 'x.tfvars',
    ENVARIUM_CLI_ARGS_PLAN: '--var-file=/tmp/ours.tfvars',
    TF_CLI_ARGS: '-var=c=3 -var-file=all.tfvars',
  };
  const files = ['plan.tfvars', 'x.tfvars', '/tmp/ours.tfvars', 'all.tfvars'];
  assert.deepEqual(namedValueFiles(environment), files);
});
