import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { treeFrom } from '../../../testing/driver-job.ts';
import { isOurs, readCodeBackend, stateFileName, stateOverrideFiles } from './backend.ts';
import { configurationFiles, tofuFiles } from './code/files.ts';

const backendOf = (files: Record<string, string>) => readCodeBackend(treeFrom(files));
const block = (inner: string) => `terraform {\n  ${inner}\n}\n`;

describe('whose state it is', () => {
  it('is ours without a backend and with a local one', async () => {
    assert.ok(isOurs(await backendOf({})));
    assert.ok(
      isOurs(
        await backendOf({
          'main.tf': block('required_version = ">= 1.0"'),
          'readme.md': block('backend "s3" {}'),
        }),
      ),
    );
    assert.ok(isOurs(await backendOf({ 'main.tf': block('backend "local" {\n path = "x"\n }') })));
  });

  it("is the code's with any other backend or a cloud block", async () => {
    for (const code of [
      'backend "s3" {}',
      'backend s3 {\n bucket = "b"\n }',
      'backend /* here */ "gcs" {}',
      'cloud {\n organization = "x"\n }',
    ]) {
      assert.equal(
        isOurs(await backendOf({ 'main.tf': 'resource "x" "y" {}\n', 'versions.tf': block(code) })),
        false,
        code,
      );
    }
    assert.equal(isOurs(await backendOf({ 'a.tf.json': '{"terraform":{"backend":{"s3":{}}}}' })), false);
    assert.equal(isOurs(await backendOf({ 'a.tf.json': '{"terraform":[{"cloud":{}}]}' })), false);
  });

  it('follows overrides in their order and ignores hidden files, comments and strings', async () => {
    const files = {
      'a_override.tf': block('cloud {}'),
      'b_override.tf.json': '{"terraform":{"backend":{"local":{}}}}',
      'main.tf': block('backend "s3" {}'),
    };
    assert.ok(isOurs(await backendOf(files)));
    assert.ok(
      isOurs(
        await backendOf({
          '.hidden.tf': block('backend "s3" {}'),
          'main.tf': `# terraform { backend "s3" {} }\nlocals {\n  a = "terraform backend cloud"\n}\n`,
        }),
      ),
    );
  });

  it('knows which backends have workspaces', async () => {
    const has = async (code: string) => (await backendOf({ 'main.tf': block(code) })).hasWorkspaces;
    assert.equal(await has('backend "s3" {}'), true);
    assert.equal(await has('backend "http" {}'), false);
    assert.equal(await has('cloud {\n workspaces {\n name = "x"\n }\n }'), false);
    assert.equal(await has('cloud {\n workspaces {\n tags = ["x"]\n }\n }'), true);
    assert.equal(await has('backend "remote" {\n workspaces {\n prefix = "x"\n }\n }'), true);
    assert.equal(await has('backend "remote" {\n workspaces {\n name = "x"\n }\n }'), false);
  });

  it('follows the files that OpenTofu prefers, where it is OpenTofu', async () => {
    const files = {
      'main.tf': block('backend "s3" {}'),
      'main.tofu': block('backend "gcs" {}'),
      'over_override.tf': block('cloud {}'),
      'over_override.tofu': block('backend "local" {}'),
    };
    assert.equal((await readCodeBackend(treeFrom(files), tofuFiles)).type, 'local');
    assert.equal((await backendOf(files)).type, 'cloud');
    const { 'over_override.tofu': _, 'over_override.tf': __, ...plain } = files;
    assert.equal((await readCodeBackend(treeFrom(plain), tofuFiles)).type, 'gcs');
    assert.equal((await backendOf(plain)).type, 's3');
  });

  it('code that does not parse is reported with file and line', async () => {
    await assert.rejects(backendOf({ 'main.tf': 'terraform {\n  backend "s3" {\n' }), /main\.tf:\d+/);
    await assert.rejects(
      backendOf({ 'main.tf.json': '{"terraform": {"backend": ' }),
      /main\.tf\.json is not valid JSON/,
    );
  });
});

describe('the state override', () => {
  it('has relative paths and a name behind all other overrides', () => {
    const [file] = stateOverrideFiles(['main.tf', 'override.tf'], '/w/tree/network', '/w/state');
    assert.equal(file!.name, 'zzz_envarium_override.tf.json');
    assert.deepEqual(JSON.parse(file!.content), {
      terraform: {
        backend: { local: { path: '../../state/terraform.tfstate', workspace_dir: '../../state' } },
      },
    });
    for (const other of [
      'zzz_zzz_override.tf',
      'zzzz_override.tf.json',
      '~_override.tf',
      '\u{10ffff}_override.tf',
    ]) {
      const { name } = stateOverrideFiles(['override.tf', other], '/w/tree', '/w/state')[0]!;
      assert.ok(
        Buffer.compare(Buffer.from(name), Buffer.from(other)) > 0 && name.endsWith('_override.tf.json'),
        name,
      );
    }
  });

  it('lets no file of its name win that the repository brings', () => {
    const nameAmong = (others: string[], rules = tofuFiles) =>
      stateOverrideFiles(others, '/w/tree', '/w/state', rules)[0]!.name;
    assert.equal(nameAmong([]), 'zzz_envarium_override.tofu.json');
    for (const other of [
      'zzz_envarium_override.tofu',
      'zzzz_envarium_override.tofu.json',
      'zzzz_envarium_override.tf.json',
      'zzzz~_envarium_override.tofu.json',
      '~_envarium_override.tofu.json',
      '~_override.tofu',
    ]) {
      const name = nameAmong([other]);
      assert.equal(configurationFiles([other, name, 'main.tf'], tofuFiles).at(-1), name, other);
      assert.equal(nameAmong([other, name]), name, 'the apply phase finds what the plan phase wrote');
    }
    // Terraform does not read OpenTofu's files.
    assert.equal(
      stateOverrideFiles(['zzzz_override.tofu'], '/w/tree', '/w/state')[0]!.name,
      'zzz_envarium_override.tf.json',
    );
    // The apply phase finds what the plan phase wrote.
    assert.equal(
      nameAmong(['zzzz_override.tf', nameAmong(['zzzz_override.tf'])]),
      nameAmong(['zzzz_override.tf']),
    );
  });

  it('brings an init record only where init would ask for a migration', () => {
    const names = (entries: string[]) =>
      stateOverrideFiles(entries, '/w/tree', '/w/state').map((file) => file.name);
    assert.deepEqual(names(['main.tf']).length, 1);
    for (const entry of ['.terraform', 'terraform.tfstate', 'terraform.tfstate.d'])
      assert.deepEqual(names([entry])[1], '.terraform/terraform.tfstate');
  });

  it('keeps the workspace default apart', () => {
    assert.equal(stateFileName('default'), 'terraform.tfstate');
    assert.equal(stateFileName('network-1'), 'network-1/terraform.tfstate');
  });
});
