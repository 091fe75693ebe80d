/** Bad input, with the real tool: a clear error, and the state stays as it was. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  binaries,
  createTerragrunt,
  moduleCode,
  terragruntPaths,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

const network = {
  'modules/one/main.tf': moduleCode,
  'live/vpc/terragrunt.hcl': unitCode('net'),
};

async function expectRefused(
  t: Parameters<typeof createTerragrunt>[0],
  files: Record<string, string>,
  message: RegExp,
  changes: Parameters<ReturnType<typeof createTerragrunt>['plan']>[0] = {},
  isRunAll = true,
): Promise<void> {
  const setup = createTerragrunt(t, 'opentofu', files, isRunAll);
  const ran = await setup.plan(changes);
  assert.match(failureMessageOf(ran), message);
}

test('units that need each other are named', withTerragrunt(), (t) =>
  expectRefused(
    t,
    {
      ...network,
      'live/a/terragrunt.hcl': unitCode('${dependency.it.outputs.id}', 'b'),
      'live/b/terragrunt.hcl': unitCode('${dependency.it.outputs.id}', 'a'),
    },
    /^Units depend on each other: a, b, or one of them on others of these\. Remove a dependency/,
  ),
);

test('a unit outside of the repository is refused', withTerragrunt(), async (t) => {
  const setup = createTerragrunt(t, 'opentofu', network);
  const outside = join(setup.folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'terragrunt.hcl'), '');
  const up = '../../../../../outside';
  setup.commit({
    'live/app/terragrunt.hcl': `dependencies {\n  paths = ["${up}"]\n}\n`,
    'live/app/main.tf': moduleCode,
  });
  const ran = await setup.plan();
  assert.match(failureMessageOf(ran), /outside/);
});

test('a folder without units is refused, for one unit and for all', withTerragrunt(), async (t) => {
  await expectRefused(
    t,
    { 'live/main.tf': moduleCode },
    /^No configuration files: path "live" of .* has no folder with a terragrunt\.hcl/,
  );
  await expectRefused(
    t,
    { ...network, 'live/main.tf': '' },
    /^No configuration files: path "live" of .* has no terragrunt\.hcl/,
    {},
    false,
  );
});

test('code that does not parse is refused with its file', withTerragrunt(), (t) =>
  expectRefused(t, { ...network, 'live/broken/terragrunt.hcl': 'inputs = {\n' }, /broken\/terragrunt\.hcl/),
);

for (const binary of binaries)
  test(
    `a single unit is not applied with mocks by ${binary}, whatever its code allows`,
    withTerragrunt(binary),
    async (t) => {
      const app = unitCode('${dependency.it.outputs.input}', 'vpc').replace(/ *mock_outputs_allowed.*\n/, '');
      const setup = createTerragrunt(t, binary, { ...network, 'live/app/terragrunt.hcl': app }, false);
      const path = { source: { ...setup.job().source, path: 'live/app' } };
      const ran = await setup.plan(path);
      assert.match(
        failureMessageOf(ran),
        /^Nothing of this plan can be applied \(unit \.: it was planned with mock outputs of \.\.\/vpc\)/,
      );
      const shown = await expectResult('planned', setup.plan({ ...path, type: 'prPlan' }));
      assert.match(shown.log('terragrunt:plan'), /Unit \. is not applied with this plan/);
    },
  );

test(
  'a backend that only a source or a generated file has is refused with the unit',
  withTerragrunt(),
  async (t) => {
    const backend = 'terraform {\n  backend "http" {\n    address = "http://127.0.0.1:9/state"\n  }\n}\n';
    const generated = `generate = read_terragrunt_config(find_in_parent_folders("common.hcl")).locals.files\n`;
    await expectRefused(
      t,
      {
        'live/common.hcl': `locals {\n  files = {\n    backend = {\n      path      = "backend.tf"\n      if_exists = "overwrite"\n      contents  = ${JSON.stringify(backend)}\n    }\n  }\n}\n`,
        'live/app/terragrunt.hcl': generated,
        'live/app/main.tf': moduleCode,
      },
      /^Unit app has a backend http in its source or in a file that is generated/,
    );
  },
);

test('units with a backend of their own do not go together with isRemoteBackend', withTerragrunt(), (t) =>
  expectRefused(
    t,
    {
      'live/root.hcl':
        'remote_state {\n  backend = "http"\n  generate = {\n    path      = "backend.tf"\n    if_exists = "overwrite"\n  }\n  config = {\n    address = "http://127.0.0.1:9/state"\n  }\n}\n',
      'live/app/terragrunt.hcl': 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n',
      'live/app/main.tf': moduleCode,
    },
    /^isRemoteBackend has the service store the states, and units have a backend of their own: app\./,
    { state: { isForced: true } },
  ),
);

test('variables that would move what a run reads and writes are refused', withTerragrunt(), async (t) => {
  const variable = (name: string, value: string) => ({
    variables: { environment: [{ name, value, isSensitive: false }], terraform: [] },
  });
  await expectRefused(
    t,
    network,
    /^TG_OUT_DIR cannot be set: the run determines it/,
    variable('TG_OUT_DIR', 'x'),
  );
  await expectRefused(t, network, /^TG_LOG_LEVEL: the run reads warnings/, variable('TG_LOG_LEVEL', 'error'));
  await expectRefused(t, network, /^TF_WORKSPACE cannot be set/, variable('TF_WORKSPACE', 'x'));
  await expectRefused(
    t,
    network,
    /^TERRAGRUNT_TFPATH cannot be set/,
    variable('TERRAGRUNT_TFPATH', './tofu'),
  );
  await expectRefused(
    t,
    network,
    /^TF_CLI_ARGS_apply: -var size is not allowed, because an apply gets the values of its plan/,
    variable('TF_CLI_ARGS_apply', '--var size=huge'),
  );
});

/** Another program in the place of terragrunt for its plans, the real one for all else. */
function pretended(folder: string, plan: string): Record<string, string> {
  const file = join(folder, 'pretended');
  const real = `exec ${terragruntPaths.terragrunt} "$@"`;
  writeFileSync(file, `#!/bin/sh\ncase " $* " in *" -- plan "*) ${plan};; esac\n${real}\n`);
  chmodSync(file, 0o755);
  return { ...terragruntPaths, terragrunt: file };
}

test(
  'a plan that writes nothing, 100 MB or hangs ends the run, and the next one continues',
  withTerragrunt(),
  async (t) => {
    const setup = createTerragrunt(t, 'opentofu', network);
    await expectResult('applied', setup.deploy());
    const { limits } = setup.job();
    const run = (plan: string, changes: Partial<typeof limits> = {}) =>
      setup.plan({ limits: { ...limits, ...changes } }, { toolPaths: pretended(setup.folder, plan) });
    const silent = await run('exit 0');
    assert.notEqual(silent.outcome.result, 'planned');
    assert.match(silent.outcome.error?.message ?? '', /plan/);
    const loud = await run(`head -c 100000000 /dev/zero | tr '\\0' 'x'`, { stepLogBytes: 1_000_000 });
    assert.match(failureMessageOf(loud), /printed more than .*ENVARIUM_STEP_LOG_LIMIT_MB/);
    const hung = await expectResult('timed-out', run('exec sleep 1000', { runSeconds: 3, abortSeconds: 1 }));
    assert.match(hung.outcome.error?.message ?? '', /longer than 3 seconds.*ENVARIUM_RUN_TIME_LIMIT_SECONDS/);
    const next = await setup.plan();
    assert.equal(next.outcome.hasChanges, false, JSON.stringify(next.outcome));
  },
);
