import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type StartOptions } from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';

const files = {
  'main.tf':
    'variable "size" { default = "small" }\nresource "terraform_data" "it" { input = timestamp() }\noutput "size" { value = terraform_data.it.id == "" ? "" : var.size }\n',
  'a.auto.tfvars': '# no values\n',
};

function stage(t: TestContext) {
  const setup = createSetup(t, files);
  const real = toolboxProgram('opentofu') ?? '';
  /** The real tool, with code that runs in one of its commands, as a provider's does. */
  const during = (command: string, work: string): StartOptions => {
    const tofu = join(setup.folder, `tofu-${command}`);
    // As the tool reads its variables first.
    const after = `#!/bin/sh\n${real} "$@"; code=$?\n[ "$1" = ${command} ] && { ${work}; }\nexit $code\n`;
    writeFileSync(tofu, after, { mode: 0o755 });
    return { toolPaths: { tofu, git: findProgram('git') ?? '' } };
  };
  return { setup, during, plain: { toolPaths: { tofu: real, git: findProgram('git') ?? '' } } };
}

for (const [what, work] of [
  ['written', `echo 'size = "huge"' > z.auto.tfvars`],
  ['written under the fixed name', `echo '{"size": "huge"}' > terraform.tfvars.json`],
  ['changed', `echo 'size = "huge"' > a.auto.tfvars`],
  ['removed', 'rm a.auto.tfvars'],
] as const)
  test(
    `a plan during which a file of values is ${what} cannot be applied`,
    withToolbox('opentofu'),
    async (t) => {
      const { setup, during } = stage(t);
      const planned = await setup.run(setup.job({ tool: 'opentofu' }), during('plan', work));
      assert.match(
        failureMessageOf(planned),
        /^(a\.auto|z\.auto|terraform)\.tfvars(\.json)? was changed by the run itself, and an apply would use its values/,
      );
      assert.equal(planned.outcome.approvedParts, undefined);
    },
  );

test('a file of values whose name is not UTF-8 cannot be hidden', withToolbox('opentofu'), async (t) => {
  const { setup, during } = stage(t);
  const work = `echo 'size = "huge"' > $(printf 'z\\377.auto.tfvars')`;
  const planned = await setup.run(setup.job({ tool: 'opentofu' }), during('plan', work));
  assert.match(failureMessageOf(planned), /z\uFFFD\.auto\.tfvars: the name of this file is not UTF-8/);
  assert.equal(planned.outcome.approvedParts, undefined);
});

test(
  'a file of values that the preparation of an apply elsewhere writes is not used',
  withToolbox('opentofu'),
  async (t) => {
    const { setup, during, plain } = stage(t);
    const planned = await setup.run(setup.job({ tool: 'opentofu' }), plain);
    const job = setup.applyJob(planned, { onOtherMachine: true });
    const work = `echo 'size = "huge"' > z.auto.tfvars`;
    const refused = await setup.run(job, during('init', work));
    assert.match(failureMessageOf(refused), /^z\.auto\.tfvars was changed by the run itself/);
    assert.equal(refused.outcome.result, 'failed');
    const applied = await setup.run(setup.applyJob(planned, { onOtherMachine: true }), plain);
    assert.equal(applied.outcome.outputs?.['size']?.value, 'small', JSON.stringify(applied.outcome));
  },
);

for (const name of ['TF_CLI_ARGS', 'TF_CLI_ARGS_plan', 'ENVARIUM_CLI_ARGS_PLAN'])
  test(`a file of values that ${name} names is compared`, withToolbox('opentofu'), async (t) => {
    const { setup, during } = stage(t);
    setup.commit({ 'more/sizes': 'size = "small"\n' });
    const environment = [
      { name, value: '-var-file=${ENVARIUM_TEMPLATE_DIR}/more/sizes', isSensitive: false },
    ];
    const job = setup.job({ tool: 'opentofu', variables: { environment, terraform: [] } });
    const planned = await setup.run(job, during('plan', `echo 'size = "huge"' > more/sizes`));
    assert.match(failureMessageOf(planned), /^more\/sizes was changed by the run itself/);
  });

