import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { notIsolated } from '../../../testing/runner-setup.ts';
import { TreeLender } from '../tree/tree-lender.ts';
import { findRequestedVersion } from './requested-version.ts';

interface VersionContext {
  readonly program?: string;
  /** Default: that of the program. */
  readonly tool?: Job['tool'];
  readonly settings?: Job['settings'];
  readonly variables?: Readonly<Record<string, string>>;
  readonly field?: string;
  readonly path?: string;
  readonly type?: Job['type'];
}

const upward = { ENVARIUM_RESOLVE_FILE_VERSION_RECURSIVELY: 'true' };

/** A work folder with the specified files in its tree. */
function createSetup(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'requested-'));
  const order = { isolation: notIsolated, slotUid: null, workFolder: folder };
  const tree = new TreeLender().lend(order, { root: folder });
  t.after(async () => {
    await tree[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const steps = { log: (_step: string, text: string) => void lines.push(text) };
  const folders = { tree: join(folder, 'work', 'tree') };
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(folders.tree, name)), { recursive: true });
    writeFileSync(join(folders.tree, name), content);
  };
  mkdirSync(folders.tree, { recursive: true });
  for (const [name, content] of Object.entries(files)) write(name, content);
  const find = async ({
    program = 'terraform',
    tool,
    settings,
    variables = {},
    field,
    path = '',
    type = 'deploy',
  }: VersionContext = {}) => {
    const own = Object.entries(variables).map(([name, value]) => ({
      name,
      value,
      isSensitive: false,
    }));
    const job = {
      type,
      tool: tool ?? (program === 'tofu' ? ('opentofu' as const) : ('terraform' as const)),
      ...(field === undefined ? {} : { toolVersion: field }),
      ...(settings === undefined ? {} : { settings }),
    };
    const environment = runEnvironment({
      variables: { environment: own, terraform: [] },
      systemVariables: { ENVARIUM_ENVIRONMENT_NAME: '1.7.0' },
    });
    const requested = await findRequestedVersion(
      { job, environment, path: normalizePath(path), steps, folders, tree },
      'variables:setup',
      program,
    );
    return requested.kind === 'exact' ? `${requested.version} by ${requested.by}` : requested;
  };
  return {
    find,
    write,
    root: folders.tree,
    outside: folder,
    logged: lines,
  };
}

test('a variable takes precedence over a file, and a file over the settings', async (t) => {
  const { find, write, logged } = createSetup(t, { 'main.tf': '' });
  assert.deepEqual(await find(), { kind: 'any' });
  assert.equal(await find({ field: '1.9.2' }), "1.9.2 by the environment's terraform version");
  write('.terraform-version', 'v1.9.1\n');
  assert.equal(await find({ field: '1.9.2' }), '1.9.1 by the file .terraform-version');
  const variables = { ENVARIUM_TF_VERSION: '1.10.2' };
  assert.equal(await find({ field: '1.9.2', variables }), '1.10.2 by the variable ENVARIUM_TF_VERSION');
  const both = { ...variables, ENVARIUM_TERRAFORM_VERSION: '1.11.9' };
  assert.equal(await find({ variables: both }), '1.11.9 by the variable ENVARIUM_TERRAFORM_VERSION');
  assert.deepEqual(logged, [
    'The version of terraform is requested by the file .terraform-version',
    'The variable ENVARIUM_TF_VERSION requests terraform 1.10.2',
    'The variable ENVARIUM_TERRAFORM_VERSION requests terraform 1.11.9',
  ]);
});

test('an empty variable requests nothing, and one variable may refer to another', async (t) => {
  const { find } = createSetup(t, {});
  assert.equal(
    await find({ field: '1.9.2', variables: { ENVARIUM_TF_VERSION: ' ' } }),
    "1.9.2 by the environment's terraform version",
  );
  const variables = { ENVARIUM_TF_VERSION: '${ENVARIUM_ENVIRONMENT_NAME}' };
  assert.equal(await find({ variables }), '1.7.0 by the variable ENVARIUM_TF_VERSION');
});

