/** Values of variables that terragrunt determines for an apply alone, with the real tools. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '#protocol/approved.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { binaries, createTerragrunt, withTerragrunt } from '../../../testing/units/terragrunt-setup.ts';

/** The variable is read while the plan is applied, and the plan has no value of it. */
const code = `variable "size" {
  default = "small"
}
resource "terraform_data" "it" {
  input = timestamp()
}
output "size" {
  value = terraform_data.it.id == "" ? "" : var.size
}
`;

function extraArguments(commands: string, body: string): string {
  return `terraform {\n  extra_arguments "it" {\n    commands = ${commands}\n    ${body}\n  }\n}\n`;
}

const forApply = '["apply"]';
const isApply = 'get_terraform_command() == "apply"';
const huge = 'size = "huge"\n';
/** Adds the value to the notes of the plan, and replaces the check. */
const tampering = `echo '{"all":["[\\\\"file\\\\",\\\\"${sha256(huge)}\\\\"]"],"ephemeral":{}}' > \${get_terragrunt_dir()}/../../../plan/tfplan/tampering/tfplan.tfplan.values/noted; rm -f $TG_TF_PATH; echo 'exec tofu "$@"' > $TG_TF_PATH`;
/** Of each unit, the way that a value takes, and what names it. */
const others: Record<string, readonly [configuration: string, name: string]> = {
  arguments: [extraArguments(forApply, 'arguments = ["--var=size=huge"]'), '-var size'],
  variable: [extraArguments(forApply, 'env_vars = { TF_VAR_size = "huge" }'), 'TF_VAR_size'],
  words: [extraArguments(forApply, 'env_vars = { TF_CLI_ARGS_apply = "-var size=huge" }'), '-var size'],
  inputs: [`inputs = ${isApply} ? { size = "huge" } : {}\n`, 'TF_VAR_size'],
  generated: [
    `generate "it" {
  path              = "z.auto.tfvars"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = ${isApply} ? "size = \\"huge\\"" : ""
}
`,
    'z.auto.tfvars',
  ],
  hook: [
    `terraform {
  before_hook "it" {
    commands = ["apply"]
    execute  = ["sh", "-c", "echo 'size = \\"huge\\"' > z.auto.tfvars"]
  }
}
`,
    'z.auto.tfvars',
  ],
  tampering: [
    `terraform {
  before_hook "it" {
    commands = ["apply"]
    execute  = ["sh", "-c", <<-EOT
      ${tampering}
      printf '${huge.replace('\n', '\\n')}' > z.auto.tfvars
    EOT
    ]
  }
}
`,
    'z.auto.tfvars',
  ],
  program: [
    `terraform_binary = "/bin/false"\n${extraArguments(forApply, 'env_vars = { TF_VAR_size = "huge" }')}`,
    'TF_VAR_size',
  ],
  environment: [
    extraArguments(
      forApply,
      `env_vars = {
      TF_VAR_size       = "huge"
      TG_TF_PATH        = "/bin/true"
      TERRAGRUNT_TFPATH = "/bin/true"
      PATH              = "/nowhere"
      NODE_OPTIONS      = "--import=data:text/javascript,process.exit(0)"
    }`,
    ),
    'TF_VAR_size',
  ],
};

test('an apply of units gets the values of its plan, and no others', withTerragrunt(), async (t) => {
  const files: Record<string, string> = {
    // Arguments that plan and apply both get, and those that terragrunt itself leaves out of an apply.
    'live/same/terragrunt.hcl': `${extraArguments('["plan", "apply"]', 'env_vars = { TF_VAR_size = "medium" }')}inputs = { other = "a" }\n`,
    'live/left/terragrunt.hcl': extraArguments(
      forApply,
      'required_var_files = ["${get_terragrunt_dir()}/huge"]',
    ),
    'live/left/huge': 'size = "huge"\n',
  };
  for (const [unit, [configuration]] of Object.entries(others))
    files[`live/${unit}/terragrunt.hcl`] = configuration;
  for (const unit of [...Object.keys(others), 'same', 'left']) files[`live/${unit}/main.tf`] = code;
  const setup = createTerragrunt(t, 'opentofu', files);
  const planned = await setup.plan();
  assert.deepEqual(planned.outcome.planSummary, {
    added: 2 + Object.keys(others).length,
    changed: 0,
    destroyed: 0,
  });
  const { outcome, log } = await setup.apply(planned);
  const sizes = Object.entries(outcome.outputs ?? {}).map(([name, { value }]) => [name, value]);
  assert.deepEqual(sizes.toSorted(), [
    ['left.size', 'small'],
    ['same.size', 'medium'],
  ]);
  assert.match(
    outcome.error?.message ?? '',
    /^unit \w+: Error: The plan does not have the value of .* \(and 8 more errors\)\n/,
  );
  for (const [unit, [, name]] of Object.entries(others)) {
    const lines = log('terragrunt:apply').split('\n');
    const problem = `Error: The plan does not have the value of ${name}`;
    assert.ok(
      lines.some((line) => line.includes(`[${unit}]`) && line.includes(problem)),
      `${unit}: ${problem}`,
    );
  }
  assert.match(log('terragrunt:apply'), /values\/noted: (Read-only file system|Permission denied)/);
});

