import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { agentProgram } from '../../../../../tools/programs/built-programs.ts';
import type { ProgramRole } from '../../../own/own-program.ts';
import { terraformFiles, tofuFiles } from '../../terraform/code/files.ts';
import { valuesOf } from './values-of-command.ts';

function folderOf(t: TestContext, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'unit-values-'));
  t.after(() => {
    const closed = join(folder, 'plans/unit/plan.values');
    if (existsSync(closed)) chmodSync(closed, 0o700);
    rmSync(folder, { recursive: true });
  });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function valuesIn(
  folder: string,
  words: readonly string[],
  environment: Record<string, string> = {},
  verb = 'plan',
) {
  return valuesOf({ verb, words, environment, folder });
}

test('values are found wherever the tool reads them, in its order, and shown without their content', (t) => {
  const folder = folderOf(t, {
    'x.auto.tfvars.json': '{"a": 4}',
    'x.auto.tfvars': 'a = 3',
    'terraform.tfvars.json': '{"a": 2}',
    'terraform.tfvars': 'a = 1',
    'other.tfvars': 'a = 5',
    'named file': 'a = 6',
    'main.tf': '',
  });
  mkdirSync(join(folder, 'folder.auto.tfvars'));
  const words = [
    '-auto-approve',
    '--var',
    'b=hidden=1',
    '-var-file=named file',
    '-lock-timeout',
    '1s',
    'plan',
  ];
  const environment = {
    TF_VAR_d: 'hidden 5',
    TF_VAR_c: 'hidden 2',
    TF_CLI_ARGS: `-var 'd=hidden 3'`,
    TF_CLI_ARGS_apply: '-var=e=hidden4 -var-file=missing',
    TF_CLI_ARGS_plan: '-var f=hidden5',
    OTHER: 'x',
  };
  const found = valuesIn(folder, words, environment, 'apply');
  assert.deepEqual(
    found.map(({ from }) => from),
    [
      'TF_VAR_c',
      'TF_VAR_d',
      'terraform.tfvars',
      'terraform.tfvars.json',
      'x.auto.tfvars',
      'x.auto.tfvars.json',
      '-var e',
      '-var d',
      '-var b',
      '-var-file named file',
    ],
  );
  assert.doesNotMatch(JSON.stringify(found), /hidden/);
});

test('the same value is the same, whichever way it goes', (t) => {
  const folder = folderOf(t);
  const keys = (words: string[], environment: Record<string, string> = {}) =>
    valuesIn(folder, words, environment).map(({ key }) => key);
  assert.deepEqual(keys(['-var', 'a=1']), keys([], { TF_VAR_a: '1' }));
  assert.notDeepEqual(keys(['-var', 'a=1']), keys(['-var', 'a=2']));
  assert.notDeepEqual(keys(['-var', 'a=1']), keys(['-var', 'b=1']));
  assert.throws(() => keys(['-unknown', '-var=a=1']), /follows -unknown/);
  assert.throws(
    () => keys([], { TF_CLI_ARGS: `-var 'a=1` }),
    /^Error: TF_CLI_ARGS has a ' that is not closed/,
  );
});

type Environment = Record<string, string>;

const scopes = {
  opentofu: ['all', JSON.stringify(tofuFiles)],
  terraform: ['ephemeral', JSON.stringify(terraformFiles)],
} as const;
type Tool = keyof typeof scopes;

/** The role ahead of a plan and an apply of one unit; returns what it prints. */
function roleIn(folder: string, tool: Tool = 'opentofu') {
  const plans = join(folder, 'plans');
  const run = (words: string[], env: Environment = {}) => {
    const role: ProgramRole = 'unit-values';
    const args = [agentProgram, role, ...scopes[tool], plans, ...words];
    const { status, stderr } = spawnSync(process.execPath, ['--disable-sigusr1', ...args], {
      cwd: folder,
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'runner-setup-cache'), ...env },
      encoding: 'utf8',
    });
    return status === 0 ? 'good' : stderr;
  };
  const file = join(plans, 'unit/plan');
  return {
    file,
    run,
    plan: (words: string[], env?: Environment) => run(['plan', ...words, `-out=${file}`], env),
    apply: (words: string[], env?: Environment) => run(['apply', ...words, file], env),
  };
}

