/** The driver's commands on the real terraform, carried out one by one as a runner would. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Job } from '#protocol/messages.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import type { Command, DriverContext, ProgressEvent } from './driver.ts';
import { jobOf, treeOf } from './__fixtures__/job.ts';
import { terraform } from './terraform.ts';

const isInstalled = spawnSync('terraform', ['version']).status === 0;
const options = { skip: isInstalled ? false : 'terraform is not on the PATH' };

interface Ended {
  readonly command: Command;
  readonly code: number | null;
  readonly output: Buffer;
}

async function folderFor(test: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'envarium terraform '));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A configuration with a state folder beside it. */
async function configuration(test: TestContext, files: Record<string, string>, changes: Partial<Job> = {}) {
  const folder = await folderFor(test);
  const configurationFolder = join(folder, 'tree', 'network');
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(configurationFolder, name)), { recursive: true });
    await writeFile(join(configurationFolder, name), text);
  }
  const tree = treeOf(configurationFolder);
  const job = jobOf(changes);
  const bare = { job, configurationFolder, planFile: join(folder, 'plan'), tree };
  const stateFolder = (await terraform.isStateOurs(bare)) ? join(folder, 'state') : null;
  if (stateFolder) await mkdir(stateFolder, { recursive: true });
  const context: DriverContext = { ...bare, stateFolder };
  return { context, withJob: (next: Partial<Job>): DriverContext => ({ ...context, job: { ...job, ...next } }) };
}