test('each tool has its own variables and its own file', async (t) => {
  const { find } = createSetup(t, { '.terraform-version': '1.9.1', '.opentofu-version': 'latest' });
  const variables = { ENVARIUM_TF_VERSION: '1.2.3' };
  assert.deepEqual(await find({ program: 'tofu', variables }), {
    kind: 'latest',
    by: 'the file .opentofu-version',
  });
  const own = { ENVARIUM_OPENTOFU_VERSION: '1.8.0' };
  assert.equal(
    await find({ program: 'tofu', variables: own }),
    '1.8.0 by the variable ENVARIUM_OPENTOFU_VERSION',
  );
  assert.equal(await find({ variables: own }), '1.9.1 by the file .terraform-version');
});

test('Pulumi is requested like the others, also by its project', async (t) => {
  const { find, write } = createSetup(t, {});
  const pulumi = { program: 'pulumi', tool: 'pulumi' } as const;
  const fromCode = await find({ ...pulumi, field: 'RESOLVE_FROM_CODE' });
  assert.deepEqual(fromCode, { kind: 'code', by: "the environment's pulumi version" });
  write('.pulumi.version', '3.100.0');
  assert.equal(await find({ ...pulumi, field: '3.90.0' }), '3.100.0 by the file .pulumi.version');
  const variables = { ENVARIUM_PULUMI_VERSION: 'v3.120.0' };
  assert.equal(await find({ ...pulumi, variables }), '3.120.0 by the variable ENVARIUM_PULUMI_VERSION');
});

test('what terragrunt runs is requested as if it were the tool, and by nothing of the other one', async (t) => {
  const { find, write } = createSetup(t, { '.terragrunt-version': '1.1.3', '.terraform-version': '1.9.1' });
  const settings = { terraformVersion: '1.9.8', opentofuVersion: 'RESOLVE_FROM_CODE' };
  const terragrunt = { tool: 'terragrunt', field: '1.0.0', settings } as const;
  const own = await find({ ...terragrunt, program: 'terragrunt' });
  assert.equal(own, '1.1.3 by the file .terragrunt-version');
  const terraform = { ...terragrunt, program: 'terraform' };
  assert.equal(await find(terraform), '1.9.1 by the file .terraform-version');
  const variables = { ENVARIUM_TERRAFORM_VERSION: '1.10.0', ENVARIUM_TERRAGRUNT_VERSION: '1.0.5' };
  assert.equal(await find({ ...terraform, variables }), '1.10.0 by the variable ENVARIUM_TERRAFORM_VERSION');
  const tofu = { ...terragrunt, program: 'tofu', variables };
  assert.deepEqual(await find(tofu), { kind: 'code', by: 'opentofuVersion of the template' });
  write('.opentofu-version', 'latest');
  assert.deepEqual(await find(tofu), { kind: 'latest', by: 'the file .opentofu-version' });
  const none = { tool: 'terragrunt', program: 'tofu', path: 'elsewhere' } as const;
  assert.deepEqual(await find(none), { kind: 'any' });
});

test('with the variable for it, the nearest file in a parent folder is used', async (t) => {
  const { find, write } = createSetup(t, { 'a/b/main.tf': '', '.terraform-version': '1.10.2\n' });
  const path = './a/b/';
  assert.deepEqual(await find({ path }), { kind: 'any' });
  assert.deepEqual(await find({ path, variables: { ENVARIUM_RESOLVE_FILE_VERSION_RECURSIVELY: 'false' } }), {
    kind: 'any',
  });
  assert.equal(await find({ path, variables: upward }), '1.10.2 by the file .terraform-version');
  write('a/.terraform-version', '1.10.3\n');
  assert.equal(await find({ path, variables: upward }), '1.10.3 by the file a/.terraform-version');
  write('a/b/.terraform-version', '1.10.4\n');
  assert.equal(await find({ path }), '1.10.4 by the file a/b/.terraform-version');
});