test('an apply needs the values that its plan noted', (t) => {
  const folder = folderOf(t, { 'a.auto.tfvars': 'a = 1' });
  const { run, plan, apply } = roleIn(folder);
  const environment = { TF_VAR_b: '1', TF_VAR_c: '1' };
  assert.match(apply([]), /^Error: The values of the plan are not known\n/);
  assert.equal(plan(['-input=false'], environment), 'good');
  assert.equal(run(['plan']), 'good');
  assert.equal(plan(['-input=false'], environment), 'good');
  assert.equal(apply(['-auto-approve'], environment), 'good');
  assert.equal(apply([]), 'good');
  const refused = apply(['-var=d=secret'], { ...environment, TF_VAR_c: 'secret' });
  assert.match(refused, /^Error: The plan does not have the value of TF_VAR_c, -var d\n\nAn apply gets/);
  assert.doesNotMatch(refused, /secret/);
  writeFileSync(join(folder, 'a.auto.tfvars'), 'a = 2');
  assert.match(apply([], environment), /does not have the value of a\.auto\.tfvars\n/);
});

test('a file of values whose name is not UTF-8 is refused', (t) => {
  const folder = folderOf(t);
  writeFileSync(
    Buffer.concat([Buffer.from(`${folder}/z`), Buffer.of(0xff), Buffer.from('.auto.tfvars')]),
    'a = 1',
  );
  assert.throws(
    () => valuesIn(folder, []),
    /^Error: z\uFFFD\.auto\.tfvars: the name of this file is not UTF-8/,
  );
});

test('a plan is one of this run, and not the value of an argument', (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'own.values'));
  writeFileSync(join(folder, 'own.values/noted'), '{"all":[],"ephemeral":{}}');
  const { run, plan, apply } = roleIn(folder);
  assert.equal(plan([]), 'good');
  for (const name of ['own', join(folder, 'own'), join(folder, 'plans/../own'), ''])
    assert.match(run(['apply', name]), /^Error: The values of the plan are not known\n/);
  assert.match(apply(['-auto-approve', '-backup']), /^Error: -backup has no value of its own, and the plan /);
  assert.match(apply([], { TF_CLI_ARGS: '-backup' }), /^Error: -backup has no value of its own/);
  assert.equal(apply(['-backup', 'x']), 'good');
});

const ephemeral = 'variable "token" {\n  ephemeral = true\n  default = "x"\n}\nvariable "size" {}\n';

for (const tool of ['opentofu', 'terraform'] as const)
  test(`${tool}: what sets an ephemeral variable is the same in plan and apply`, (t) => {
    const folder = folderOf(t, {
      'main.tf': ephemeral,
      'token.tfvars': 'token = "file"',
      'size.tfvars': 'size = 1',
    });
    const { plan, apply } = roleIn(folder, tool);
    const other = /^Error: The ephemeral variable token is set otherwise than in the plan\n/;
    const environment = { TF_VAR_token: 'a' };
    assert.equal(plan(['-var-file=size.tfvars'], environment), 'good');
    assert.equal(apply([], environment), 'good');
    assert.match(apply([]), other);
    assert.match(apply([], { TF_VAR_token: 'b' }), tool === 'opentofu' ? /not have the value/ : other);
    // Without its argument, an apply would use the value of the environment.
    assert.equal(plan(['-var=token=b'], environment), 'good');
    assert.match(apply([], environment), other);
    assert.equal(apply(['-var=token=b'], environment), 'good');
    assert.equal(plan(['-var-file=token.tfvars']), 'good');
    assert.match(apply([]), other);
  });

test('folders with the names of configurations and longer names of variables are ignored', (t) => {
  const files = { 'main.tf': ephemeral, 'other.tfvars': 'token_size = 1\nold-token = 2\n' };
  const folder = folderOf(t, files);
  mkdirSync(join(folder, 'main.tofu'));
  const { plan, apply } = roleIn(folder);
  assert.equal(plan(['-var-file=other.tfvars'], { TF_VAR_token: 'a' }), 'good');
  assert.equal(apply([], { TF_VAR_token: 'a' }), 'good');
  assert.match(apply([]), /^Error: The ephemeral variable token is set otherwise/);
});

test('of other variables, terraform uses the values of its plan', (t) => {
  const { plan, apply } = roleIn(folderOf(t, { 'main.tf': ephemeral }), 'terraform');
  assert.equal(plan([]), 'good');
  assert.equal(apply([], { TF_VAR_size: '2' }), 'good');
});