test('a file of values outside of the repository is refused', withToolbox('opentofu'), async (t) => {
  const { setup, plain } = stage(t);
  for (const value of ['/tmp/sizes', '../sizes']) {
    const environment = [{ name: 'TF_CLI_ARGS_plan', value: `-var-file=${value}`, isSensitive: false }];
    const job = setup.job({ tool: 'opentofu', variables: { environment, terraform: [] } });
    const planned = await setup.run(job, plain);
    const message = failureMessageOf(planned);
    assert.ok(message.startsWith(`-var-file=${value} is outside of the repository: `), message);
  }
});

test('files of values anywhere in the repository can be named', withToolbox('opentofu'), async (t) => {
  const { setup, plain } = stage(t);
  setup.commit({ 'app/main.tf': files['main.tf'], 'common.tfvars': 'size = "common"\n' });
  const environment = [
    { name: 'ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', value: '../common.tfvars', isSensitive: false },
    {
      name: 'TF_CLI_ARGS_plan',
      value: '-var-file=/dev/null',
      isSensitive: false,
    },
  ];
  const job = setup.job({
    tool: 'opentofu',
    source: { ...setup.job().source, path: 'app' },
    variables: { environment, terraform: [] },
  });
  const planned = await expectResult('planned', setup.run(job, plain));
  const applied = await setup.run(setup.applyJob(planned, { onOtherMachine: true }), plain);
  assert.equal(applied.outcome.outputs?.['size']?.value, 'common', JSON.stringify(applied.outcome));
});

/** Runs a plan in the folder `prod`, a link to `stacks/app`, with an argument of the plan. */
async function planInLink(t: TestContext, value: string, during?: string) {
  const { setup, during: duringCommand, plain } = stage(t);
  setup.commit({
    'stacks/app/main.tf': files['main.tf'],
    'stacks/common.tfvars': 'size = "stacks"\n',
    'common.tfvars': 'size = "root"\n',
    'other/deep/note': '',
    'other/x.tfvars': 'size = "other"\n',
  });
  symlinkSync('stacks/app', join(setup.repository, 'prod'));
  symlinkSync('../../other/deep', join(setup.repository, 'stacks/app/link'));
  setup.commit({});
  const source = { ...setup.job().source, path: 'prod' };
  const environment = [{ name: 'TF_CLI_ARGS_plan', value, isSensitive: false }];
  const job = setup.job({ tool: 'opentofu', source, variables: { environment, terraform: [] } });
  const { outcome } = await setup.run(job, during === undefined ? plain : duringCommand('plan', during));
  return outcome;
}

test(
  'in a folder that is a link, a file of values is found where the tool finds it',
  withToolbox('opentofu'),
  async (t) => {
    const outcome = await planInLink(t, '-var-file=../../common.tfvars');
    assert.equal(outcome.result, 'planned', JSON.stringify(outcome));
  },
);

for (const value of [
  '-var-file=${ENVARIUM_ROOT_DIR}/common.tfvars',
  '-var-file=${ENVARIUM_TEMPLATE_DIR}/../../common.tfvars',
])
  test(`in a folder that is a link, ${value} is compared`, withToolbox('opentofu'), async (t) => {
    const outcome = await planInLink(t, value, `echo 'size = "huge"' > ../../common.tfvars`);
    assert.match(outcome.error?.message ?? '', /^\.\.\/\.\.\/common\.tfvars was changed by the run itself/);
  });

test('a path that leads back out of a folder is refused', withToolbox('opentofu'), async (t) => {
  const outcome = await planInLink(t, '-var-file=link/../x.tfvars');
  assert.match(outcome.error?.message ?? '', /^-var-file=link\/\.\.\/x\.tfvars leads back out of a folder/);
});