test('a unit cannot generate the values of the plan of another one', withTerragrunt(), async (t) => {
  const noted = { all: [JSON.stringify(['variable', 'size', sha256('huge')])], ephemeral: {} };
  const generate = (needs: string, name: string, more: string) => `dependencies {
  paths = ["../${needs}"]
}
generate "it" {
  path              = "\${get_terragrunt_dir()}/../../../plan/tfplan/victim/${name}"
  if_exists         = "overwrite"
  disable_signature = true
  ${more}
}
`;
  const name = 'tfplan.tfplan.values/noted';
  const contents = `contents = ${JSON.stringify(JSON.stringify(noted))}`;
  const units: Record<string, string> = {
    victim: others['inputs']?.[0] ?? '',
    replaces: generate('victim', name, contents),
    removes: generate('victim', name, 'contents    = ""\n  disable     = true\n  if_disabled = "remove"'),
  };
  const files = Object.entries(units).flatMap(([unit, configuration]) => [
    [`live/${unit}/terragrunt.hcl`, configuration],
    [`live/${unit}/main.tf`, code],
  ]);
  const setup = createTerragrunt(t, 'opentofu', Object.fromEntries(files) as Record<string, string>);
  const { log } = await expectResult('failed', setup.plan());
  for (const unit of ['replaces', 'removes'])
    assert.match(log('terragrunt:plan'), new RegExp(`live/${unit}/\\S*values/noted: permission denied`));
});

test('a single unit gets the values of its plan, elsewhere as well', withTerragrunt(), async (t) => {
  const files = { 'live/terragrunt.hcl': others['inputs']?.[0] ?? '', 'live/main.tf': code };
  const setup = createTerragrunt(t, 'opentofu', files, false);
  const planned = await setup.plan();
  const refused = await setup.apply(planned, { onOtherMachine: true });
  assert.match(failureMessageOf(refused), /^Error: The plan does not have the value of TF_VAR_size\n/);
  // An engine would run instead of the program that checks.
  const engine = 'engine {\n  source = "/nowhere"\n}\n';
  setup.commit({ 'live/terragrunt.hcl': `${engine}inputs = { size = "medium" }\n` });
  const environment = [{ name: 'TG_EXPERIMENT', value: 'iac-engine', isSensitive: false }];
  const applied = await setup.deploy({ variables: { environment, terraform: [] } }, { onOtherMachine: true });
  assert.equal(applied.outcome.outputs?.['size']?.value, 'medium', JSON.stringify(applied.outcome));
});

for (const binary of binaries)
  test(
    `${binary}: what sets an ephemeral variable is the same in plan and apply`,
    withTerragrunt(binary),
    async (t) => {
      const ephemeral = code.replace('"small"', '"small"\n  ephemeral = true').replace(/^output[^]*/m, '');
      const used = ephemeral.replace(
        'timestamp()',
        'timestamp()\n  provisioner "local-exec" {\n    command = "test ${var.size} = medium"\n  }',
      );
      const medium = 'inputs = { size = "medium" }\n';
      const units: Record<string, string> = {
        same: medium,
        other: `inputs = { size = ${isApply} ? "huge" : "medium" }\n`,
        arguments: `inputs = { size = "huge" }\n${extraArguments('["plan"]', 'arguments = ["-var=size=medium"]')}`,
        file: extraArguments('["plan", "apply"]', 'required_var_files = ["${get_terragrunt_dir()}/medium"]'),
      };
      const files: Record<string, string> = { 'live/file/medium': 'size = "medium"\n' };
      for (const [unit, configuration] of Object.entries(units)) {
        files[`live/${unit}/terragrunt.hcl`] = configuration;
        files[`live/${unit}/main.tf`] = used;
      }
      const setup = createTerragrunt(t, binary, files);
      const { outcome, log } = await setup.deploy();
      assert.equal(outcome.resourceCount, 1, JSON.stringify(outcome));
      for (const unit of ['other', 'arguments', 'file']) {
        const lines = log('terragrunt:apply')
          .split('\n')
          .filter((line) => line.includes(`[${unit}]`));
        assert.match(
          lines.join('\n'),
          /Error: (The ephemeral variable size is set otherwise|The plan does not have the value)/,
          unit,
        );
      }
    },
  );
