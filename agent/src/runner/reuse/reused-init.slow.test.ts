import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import { startProviderRegistry, thisPlatform } from '../../../testing/provider-registry.ts';
import {
  createSetup,
  type Ran,
  type RunnerSetup,
  type StartOptions,
  withBubblewrap,
  withTerraform,
  withTerraformAsRoot,
} from '../../../testing/runner-setup.ts';
import { findProgram } from '../../processes/programs.ts';
import type { ProviderOrder } from '../../providers/installation.ts';

const lockFile = '.terraform.lock.hcl';
const host = 'registry.terraform.io';
const plain: ProviderOrder = {
  cache: null,
  mirror: null,
  operator: { rest: '', hosts: {}, credentials: {}, installation: null },
};
const one = 'resource "terraform_data" "one" {\n  input = "a"\n}\n';
const withModule = { 'main.tf': `${one}module "a" {\n  source = "./mods/a"\n}\n`, 'mods/a/main.tf': one };

function orderOf(setup: RunnerSetup, providers = plain): NonNullable<StartOptions['order']> {
  return { providers, reuseFolder: join(setup.workFolder, '.reuse') };
}

/** Another environment. */
const other: Partial<Job> = {
  environmentId: '00000000-0000-7000-8000-0000000000e2',
  workspaceName: 'test-two',
  systemVariables: { ENVARIUM_ENVIRONMENT_NAME: 'two' },
};

function isReused(ran: Ran, label = 'terraform init'): boolean {
  const step = ran.job.tool === 'opentofu' ? 'opentofu:init' : 'tf:init';
  assert.equal(ran.steps()[step], 'SUCCESS', ran.log(step));
  const hasRun = ran.events.some((event) => event.kind === 'process' && event.label === label);
  assert.equal(ran.log(step).includes(' is reused, '), !hasRun, ran.log(step));
  return !hasRun;
}

function variable(name: string, value: string): Pick<Job, 'variables'> {
  return { variables: { environment: [{ name, value, isSensitive: false }], terraform: [] } };
}

