import assert from 'node:assert/strict';
import { copyFileSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';
import { ownPlatform } from '../../own/own-platform.ts';

const simple = 'resource "terraform_data" "first" { input = "one" }\n';

test('an invalid repository, revision or path is reported by its field', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple, file: 'x', 'real/main.tf': simple });
  symlinkSync('/etc', join(setup.repository, 'outside'));
  symlinkSync('../../..', join(setup.repository, 'up'));
  symlinkSync('real', join(setup.repository, 'inside'));
  setup.commit({});
  const { source } = setup.job();
  const cases: [object, RegExp][] = [
    [{ repository: 'ext::sh -c id' }, /^repository /],
    [{ repository: 'ext::sh%20-c%20id' }, /^repository .*transport helper/],
    [{ repository: '--upload-pack=id' }, /^repository begins with "-"/],
    [{ repository: '/etc' }, /^repository .*ENVARIUM_GIT_LOCAL_PATHS/],
    [{ repository: join(setup.folder, 'repositories', 'none') }, /^repository .*does not exist/],
    [{ repository: join(setup.folder, 'repositories') }, /^repository .*is not a git repository/],
    [{ revision: '-x' }, /^revision begins with "-"/],
    [{ revision: 'nope' }, /^revision "nope" does not exist/],
    [{ revision: 'a'.repeat(40) }, /^revision "a{40}" does not exist/],
    [{ revision: 'abcdef1' }, /^revision "abcdef1" does not exist/],
    [{ path: '../..' }, /^path contains "\.\."/],
    [{ path: '/etc' }, /^path "etc" does not exist/],
    [{ path: 'nope' }, /^path "nope" does not exist/],
    [{ path: 'file' }, /^path "file" is not a folder/],
    [{ path: 'file/x' }, /^path "file\/x" does not exist/],
    [{ path: 'outside' }, /^path "outside" leads outside/],
    [{ path: 'up' }, /^path "up" leads outside/],
    [{ path: 'outside/ssl' }, /^path "outside\/ssl" leads outside/],
  ];
  for (const [change, expected] of cases) {
    const ran = await setup.run(setup.job({ source: { ...source, ...change } }));
    assert.match(failureMessageOf(ran), expected);
    assert.deepEqual(ran.steps(), { 'git:clone': 'FAIL' });
    assert.match(ran.log('git:clone'), /^Error: /m);
  }
  await expectResult('planned', setup.run(setup.job({ source: { ...source, path: 'inside' } })));
});

test('a revision may be a branch, a tag, a commit or an abbreviated commit', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const first = setup.git('rev-parse', 'HEAD');
  setup.git('tag', 'v1');
  const second = setup.commit({ 'more.tf': 'resource "terraform_data" "second" {}\n' });
  setup.git('branch', 'feature/two');
  setup.commit({ 'third.tf': 'resource "terraform_data" "third" {}\n' });
  const { source } = setup.job();
  for (const [revision, commit, branch] of [
    ['v1', first, 'v1'],
    ['feature/two', second, 'feature/two'],
    ['refs/heads/feature/two', second, 'feature/two'],
    [second, second, second],
    [first.slice(0, 9), first, first.slice(0, 9)],
  ] as const) {
    const ran = await setup.run(setup.job({ type: 'dryRun', source: { ...source, revision } }));
    assert.equal(ran.outcome.commit, commit, `${revision}: ${JSON.stringify(ran.outcome)}`);
    assert.equal(ran.events.find((event) => event.kind === 'git')?.branch, branch);
  }
});

test(
  'a run without its tool reports which one is missing and how to install it',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': simple });
    const ran = await setup.run(setup.job(), { toolPaths: { terraform: '/nowhere/terraform' } });
    assert.match(
      failureMessageOf(ran),
      /terraform is not on the agent's PATH.*install terraform .*then deploy again/,
    );
    assert.equal(ran.outcome.failedCommand, 'terraform');
  },
);

test('a tool of another version than requested is refused', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const ran = await setup.run(setup.job({ toolVersion: '0.12.31' }));
  assert.match(failureMessageOf(ran), /terraform 0\.12\.31 is requested/);
  assert.equal(ran.steps()['variables:setup'], 'FAIL');
});