async function run(context: DriverContext, command: Command): Promise<Ended> {
  const env = { PATH: process.env['PATH'], ...runEnvironment(context.job), ...terraform.environment(context), ...command.environment };
  const child = spawn(command.program, command.args, { cwd: context.configurationFolder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  child.once('error', reject);
  return { command, code: await promise, output: Buffer.concat(chunks) };
}

async function runAll(context: DriverContext, commands: readonly Command[]): Promise<Map<string, Ended>> {
  const ended = new Map<string, Ended>();
  for (const command of commands) {
    const result = await run(context, command);
    ended.set(command.label, result);
    assert.ok(
      result.code === 0 || command.goodExitCodes?.includes(result.code ?? -1),
      `${command.label} answers ${result.code}: ${result.output}`,
    );
  }
  return ended;
}

async function prepared(context: DriverContext) {
  for (const file of await terraform.files(context)) {
    await mkdir(dirname(join(context.configurationFolder, file.name)), { recursive: true });
    await writeFile(join(context.configurationFolder, file.name), file.content);
  }
  const ended = await runAll(context, await terraform.prepare(context));
  assert.equal(await terraform.checkPrepared(context), null);
  return ended;
}

async function planned(context: DriverContext) {
  const ended = await runAll(context, terraform.plan(context));
  const captured = [...ended.values()]
    .filter(({ command }) => command.captureTo)
    .map(({ command, output }) => [command.captureTo!, output] as const);
  return { ended, reading: await terraform.readPlan(context, new Map(captured)) };
}

async function deployed(context: DriverContext) {
  await prepared(context);
  const { reading } = await planned(context);
  const ended = await runAll(context, terraform.apply(context));
  return { reading, ended };
}

async function stateOf(context: DriverContext) {
  return terraform.readState(await readFile(join(context.stateFolder!, terraform.stateFile(context))));
}

const variable = (name: string, value: string, format?: 'HCL' | 'JSON') => ({
  name,
  value,
  isSensitive: false,
  ...(format ? { format } : {}),
});

describe('terraform keeps a state of ours', options, () => {
  const code =
    'variable "size" {}\nresource "terraform_data" "box" {\n  count = var.size\n  input = terraform.workspace\n}\noutput "boxes" {\n  value = terraform_data.box[*].output\n}\n';

  for (const [name, backend] of Object.entries({
    'code without a backend': '',
    'code with a local backend': 'terraform {\n  backend "local" {\n    path = "elsewhere.tfstate"\n  }\n}\n',
  })) {
    it(`where ${name} is deployed, changed and destroyed`, async (test) => {
      const one = { environment: [], terraform: [variable('size', '1')] };
      const { context, withJob } = await configuration(test, { 'main.tf': code + backend }, { variables: one });
      const first = await deployed(context);
      assert.deepEqual(first.reading.planSummary, { added: 1, changed: 0, destroyed: 0 });
      const state = await stateOf(context);
      assert.deepEqual(state.outputs, { boxes: { value: ['network-abc123'], type: ['tuple', ['string']], sensitive: false } });
      assert.deepEqual(state.resources, [{ provider: 'terraform', type: 'terraform_data', name: 'box[0]', moduleName: '' }]);

      const two = await deployed(withJob({ variables: { environment: [], terraform: [variable('size', '2', 'HCL')] } }));
      assert.deepEqual(
        two.reading.plan.resourceChanges.map((row) => [row.path, row.action]),
        [['terraform_data.box[1]', 'create']],
      );
      const grown = await stateOf(context);
      assert.equal(grown.resourceCount, 2);
      assert.equal(grown.lineage, state.lineage);
      assert.notEqual(grown.hash, state.hash);

      const destroying = withJob({ type: 'destroy' });
      const last = await deployed(destroying);
      assert.deepEqual(last.reading.planSummary, { added: 0, changed: 0, destroyed: 2 });
      assert.equal((await stateOf(context)).resourceCount, 0);
      assert.deepEqual(
        (await readdir(context.configurationFolder)).filter((entry) => entry.endsWith('.tfstate')),
        [],
      );
    });
  }

  it('for the workspace default and against a cloud block and later overrides', async (test) => {
    const files = {
      'main.tf': 'terraform {\n  cloud {\n    organization = "x"\n  }\n}\nresource "terraform_data" "a" {}\n',
      'override.tf': 'terraform {\n  backend "s3" {}\n}\n',
      'zzz_zzz_override.tf': 'terraform {\n  cloud {\n    organization = "y"\n  }\n}\n',
      'émile_override.tf.json': '{"terraform": {"backend": {"http": {"address": "http://127.0.0.1:1"}}}}',
    };
    const state = { isForced: true };
    const { context } = await configuration(test, files, { workspaceName: 'default', state });
    await deployed(context);
    assert.equal((await stateOf(context)).resourceCount, 1);
  });

  it('where the repository brings a state and an init record of its own', async (test) => {
    const files = {
      'main.tf': 'resource "terraform_data" "a" {}\n',
      'terraform.tfstate':
        '{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"a","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\\"terraform.io/builtin/terraform\\"]","instances":[{"schema_version":0,"attributes":{"id":"x","input":null,"output":null,"triggers_replace":null},"sensitive_attributes":[]}]}]}',
      '.terraform/terraform.tfstate':
        '{"version":3,"terraform_version":"1.11.4","backend":{"type":"s3","config":{"bucket":"x"},"hash":12345}}',
    };
    const { context } = await configuration(test, files);
    assert.equal((await terraform.warnings(context)).length, 1);
    const { reading } = await deployed(context);
    assert.equal(reading.planSummary.added, 1);
    assert.notEqual((await stateOf(context)).lineage, 'a');
  });

  it('and says so when init set up something else', async (test) => {
    const variables = { environment: [variable('TF_CLI_ARGS_init', '-backend-config=path=elsewhere.tfstate')], terraform: [] };
    const { context } = await configuration(test, { 'main.tf': 'resource "terraform_data" "a" {}\n' }, { variables });
    await assert.rejects(prepared(context), /TF_CLI_ARGS_init/);
  });

  it('so that a plan applies in the phase after, on a tree that was initialised again', async (test) => {
    const { context, withJob } = await configuration(test, {
      'main.tf': 'resource "terraform_data" "a" {\n  input = abspath(path.module)\n}\n',
    });
    await prepared(context);
    await planned(context);
    await rm(join(context.configurationFolder, '.terraform'), { recursive: true });
    const applying = withJob({ phase: 'apply' });
    await prepared(applying);
    await runAll(applying, terraform.apply(applying));
    assert.equal((await stateOf(context)).resourceCount, 1);
  });
});

describe("terraform leaves the state to the code's own backend", options, () => {
  it('and reads outputs and resources from there', async (test) => {
    let stored: Buffer | null = null;
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      if (request.method === 'POST') stored = body;
      if (request.method === 'GET' && !stored) response.statusCode = 204;
      response.end(request.method === 'GET' ? stored : undefined);
    });
    const listening = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', listening.resolve);
    await listening.promise;
    test.after(() => server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { context } = await configuration(test, {
      'main.tf': `terraform {\n  backend "http" {\n    address = "${address}"\n  }\n}\nresource "terraform_data" "a" {}\noutput "id" {\n  value = terraform_data.a.id\n}\n`,
    });
    assert.equal(context.stateFolder, null);
    const { ended } = await deployed(context);
    const state = terraform.readState(ended.get('terraform state pull')!.output);
    assert.equal(state.resourceCount, 1);
    assert.match(String(state.outputs['id']?.value), /^[0-9a-f-]{36}$/);
  });

  it('and selects the workspace where the backend knows workspaces', async (test) => {
    const { context } = await configuration(test, { 'main.tf': 'terraform {\n  backend "s3" {}\n}\n' });
    const labels = (await terraform.prepare(context)).map((command) => command.label);
    assert.deepEqual(labels, ['terraform init', 'terraform workspace select']);
    await writeFile(join(context.configurationFolder, 'main.tf'), 'resource "terraform_data" "a" {}\n');
    const [init, select] = await terraform.prepare(context);
    await runAll(context, [init!, select!]);
    assert.equal((await run(context, { ...select!, args: ['workspace', 'show'] })).output.toString().trim(), 'network-abc123');
  });
});

describe('variables reach terraform', options, () => {
  it('literally, in every format', async (test) => {
    const nasty = 'q" \' ${path.module} %{ if } $${x} \\ \n\t é😀 \u2028 </x> ';
    const long = 'x'.repeat(1_048_576);
    const code = ['text', 'json', 'hcl', 'long']
      .map((name) => `variable "${name}" {\n  type = any\n}\noutput "${name}" {\n  value = var.${name}\n}\n`)
      .join('');
    const hcl = '{\n  list = ["$${a}", <<-E\n    two\n    lines\n  E\n  ]\n  number = -1.5\n  nothing = null\n}';
    const variables = {
      environment: [],
      terraform: [
        variable('text', nasty),
        variable('json', '{"n": 12345678901234567890, "s": "${x}"}', 'JSON'),
        variable('hcl', hcl, 'HCL'),
        variable('long', long),
      ],
    };
    const { context } = await configuration(test, { 'main.tf': code, 'aaa.auto.tfvars': 'text = "theirs"\n' }, { variables });
    await deployed(context);
    const { outputs } = await stateOf(context);
    assert.equal(outputs['text']?.value, nasty);
    assert.equal(outputs['long']?.value, long);
    assert.deepEqual(outputs['hcl']?.value, { list: ['${a}', 'two\nlines\n'], number: -1.5, nothing: null });
    const state = await readFile(join(context.stateFolder!, terraform.stateFile(context)), 'utf8');
    assert.match(state, /"n": 12345678901234567890/);
  });

  it('of type 0 by the environment, with references resolved', async (test) => {
    const code = 'variable "who" {}\noutput "who" {\n  value = var.who\n}\n';
    const variables = {
      environment: [variable('TF_VAR_who', 'env ${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_UNKNOWN} ${HOME}')],
      terraform: [],
    };
    const { context } = await configuration(
      test,
      { 'main.tf': code },
      { variables, systemVariables: { ENVARIUM_ENVIRONMENT_NAME: 'net ${ENVARIUM_ENVIRONMENT_NAME}' } },
    );
    await deployed(context);
    assert.equal((await stateOf(context)).outputs['who']?.value, 'env net ${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_UNKNOWN} ${HOME}');
  });
});

describe('what terraform says while it works', options, () => {
  it('is read as progress, and its last error as the message', async (test) => {
    const code =
      'resource "terraform_data" "good" {\n  for_each = toset(["a.b", "c\\"]: Creating..."])\n}\nresource "terraform_data" "bad" {\n  depends_on = [terraform_data.good]\n  provisioner "local-exec" {\n    command = "echo terraform_data.fake: Creating...; exit 3"\n  }\n}\n';
    const { context } = await configuration(test, { 'main.tf': code });
    await prepared(context);
    await planned(context);
    const { code: status, output } = await run(context, terraform.apply(context)[0]!);
    assert.equal(status, 1);
    assert.match(output.toString(), /\x1b\[1mterraform_data/, 'colours are kept');
    const told = terraform
      .progress(context)
      .read(output)
      .map((event: ProgressEvent) => `${event.status} ${event.address}`);
    assert.deepEqual(told.sort(), [
      'done terraform_data.good["a.b"]',
      'done terraform_data.good["c\\"]: Creating..."]',
      'failed terraform_data.bad',
      'started terraform_data.bad',
      'started terraform_data.good["a.b"]',
      'started terraform_data.good["c\\"]: Creating..."]',
    ]);
    assert.match(
      terraform.lastDiagnostic(output.toString())!,
      /^Error: local-exec provisioner error\n\n\s+with terraform_data.bad,\n[^]*exit\s+status 3/,
    );
    const again = await planned(context);
    assert.deepEqual(
      again.reading.plan.resourceChanges.map((row) => [row.path, row.action, row.actionReason]),
      [['terraform_data.bad', 'recreate', 'replace_because_tainted']],
    );
  });

  it('about a configuration that does not parse is the message too', async (test) => {
    const { context } = await configuration(test, { 'main.tf': 'resource "terraform_data" {\n' });
    const init = await run(context, (await terraform.prepare(context))[0]!);
    assert.equal(init.code, 1);
    assert.match(terraform.lastDiagnostic(init.output.toString())!, /^Error: .*\n[^]*main.tf line 1/);
  });

  it('is told as targets and drift', async (test) => {
    const code = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n';
    const { context, withJob } = await configuration(test, { 'main.tf': code }, { targets: ['terraform_data.a'] });
    const { reading } = await deployed(context);
    assert.deepEqual(
      reading.plan.resourceChanges.map((row) => row.path),
      ['terraform_data.a'],
    );
    const drift = await planned(withJob({ type: 'driftDetection', targets: [] }));
    assert.deepEqual(
      [...drift.ended.keys()],
      ['terraform plan -refresh-only', 'terraform show (refresh-only)', 'terraform plan', 'terraform show'],
    );
    assert.deepEqual(
      drift.reading.plan.resourceChanges.map((row) => [row.path, row.driftByCloud]),
      [['terraform_data.b', undefined]],
    );
    const whole = withJob({ targets: [] });
    await planned(whole);
    await runAll(whole, terraform.apply(whole));
    assert.equal((await planned(withJob({ type: 'driftDetection', targets: [] }))).reading.hasChanges, false);
  });

  it('names its version', () => {
    const { stdout } = spawnSync('terraform', terraform.version.args, {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], CHECKPOINT_DISABLE: '1' },
    });
    assert.match(terraform.version.read(stdout), /^\d+\.\d+\.\d+/);
  });
});
