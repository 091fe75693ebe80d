import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { ownPlatform } from '../../own/own-platform.ts';
import { drivers } from '../index.ts';
import type { Installed } from '../interface/capabilities.ts';
import type { Command } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { terraform } from './driver.ts';

const init: Command = { step: 'tf:init', program: 'terraform', label: 'terraform init', args: ['init'] };
const modules = '.terraform/modules/modules.json';
const lockFile = '.terraform.lock.hcl';
const path = `.terraform/providers/registry.terraform.io/acme/one/1.0.0/${ownPlatform}`;

function lock(version: string, hash = 'h1:a'): string {
  return `provider "registry.terraform.io/acme/one" {\n  version = "${version}"\n  hashes = [\n    "${hash}",\n  ]\n}\n`;
}

function contextOf(
  files: Record<string, string>,
  environment: Record<string, string> = {},
  stateFolder: string | null = '/srv/state',
): DriverContext {
  const variables = Object.entries(environment).map(([name, value]) => ({ name, value, isSensitive: false }));
  return {
    job: jobOf({ variables: { environment: variables, terraform: [] } }),
    configurationFolder: '/srv/tree',
    stateFolder,
    planFile: '/srv/plan',
    temporaryFolder: '/srv/tmp',
    tree: treeFrom(files),
  };
}

function inputs(
  environment: Record<string, string> = {},
  state: object | string | null = null,
  stateFolder?: null,
) {
  const text = typeof state === 'string' ? state : JSON.stringify(state);
  const context = contextOf({}, environment, stateFolder);
  return terraform.reuse?.inputs(context, init, state === null ? null : Buffer.from(text));
}

async function left(
  files: Record<string, string>,
  lockBefore: string | null = null,
  tool: 'terraform' | 'opentofu' = 'terraform',
  environment: Record<string, string> = {},
  toolVersion = '1.11.4',
): Promise<Installed | null | undefined> {
  const all = { 'main.tf': '', '.terraform/terraform.tfstate': '{}', ...files };
  const from = { code: treeFrom(all), lockFile: lockBefore };
  return drivers[tool]?.reuse?.read({ ...contextOf(all, environment), toolVersion }, init, from);
}

function modulesFile(source: string, dir: string): Record<string, string> {
  const list = [
    { Key: '', Source: '', Dir: '.' },
    { Key: 'a', Source: source, Dir: dir },
  ];
  return { [modules]: JSON.stringify({ Modules: list }), [`${dir}/main.tf`]: '' };
}

test('what init leaves depends on the providers in the state, and on whether there is one', () => {
  const state = (provider: string) => ({
    version: 4,
    resources: [{ provider: `provider["${provider}"].x` }],
  });
  const seen = [null, { version: 4, resources: [] }, state('a/b/c'), state('a/b/d')].map((one) =>
    JSON.stringify(inputs({}, one)),
  );
  assert.equal(new Set(seen).size, 4);
});

for (const [what, inputOf] of [
  ['an encrypted state', () => inputs({}, { serial: 1, lineage: 'x', encrypted_data: 'y' })],
  ['a state of another format', () => inputs({}, { version: 3, modules: [] })],
  [
    'a state whose providers are not understood',
    () => inputs({}, { version: 4, resources: [{ provider: 'x' }] }),
  ],
  ['a backend of the code', () => inputs({}, null, null)],
  ['a log of the tool', () => inputs({ TF_LOG: 'debug' })],
  ['an encryption in a variable', () => inputs({ TF_ENCRYPTION: '{}' })],
  ['a plugin cache of the run', () => inputs({ TF_PLUGIN_CACHE_DIR: '/x' })],
  ['-upgrade', () => inputs({ TF_CLI_ARGS_init: '-upgrade' })],
  ['-plugin-dir', () => inputs({ TF_CLI_ARGS: '-plugin-dir=x' })],
  ['-from-module', () => inputs({ TF_CLI_ARGS_init: '-from-module=./x' })],
  ['a file of variables outside of the code', () => inputs({ TF_CLI_ARGS_init: '-var-file=/x' })],
] as const) {
  test(`an init is not reused with ${what}`, () => assert.equal(inputOf(), null));
}

test('of input variables only the names are inputs', () => {
  const inputsWith = (values: Record<string, string>) => {
    const { job, ...context } = contextOf({});
    const terraformVariables = Object.entries(values).map(([name, value]) => ({
      name,
      value,
      isSensitive: false,
    }));
    const variables = { environment: [], terraform: terraformVariables };
    return JSON.stringify(terraform.reuse?.inputs({ ...context, job: { ...job, variables } }, init, null));
  };
  assert.equal(inputsWith({ a: '1', b: '2' }), inputsWith({ b: '1', a: '2' }));
  assert.notEqual(inputsWith({ a: '1' }), inputsWith({ b: '1' }));
  assert.equal(terraform.reuse?.isInputVariable('TF_VAR_x'), true);
  assert.equal(terraform.reuse?.isInputVariable('AWS_REGION'), false);
});