test('a run reports code that does not parse, and errors of the plan', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': 'resource "terraform_data" {{{' });
  const broken = await setup.run(setup.job());
  assert.match(failureMessageOf(broken), /main\.tf|Invalid|Extraneous|Missing/);
  setup.commit({ 'main.tf': `${simple}variable "needed" {}\n` });
  const refused = await expectResult('failed', setup.run(setup.job()));
  assert.equal(refused.outcome.failedCommand, 'terraform plan');
  assert.match(refused.outcome.error?.message ?? '', /No value for required variable/);
  assert.equal(refused.outcome.error?.exitCode, 1);
  assert.equal(refused.steps()['tf:plan'], 'FAIL');
  assert.equal(existsSync(refused.spool.outputPlan), false);
});

test('an apply that fails halfway stores its state and reports what failed', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'main.tf': `${simple}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "echo no; exit 3" }
}`,
  });
  const planned = await setup.run(setup.job());
  const applied = await expectResult('failed', setup.run(setup.applyJob(planned)));
  assert.equal(applied.outcome.failedCommand, 'terraform apply');
  assert.match(applied.outcome.error?.message ?? '', /local-exec provisioner error/);
  assert.equal(applied.steps()['tf:apply'], 'FAIL');
  assert.equal(applied.steps()['tf:output'], undefined);
  assert.equal(applied.steps()['state:store'], 'SUCCESS');
  assert.match(applied.log('state:store'), /^State stored: serial \d+, .*\d resources/);
  assert.match(applied.outcome.error?.message ?? '', /^Error: [^]*\n\n  with terraform_data\.second/);
  assert.deepEqual(applied.outcome.unrecorded, []);
  assert.match(setup.newestState(applied)?.toString() ?? '', /"first"/);
  setup.commit({ 'main.tf': simple });
  const next = await setup.run(
    setup.applyJob(await setup.run(setup.job(), { state: setup.newestState(applied) })),
  );
  assert.equal(next.outcome.result, 'applied', JSON.stringify(next.outcome));
  assert.equal(next.outcome.resourceCount, 1);
});

test('values with quotes, newlines, ${} or 1 MB reach the tool unchanged', withTerraform, async (t) => {
  const setup = createSetup(t, {
    'main.tf': `
variable "odd" {}
variable "large" {}
variable "list" { type = list(string) }
resource "terraform_data" "odd" { input = var.odd }
output "odd" { value = terraform_data.odd.output }
output "large" { value = length(var.large) }
output "list" { value = var.list }
resource "terraform_data" "environment" {
  provisioner "local-exec" { command = "printf '%s' \\"$ODD\\" | base64 -w0; echo; printf '%s' \\"$REFERENCE\\"" }
}`,
  });
  const unusual = 'a "quoted" \'text\'\nwith ${var.x} %{if} $(id) `id` \\ and \t é\n';
  const plain = (name: string, value: string) => ({ name, value, isSensitive: false });
  const job = setup.job({
    variables: {
      environment: [plain('ODD', unusual), plain('REFERENCE', '<${ENVARIUM_ENVIRONMENT_NAME}>')],
      terraform: [
        plain('odd', unusual),
        plain('large', 'x'.repeat(1_000_000)),
        { ...plain('list', '["a","b"]'), format: 'JSON' },
      ],
    },
  });
  const applied = await setup.run(setup.applyJob(await setup.run(job)));
  assert.equal(
    applied.outcome.outputs?.['odd']?.value,
    unusual,
    JSON.stringify(applied.outcome).slice(0, 500),
  );
  assert.equal(applied.outcome.outputs?.['large']?.value, 1_000_000);
  assert.deepEqual(applied.outcome.outputs?.['list']?.value, ['a', 'b']);
  assert.ok(applied.log('tf:apply').includes(Buffer.from(unusual).toString('base64')));
  assert.ok(applied.log('tf:apply').includes('<one>'));
});

test('an environment variable that is too large for a process is refused', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const ran = await setup.run(
    setup.job({
      variables: {
        environment: [{ name: 'LARGE', value: 'x'.repeat(1_000_000), isSensitive: false }],
        terraform: [],
      },
    }),
  );
  assert.match(failureMessageOf(ran), /LARGE.*128 KiB/);
});

test(
  'a plan that is too large to be transferred fails with the name of the setting',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': simple, large: 'x'.repeat(300_000) });
    const job = setup.job();
    const ran = await setup.run({ ...job, limits: { ...job.limits, travelBytes: 200_000 } });
    assert.match(failureMessageOf(ran), /ENVARIUM_TRAVEL_LIMIT_MB/);
  },
);