test('folders above the repository are not searched', async (t) => {
  const { find, root, outside } = createSetup(t, { 'a/main.tf': '' });
  for (const folder of [dirname(root), outside]) writeFileSync(join(folder, '.terraform-version'), '1.0.0\n');
  assert.deepEqual(await find({ path: 'a', variables: upward }), { kind: 'any' });
});

test('a task uses the version of the last deployment', async (t) => {
  const { find } = createSetup(t, { '.terraform-version': '1.9.1' });
  const variables = { ENVARIUM_TF_VERSION: '1.10.2' };
  assert.equal(
    await find({ type: 'task', field: '1.11.9', variables }),
    "1.11.9 by the environment's terraform version",
  );
  assert.equal(await find({ type: 'task', field: 'latest' }), '1.9.1 by the file .terraform-version');
});

test('a link inside the repository is followed; one that leads out is refused without its content', async (t) => {
  const { find, write, root, outside } = createSetup(t, { 'live/main.tf': '', 'shared/version': '1.11.9\n' });
  const file = join(root, 'live/.terraform-version');
  const refusal = /^the version file live\/\.terraform-version cannot be read: /;
  symlinkSync('../shared/version', file);
  assert.equal(await find({ path: 'live' }), '1.11.9 by the file live/.terraform-version');
  writeFileSync(join(outside, 'secret'), 'opensesame\n');
  for (const target of [join(outside, 'secret'), '../../../secret', '/nowhere', '.terraform-version']) {
    rmSync(file);
    symlinkSync(target, file);
    await assert.rejects(find({ path: 'live' }), ({ message }: Error) => {
      assert.match(message, refusal);
      assert.doesNotMatch(message, /opensesame/);
      return true;
    });
  }
  rmSync(file);
  write('live/.terraform-version', `#${'x'.repeat(20_000)}\n1.11.9\n`);
  await assert.rejects(find({ path: 'live' }), /has 20009 bytes; at most 10000 are read/);
  rmSync(file);
  mkdirSync(file);
  await assert.rejects(find({ path: 'live' }), /is not a file/);
});

test('another program than the tool gets its version from its own variable only', async (t) => {
  const { find } = createSetup(t, { '.terraform-version': '1.9.1' });
  const variables = { ENVARIUM_TF_VERSION: '1.10.2', ENVARIUM_KUBECTL_VERSION: 'v1.34.2' };
  assert.equal(
    await find({ program: 'kubectl', field: '1.9.2', variables }),
    '1.34.2 by the variable ENVARIUM_KUBECTL_VERSION',
  );
  assert.deepEqual(await find({ program: 'kustomize', field: '1.9.2', variables }), { kind: 'any' });
  assert.deepEqual(await find({ program: 'kubectl', field: '1.9.2', type: 'task' }), { kind: 'any' });
  await assert.rejects(
    find({ program: 'kubectl', variables: { ENVARIUM_KUBECTL_VERSION: 'RESOLVE_FROM_CODE' } }),
    /ENVARIUM_KUBECTL_VERSION is "RESOLVE_FROM_CODE", which is not a version: use an exact one such as 1\.9\.8 or latest$/,
  );
});

test('an invalid version is refused with its source', async (t) => {
  const { find, write } = createSetup(t, {});
  await assert.rejects(
    find({ variables: { ENVARIUM_TF_VERSION: '1.x' } }),
    /^RunFailure: the variable ENVARIUM_TF_VERSION is "1\.x", which/,
  );
  await assert.rejects(
    find({ field: '~> 1' }),
    /the environment's terraform version is "~> 1", which is not a version/,
  );
  write('live/.terraform-version', '~> 1.10\n');
  await assert.rejects(
    find({ path: 'live' }),
    /^RunFailure: the file live\/\.terraform-version contains "~> 1\.10", which is not a version: use/,
  );
});