test('arguments and variables that only have their value as an effect do not prevent reuse', () => {
  const environment = {
    TF_CLI_ARGS: '-no-color',
    TF_CLI_ARGS_init: "-var='a=b'",
    TF_VAR_x: '1',
    AWS_REGION: 'y',
  };
  assert.notEqual(inputs(environment), null);
});

test('modules in folders of the code, the backend and pinned providers are kept', async () => {
  const files = {
    ...modulesFile('./mods/a', 'mods/a'),
    '.terraform/environment': 'default',
    [`${path}/file`]: '',
    [lockFile]: lock('1.0.0'),
  };
  const found = await left(files, lock('1.0.0'));
  assert.deepEqual(Object.keys(found?.files ?? {}).sort(), [
    '.terraform/environment',
    modules,
    '.terraform/terraform.tfstate',
  ]);
  assert.deepEqual(
    found?.packages.map((one) => one.path),
    [path],
  );
});

test('checksums that were added to the lock file are part of the result', async () => {
  const files = { [`${path}/file`]: '', [lockFile]: lock('1.0.0', 'h1:b') };
  assert.equal((await left(files, lock('1.0.0')))?.files[lockFile], lock('1.0.0', 'h1:b'));
});

for (const [what, files, lockBefore] of [
  ['a module from a registry', modulesFile('registry.terraform.io/a/b/c', '.terraform/modules/a'), null],
  ['a module from git', modulesFile('git::https://h/r', '.terraform/modules/a'), null],
  ['a fetched module', { '.terraform/modules/a/main.tf': '' }, null],
  ['an unknown file', { '.terraform/other': '' }, null],
  ['a provider without a lock file', { [`${path}/file`]: '', [lockFile]: lock('1.0.0') }, null],
  [
    'a provider of another version than locked',
    { [`${path}/file`]: '', [lockFile]: lock('1.0.0') },
    lock('0.9.0'),
  ],
  ['a locked provider that is not needed', { [lockFile]: lock('1.0.0') }, lock('1.0.0')],
  ['a package of another platform', { '.terraform/providers/h/n/t/1.0.0/other_cpu/file': '' }, lock('1.0.0')],
] as const) {
  test(`nothing is kept of an init that left ${what}`, async () =>
    assert.equal(await left(files, lockBefore), null));
}

const computed = [true, false, false] as const;
const constant = [true, true, true] as const;
/** Whether an init of the code is kept, by terraform 1.11 and 1.15, and by OpenTofu. */
const codes: readonly (readonly [Record<string, string>, readonly [boolean, boolean, boolean]])[] = [
  [{ 'main.tf': 'module "a" { source = "./a" }' }, constant],
  [{ 'main.tf': 'module "a" {\n  source = "./a" # here\n}\n' }, constant],
  [{ 'main.tf': 'module "a" {\n  source = "./a" // here\n}\n' }, constant],
  [{ 'main.tf': 'module "a" {\n  source = "./${terraform.workspace}"\n}\n' }, computed],
  [{ 'main.tf': 'module "a" {\n  source = terraform.workspace == "x" ? "./a" : "./b"\n}\n' }, computed],
  [{ 'main.tf': 'module "a" {\n  source = "./a" == "x" ? "./a" : "./b"\n}\n' }, computed],
  [{ 'main.tf': 'module "a" {\n  source = "./a" /* c */ == var.x ? "./a" : "./b"\n}\n' }, computed],
  [{ 'main.tf': 'module "a" {\n  source /* c */ = var.source\n}\n' }, computed],
  [{ 'main.tf': 'module "a" {\n  source = var.source\n}\n' }, computed],
  [{ 'main.tf.json': '{"module": {"a": {"source": "./a"}}}' }, constant],
  [{ 'main.tf.json': '{"module": {"a": {"source": "${var.source}"}}}' }, computed],
  [{ 'main.tf.json': '{"module": {"a": {"sourc\\u0065": "${var.source}"}}}' }, computed],
  [{ 'x.auto.tfvars': 'source = ["10.0.0.0/8"]\nencryption = true\n' }, constant],
  [{ 'main.tf': 'terraform {\n  encryption {}\n}\n' }, [true, true, false]],
];
for (const [files, [by11, by15, byOpenTofu]] of codes) {
  test(`whether an init is kept for ${JSON.stringify(files)}`, async () => {
    assert.equal((await left(files, null, 'terraform', {}, '1.11.4')) !== null, by11);
    assert.equal((await left(files, null, 'terraform', {}, '1.15.0')) !== null, by15);
    assert.equal((await left(files, null, 'opentofu', {}, '1.10.0')) !== null, byOpenTofu);
  });
}