/** Files below a folder with their contents, and the names of links. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path.slice(folder.length)}: ${readFileSync(path, 'utf8')}` : path;
    })
    .sort();
}

function packedTree(t: TestContext, ran: Ran): string[] {
  const folder = temporaryFolder(t, 'packed-');
  execFileSync('tar', ['-xf', ran.spool.outputTree, '-C', folder]);
  return filesIn(folder);
}

test('another environment of the same commit uses the init of the first one', withTerraform, async (t) => {
  const setup = createSetup(t, withModule);
  const order = orderOf(setup);
  const first = await setup.run(setup.job(), { order });
  assert.equal(isReused(first), false);
  const second = await setup.run(setup.job(other), { order });
  assert.equal(isReused(second), true);
  assert.equal(second.outcome.result, 'planned', JSON.stringify(second.outcome));
  const [line, ...output] = second.log('tf:init').split('\n');
  assert.match(
    line ?? '',
    /^The terraform init of 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC is reused, because the commit, the tool, the lock file and the settings are the same \(set the variable ENVARIUM_REUSE_INIT to false to run it again\)\./,
  );
  assert.equal(output.join('\n'), first.log('tf:init'));
  assert.deepEqual(packedTree(t, second), packedTree(t, first), 'the transferred tree is the same');
  for (const onOtherMachine of [true, false]) {
    const planned = await setup.run(setup.job(other), { order });
    assert.equal(isReused(planned), true);
    const applied = await expectResult(
      'applied',
      setup.run(setup.applyJob(planned, { onOtherMachine }), { order }),
    );
    assert.equal(applied.outcome.resourceCount, 2);
  }
});

test('a run in bubblewrap under an ordinary user uses an earlier init', withBubblewrap, async (t) => {
  const setup = createSetup(t, withModule, { asOrdinaryUser: true });
  const order = orderOf(setup);
  assert.equal(isReused(await setup.run(setup.job(), { order })), false);
  const planned = await setup.run(setup.job(), { order });
  assert.equal(isReused(planned), true);
  await expectResult('applied', setup.run(setup.applyJob(planned), { order }));
});

test(
  'a redeployment with a state uses the init of an earlier one with the same providers',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, withModule);
    const order = orderOf(setup);
    const planned = await setup.run(setup.job(), { order });
    const applied = await setup.run(setup.applyJob(planned), { order });
    const state = setup.newestState(applied);
    assert.equal(isReused(await setup.run(setup.job(), { order, state })), false, 'the first with a state');
    const again = await setup.run(setup.job({ type: 'driftDetection' }), { order, state });
    assert.equal(isReused(again), true);
    assert.equal(again.outcome.hasChanges, false, JSON.stringify(again.outcome));
  },
);

test('an init with other inputs runs', withTerraform, async (t) => {
  const setup = createSetup(t, { ...withModule, 'sub/main.tf': one });
  const order = orderOf(setup);
  const run = (changes: Partial<Job>, options: StartOptions = {}) =>
    setup.run(setup.job(changes), { order, ...options });
  const program = join(setup.folder, 'terraform');
  copyFileSync(findProgram('terraform') ?? '', program);
  chmodSync(program, 0o755);
  const toolPaths = { terraform: program, git: findProgram('git') ?? '' };
  const hosts = { [host]: { 'providers.v1': 'https://proxy.example/' } };
  const operator = { ...plain.operator, hosts };
  const input = (value: string) => ({
    variables: { environment: [], terraform: [{ name: 'x', value, isSensitive: false }] },
  });
  assert.equal(isReused(await run({})), false);
  const source = setup.job().source;
  for (const [what, changes, options] of [
    ['another tool', {}, { toolPaths }],
    ['a variable of the tool', variable('TF_VAR_x', '1'), {}],
    ['a terraform variable', input('1'), {}],
    ['another folder', { source: { ...source, path: 'sub' } }, {}],
    ['the workspace default', variable('ENVARIUM_SKIP_WORKSPACE', 'true'), {}],
    ['other settings for providers', {}, { order: orderOf(setup, { ...plain, operator }) }],
    ['another organization', { organizationId: '00000000-0000-7000-8000-0000000000a2' }, {}],
  ] as const) {
    assert.equal(isReused(await run(changes, options)), false, what);
  }
  assert.equal(isReused(await run({})), true, 'the same');
  assert.equal(isReused(await run(variable('TF_VAR_x', '2'))), true, 'another value of an input variable');
  assert.equal(isReused(await run(input('2'))), true, 'another value of a terraform variable');
  assert.equal(
    isReused(await run(variable('AWS_REGION', '1'))),
    false,
    'another variable of the environment',
  );
  assert.equal(isReused(await run(variable('AWS_REGION', '2'))), false, 'another value of it');
});

test(
  'a commit uses the init of an earlier one, unless it changes what init reads',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, withModule);
    const order = orderOf(setup);
    const run = () => setup.run(setup.job(), { order });
    assert.equal(isReused(await run()), false);
    setup.commit({ 'README.md': 'changed' });
    assert.equal(isReused(await run()), true, 'a file that init does not read');
    setup.commit({ 'mods/a/main.tf': one.replace('"a"', '"b"') });
    const planned = await run();
    assert.equal(isReused(planned), true, 'a value');
    assert.match(planned.log('tf:init'), / is reused, because the code that init reads, the tool, /);
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned), { order }));
    assert.match(String(setup.newestState(applied)), /"b"/);
    setup.commit({ 'mods/b/main.tf': one, 'more.tf': 'module "b" {\n  source = "./mods/b"\n}\n' });
    const more = await run();
    assert.equal(isReused(more), false, 'a further module');
    assert.equal((await run()).outcome.result, 'planned', 'its own init');
    setup.commit({ 'more.tf': null });
    assert.equal(isReused(await run()), true, 'the module is called no more');
    setup.commit({ 'main.tf': `${withModule['main.tf']}}` });
    assert.match(
      (await run()).log('tf:init'),
      /^[^]*Argument or block definition required/,
      'code that does not parse',
    );
  },
);

test('a variable of the run, and the setting of the agent, have init run', withTerraform, async (t) => {
  const setup = createSetup(t, withModule);
  const order = orderOf(setup);
  await setup.run(setup.job(), { order });
  assert.equal(
    isReused(await setup.run(setup.job(variable('ENVARIUM_REUSE_INIT', 'false')), { order })),
    false,
  );
  assert.equal(isReused(await setup.run(setup.job(), { order: { providers: plain } })), false);
  assert.equal(isReused(await setup.run(setup.job(), { order })), true);
});

test(
  'an init is not stored if something of the code or the run may change its result',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, withModule);
    const order = orderOf(setup);
    const never = async (what: string, changes: Partial<Job> = {}) => {
      for (const round of [1, 2])
        assert.equal(isReused(await setup.run(setup.job(changes), { order })), false, `${what}, ${round}`);
    };
    await never('-upgrade', variable('TF_CLI_ARGS_init', '-upgrade'));
    await never('its own CLI configuration', variable('TF_CLI_CONFIG_FILE', '/dev/null'));
    // The cache that it requests is not there, and the run says so.
    await never('a warning', variable('ENVARIUM_USE_TF_PLUGIN_CACHE', 'true'));
    setup.commit({ '.terraform/x': '' });
    await never('.terraform in the code');
    setup.commit({ '.terraform/x': null });
    execFileSync('ln', ['-s', '/etc/hostname', join(setup.repository, 'outside.auto.tfvars.json')]);
    setup.commit({ 'README.md': '' });
    await never('a link out of the code');
    assert.equal(existsSync(join(setup.workFolder, '.reuse')), false);
  },
);

test('a damaged result is replaced by a real init', withTerraform, async (t) => {
  const setup = createSetup(t, withModule);
  const order = orderOf(setup);
  await setup.run(setup.job(), { order });
  const [name = ''] = readdirSync(join(setup.workFolder, '.reuse'));
  const file = join(setup.workFolder, '.reuse', name);
  writeFileSync(file, readFileSync(file).subarray(0, 300));
  assert.equal(isReused(await setup.run(setup.job(), { order })), false);
  assert.equal(isReused(await setup.run(setup.job(), { order })), true);
});

test('a run can neither read nor change results', withTerraformAsRoot, async (t) => {
  const setup = createSetup(t, withModule);
  const order = orderOf(setup);
  await setup.run(setup.job(), { order });
  for (const command of [`ls ${order.reuseFolder}`, `touch ${order.reuseFolder}/x`]) {
    const ran = await setup.run(setup.job({ type: 'task', taskPayload: `${command}\n` }), { order });
    assert.equal(isReused(ran), true, 'a task uses it too');
    assert.equal(ran.steps()['task:run'], 'FAIL', ran.log('task:run'));
  }
  assert.equal(readdirSync(order.reuseFolder ?? '').length, 1);
});

test('the stored output contains no secrets of its run', withTerraform, async (t) => {
  const code = `${one}module "sunflower" {\n  source = "./mods/a"\n}\n`;
  const setup = createSetup(t, { 'main.tf': code, 'mods/a/main.tf': one });
  const order = orderOf(setup);
  const first = await setup.run(setup.job({ secrets: ['sunflower'] }), { order });
  assert.match(first.log('tf:init'), /- sunflower in mods/, 'what a run prints is masked when it is sent');
  const second = await setup.run(setup.job(), { order });
  assert.equal(isReused(second), true);
  assert.match(second.log('tf:init'), /- \*\*\* in mods/);
});

test(
  'a provider that the code locks is linked again, unless the cache has it no more',
  withTerraform,
  async (t) => {
    await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.2.0' }]);
    const folder = temporaryFolder(t, 'provider-cache-');
    const hosts = { [host]: { 'providers.v1': registry.providers } };
    const providers = {
      ...plain,
      cache: { folder, limitBytes: 1e9 },
      operator: { ...plain.operator, hosts },
    };
    const code = `terraform {\n  required_providers {\n    one = {\n      source = "acme/one"\n    }\n  }\n}\n${one}`;
    const setup = createSetup(t, { 'main.tf': code });
    const order = orderOf(setup, providers);
    // The provider is a stub, which fails every plan: what counts is init.
    const run = async () => setup.run(setup.job(), { order });
    for (const round of [1, 2]) assert.equal(isReused(await run()), false, `not locked, ${round}`);
    const records = join(folder, 'records');
    const recordFile = join(records, readdirSync(records)[0] ?? '');
    const record = () =>
      JSON.parse(readFileSync(recordFile, 'utf8')) as {
        keepUntil: number;
        hashes: string[];
        directoryHash: string;
      };
    const { hashes, directoryHash } = record();
    const list = [hashes[0]].map((hash) => `    "${hash}",\n`).join('');
    setup.commit({
      [lockFile]: `provider "${host}/acme/one" {\n  version = "1.2.0"\n  hashes = [\n${list}  ]\n}\n`,
    });
    assert.equal(isReused(await run()), false);
    writeFileSync(recordFile, JSON.stringify({ ...record(), keepUntil: 0 }));
    const show = `readlink -e .terraform/providers/${host}/acme/one/1.2.0/${thisPlatform}; cat ${lockFile}`;
    const task = await setup.run(setup.job({ type: 'task', taskPayload: `${show}\n` }), { order });
    assert.equal(isReused(task), true);
    const log = task.log('task:run');
    assert.ok(log.includes(join(folder, 'packages', host, 'acme/one/1.2.0', thisPlatform)), log);
    assert.ok(log.includes(directoryHash), 'the lock file is completed as by a real init');
    assert.ok(record().keepUntil > Date.now(), 'the package is kept for the run');
    assert.deepEqual(readdirSync(join(folder, 'readers')), []);
    rmSync(join(folder, 'packages', host), { recursive: true });
    rmSync(recordFile);
    assert.equal(isReused(await run()), false, 'the package was removed');
    assert.equal(registry.downloads('acme/one'), 2);
    assert.equal(isReused(await run()), true);
    writeFileSync(recordFile, JSON.stringify({ ...record(), directoryHash: 'h1:other' }));
    assert.equal(isReused(await run()), false, 'the cache has other files under this version');
  },
);

test('a plan and its apply with a reused init use the cached provider', {
  skip: withTerraform.skip || withToolbox('provider-time').skip,
}, async (t) => {
  const content = readFileSync(toolboxProgram('provider-time') ?? '');
  await using registry = await startProviderRegistry([
    { name: 'hashicorp/time', version: '0.14.2', content },
  ]);
  const folder = temporaryFolder(t, 'provider-cache-');
  const hosts = { [host]: { 'providers.v1': registry.providers } };
  const providers = { ...plain, cache: { folder, limitBytes: 1e9 }, operator: { ...plain.operator, hosts } };
  const setup = createSetup(t, { 'main.tf': 'resource "time_static" "now" {}\n' });
  const order = orderOf(setup, providers);
  const first = await setup.run(setup.job(), { order });
  const unlocked = join(setup.workFolder, first.job.environmentId, 'tree', lockFile);
  setup.commit({ [lockFile]: readFileSync(unlocked, 'utf8') });
  await setup.run(setup.job(), { order });
  for (const onOtherMachine of [false, true]) {
    const planned = await setup.run(setup.job(other), { order });
    assert.equal(isReused(planned), true);
    const applied = await expectResult(
      'applied',
      setup.run(setup.applyJob(planned, { onOtherMachine }), { order }),
    );
    assert.equal(applied.outcome.resourceCount, 1);
  }
});

for (const [tool, program, suite] of [
  ['terraform', 'terraform', withTerraform],
  ['opentofu', 'tofu', withToolbox('opentofu')],
] as const) {
  test(`${tool} plans and applies a changed value with the init of an earlier one`, suite, async (t) => {
    const code = 'variable "text" {}\nresource "terraform_data" "one" {\n  input = var.text\n}\n';
    const setup = createSetup(t, { 'main.tf': code });
    const order = orderOf(setup);
    const path = tool === 'opentofu' ? toolboxProgram('opentofu') : findProgram('terraform');
    const options = { order, toolPaths: { [program]: path ?? '', git: findProgram('git') ?? '' } };
    const jobWith = (value: string) =>
      setup.job({
        tool,
        variables: { environment: [], terraform: [{ name: 'text', value, isSensitive: false }] },
      });
    assert.equal(isReused(await setup.run(jobWith('first'), options), `${program} init`), false);
    const planned = await setup.run(jobWith('second'), options);
    assert.equal(isReused(planned, `${program} init`), true);
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned), options));
    const state = String(setup.newestState(applied));
    assert.match(state, /"second"/);
    assert.doesNotMatch(state, /"first"/);
  });
}

test(
  'OpenTofu uses an earlier init, but not one whose sources are computed',
  withToolbox('opentofu'),
  async (t) => {
    const setup = createSetup(t, withModule);
    const order = orderOf(setup);
    const toolPaths = { tofu: toolboxProgram('opentofu') ?? '', git: findProgram('git') ?? '' };
    const run = () => setup.run(setup.job({ tool: 'opentofu' }), { order, toolPaths });
    assert.equal(isReused(await run(), 'tofu init'), false);
    const planned = await run();
    assert.equal(isReused(planned, 'tofu init'), true);
    await expectResult('applied', setup.run(setup.applyJob(planned), { order, toolPaths }));
    setup.commit({
      'main.tf': withModule['main.tf'].replace(
        '"./mods/a"',
        'terraform.workspace == "x" ? "./b" : "./mods/a"',
      ),
    });
    for (const round of [1, 2]) assert.equal(isReused(await run(), 'tofu init'), false, `round ${round}`);
  },
);

test(
  'the code of an upload is known by its checksum, or by what init reads of it',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, withModule);
    const order = orderOf(setup);
    mkdirSync(join(setup.folder, 'code'));
    const archive = join(setup.folder, 'code.tar.gz');
    const pack = (code: string) => {
      writeFileSync(join(setup.folder, 'code', 'main.tf'), code);
      execFileSync('tar', ['-czf', archive, '-C', join(setup.folder, 'code'), '.']);
    };
    pack(one);
    const upload = async (sha256: string) => {
      const job = setup.job({ type: 'remotePlan' });
      const source = { ...job.source, archive: { sha256, bytes: 1 } };
      return setup.run(
        { ...job, source },
        { order, prepare: (spool) => copyFileSync(archive, spool.inputSource) },
      );
    };
    assert.equal(isReused(await upload('a'.repeat(64))), false);
    const again = await upload('a'.repeat(64));
    assert.equal(isReused(again), true);
    assert.match(
      again.log('tf:init'),
      /because the code, the tool, the lock file and the settings are the same/,
    );
    pack(one.replace('"a"', '"b"'));
    assert.equal(isReused(await upload('b'.repeat(64))), true);
    pack('terraform {\n  required_version = ">= 1"\n}\n');
    assert.equal(isReused(await upload('c'.repeat(64))), false);
  },
);
