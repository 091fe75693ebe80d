/** Ephemeral variables, which no saved plan has a value of: an apply gets the values of its plan nevertheless. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type StartOptions, withTerraform } from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';

const files = {
  'main.tf': `variable "size" {
  default   = "small"
  ephemeral = true
}
variable "name" {
  default = "none"
}
resource "terraform_data" "it" {
  input = timestamp()
  provisioner "local-exec" {
    command = "test \${var.size} != huge"
  }
}
`,
  'size.tfvars': 'size = "medium"\n',
  'name.tfvars': 'name = "it"\n',
};

const tools = [
  { tool: 'terraform', program: 'terraform', real: findProgram('terraform'), needs: withTerraform },
  { tool: 'opentofu', program: 'tofu', real: toolboxProgram('opentofu'), needs: withToolbox('opentofu') },
] as const;

function stage(t: TestContext, { tool, program, real }: (typeof tools)[number]) {
  const setup = createSetup(t, files);
  const paths = (path: string): StartOptions => ({
    toolPaths: { [program]: path, git: findProgram('git') ?? '' },
  });
  /** The tool, with code that runs after its plan, as a provider's does. */
  const duringPlan = (work: string): StartOptions => {
    const script = join(setup.folder, 'tool');
    const text = `#!/bin/sh\n${real} "$@"; code=$?\n[ "$1" = plan ] && { ${work}; }\nexit $code\n`;
    writeFileSync(script, text, { mode: 0o755 });
    return paths(script);
  };
  const job = (environment: Record<string, string>, size?: string) => {
    const terraform = size === undefined ? [] : [{ name: 'size', value: size, isSensitive: false }];
    const variables = Object.entries(environment).map(([name, value]) => ({
      name,
      value,
      isSensitive: false,
    }));
    return setup.job({ tool, variables: { environment: variables, terraform } });
  };
  return { setup, duringPlan, plain: paths(real ?? ''), job };
}

const [terraform, opentofu] = tools;

// The case of OpenTofu is in changed-value-files.test.ts.
test('terraform: a plan that writes a file of values cannot be applied', withTerraform, async (t) => {
  const { setup, duringPlan, job } = stage(t, terraform);
  const planned = await setup.run(
    job({ TF_VAR_size: 'medium' }),
    duringPlan(`echo 'size = "huge"' > z.auto.tfvars`),
  );
  assert.match(failureMessageOf(planned), /^z\.auto\.tfvars was changed by the run itself/);
  assert.equal(planned.outcome.approvedParts, undefined);
});

for (const each of tools) {
  const { tool, needs } = each;
  test(`${tool}: a variable of the environment is the same in plan and apply`, needs, async (t) => {
    const { setup, plain, job } = stage(t, each);
    const environment = { TF_VAR_name: 'it', TF_CLI_ARGS_plan: '-var-file=name.tfvars' };
    const planned = await setup.run(job(environment, 'medium'), plain);
    await expectResult('applied', setup.run(setup.applyJob(planned, { onOtherMachine: true }), plain));
  });
}

for (const argument of ['-var=size=medium', '-var-file=size.tfvars'])
  test(`terraform: ${argument} for the plan alone is refused`, withTerraform, async (t) => {
    const { setup, plain, job } = stage(t, terraform);
    const planned = await setup.run(job({ TF_CLI_ARGS_plan: argument }, 'huge'), plain);
    assert.match(failureMessageOf(planned), /^The variable size is ephemeral: terraform reads /);
    const both = { TF_CLI_ARGS_plan: argument, TF_CLI_ARGS_apply: argument };
    const good = await setup.run(job(both, 'huge'), plain);
    await expectResult('applied', setup.run(setup.applyJob(good), plain));
  });

test('OpenTofu gets the arguments of its plan for the apply', withToolbox('opentofu'), async (t) => {
  const { setup, plain, job } = stage(t, opentofu);
  const planned = await setup.run(job({ TF_CLI_ARGS_plan: '-var=size=medium' }, 'huge'), plain);
  await expectResult('applied', setup.run(setup.applyJob(planned), plain));
});