test('a run that finds the disk full reports the folder that is on it', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': simple });
  const planned = await setup.run(setup.job(), {
    // Every write to this file fails as on a full disk.
    prepare: (spool) => symlinkSync('/dev/full', spool.stepLog('variables:setup')),
  });
  assert.equal(planned.outcome.result, 'internal');
  assert.match(
    planned.outcome.error?.message ?? '',
    /ENOSPC[^]*\n\nThe disk of the agent's machine is full: the spool folder \/[^]*Free some space/,
  );
});

test(
  'variables that another tool is meant to have are left out, and the run says so',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': 'variable "size" {}\noutput "size" { value = var.size }\n' });
    const variables = {
      environment: [],
      terraform: ['aws:region', 'image.tag', 'size'].map((name) => ({
        name,
        value: 'large',
        isSensitive: false,
      })),
    };
    const planned = await expectResult('planned', setup.run(setup.job({ variables })));
    for (const name of ['aws:region', 'image.tag'])
      assert.match(
        planned.log('variables:setup'),
        new RegExp(`^A variable is left out: "${name}" is not a Terraform identifier`, 'm'),
      );
    const applied = await setup.run(
      setup.applyJob(planned, { onOtherMachine: true, changes: { variables } }),
    );
    assert.equal(applied.outcome.outputs?.['size']?.value, 'large', JSON.stringify(applied.outcome));
  },
);

test('a run that is refused before its first step shows the step that fails', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': '' });
  const variables = {
    environment: [{ name: 'TF_WORKSPACE', value: 'other', isSensitive: false }],
    terraform: [],
  };
  const refused = await setup.run(setup.job({ variables }));
  assert.deepEqual([refused.outcome.result, refused.steps()], ['failed', { 'variables:setup': 'FAIL' }]);
  assert.match(refused.log('variables:setup'), /^Error: TF_WORKSPACE cannot be set/);
});

test(
  'a destroy and a task whose commit is lost after a force push name the way out',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '' });
    const revision = setup.git('rev-parse', 'HEAD');
    setup.git('commit', '-q', '--amend', '-m', 'another');
    setup.git('reflog', 'expire', '--expire=now', '--all');
    setup.git('gc', '-q', '--prune=now');
    const messageOf = async (type: Job['type']) => {
      const source = { ...setup.job().source, revision };
      const { outcome } = await setup.run(
        setup.job({ type, source, ...(type === 'task' ? { taskPayload: 'true' } : {}) }),
      );
      return outcome.error?.message ?? '';
    };
    const lost = `^revision "${revision}" does not exist in .*: the commit that was deployed is no longer there, as after a force push: `;
    const destroying = await messageOf('destroy');
    assert.match(destroying, new RegExp(lost));
    for (const wayOut of ['checkoutUpdatedCode', '--latest-commit', 'forceCheckoutOnTtlDestroy'])
      assert.ok(destroying.includes(wayOut), destroying);
    assert.match(await messageOf('task'), new RegExp(`${lost}push it again, or deploy an existing one$`));
    assert.match(await messageOf('deploy'), /use an existing branch, tag or commit$/);
  },
);

test('a lock file of another platform is explained', withToolbox('provider-time'), async (t) => {
  const place = `mirror/registry.terraform.io/hashicorp/time/0.14.2/${ownPlatform}`;
  const setup = createSetup(t, {
    'main.tf': 'terraform {\n  required_providers {\n    time = { source = "hashicorp/time" }\n  }\n}\n',
    'terraform.rc': 'provider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n',
    '.terraform.lock.hcl':
      'provider "registry.terraform.io/hashicorp/time" {\n  version = "0.14.2"\n  hashes = [\n    "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",\n  ]\n}\n',
    [`${place}/README`]: '',
  });
  copyFileSync(
    toolboxProgram('provider-time') ?? '',
    join(setup.repository, place, 'terraform-provider-time_v0.14.2'),
  );
  setup.commit({});
  const variables = {
    environment: [{ name: 'TF_CLI_CONFIG_FILE', value: 'terraform.rc', isSensitive: false }],
    terraform: [],
  };
  const { outcome } = await setup.run(setup.job({ variables }));
  assert.match(outcome.error?.message ?? '', /^Error: /);
  assert.ok(
    outcome.error?.message.includes(`run "terraform providers lock -platform=${ownPlatform}"`),
    outcome.error?.message,
  );
});
