/** The drivers' commands on the real tools, carried out one by one as a runner would. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import { toolboxProgram, withToolbox } from '../../../../tools/toolbox/places.ts';
import { jobOf, treeOf } from '../../../testing/driver-job.ts';
import { type Command, onlyCommands } from '../interface/command.ts';
import type { DriverContext, ProgressEvent } from '../interface/driver.ts';
import { opentofu } from '../opentofu/driver.ts';
import { terraform } from './driver.ts';

const hasTerraform = spawnSync('terraform', ['version']).status === 0;
const tools = [
  { driver: terraform, program: 'terraform', skip: hasTerraform ? false : 'terraform is not on the PATH' },
  { driver: opentofu, program: toolboxProgram('opentofu') ?? 'tofu', ...withToolbox('opentofu') },
] as const;

/**
 * Cases of one tool, and why the other one need not run them: one code of both drivers decides there, and what it
 * passes to the tool is proved of both by other cases. Both run all that depends on the tool: its syntax, its output,
 * its plans and states, and its journey (`acceptance/journey`).
 */
const ofOneTool = {
  'a local backend': 'overrides of both take its place, as in the case of later overrides',
  'another init':
    'the record of init is compared with what was requested; both write it, and all cases read it',
  references: 'they are resolved before the tool starts, which gets the text in its environment',
  'a backend of the code':
    'settings become arguments of init, which the code of the other backend needs, too',
  'targets of variables': 'they become the arguments that targets of a deployment do, and both get those',
  'no workspace': 'a command that shows the workspace replaces the one that selects it',
  'no state': 'nothing is stored, and the commands are those of a backend of the code',
  'arguments of init': 'they are left out before an apply, whose init both run',
} as const;
const firstTool = tools.find(({ skip }) => skip === false) ?? tools[0];

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

const variable = (name: string, value: string, format?: 'HCL' | 'JSON') => ({
  name,
  value,
  isSensitive: false,
  ...(format ? { format } : {}),
});

/** A place that keeps one state over http. */
async function startStateServer(test: TestContext) {
  let stored: Buffer | null = null;
  let authorization: string | undefined;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    authorization = request.headers.authorization;
    if (request.method === 'POST') stored = body;
    if (request.method === 'GET' && !stored) response.statusCode = 204;
    response.end(request.method === 'GET' ? stored : undefined);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  test.after(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { address, stored: () => stored, authorization: () => authorization };
}

/** @returns a CLI configuration with which the real time provider is installed from a folder */
async function withTimeProvider(test: TestContext): Promise<string> {
  const folder = await folderFor(test);
  const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  for (const host of ['registry.terraform.io', 'registry.opentofu.org']) {
    const place = join(folder, 'mirror', host, 'hashicorp', 'time', '0.14.2', platform);
    await mkdir(place, { recursive: true });
    await symlink(toolboxProgram('provider-time') ?? '', join(place, 'terraform-provider-time_v0.14.2'));
  }
  const file = join(folder, 'cli.tfrc');
  const mirror = `filesystem_mirror { path = "${join(folder, 'mirror')}" }`;
  await writeFile(file, `provider_installation {\n  ${mirror}\n}\n`);
  return file;
}

for (const { driver, program, skip } of tools)
  describe(`the ${driver.type} driver`, { skip }, () => {
    const [name] = driver.programs;
    const itOnce = (
      _case: keyof typeof ofOneTool,
      title: string,
      test: (t: TestContext) => Promise<void>,
    ) => {
      if (driver === firstTool.driver) it(title, test);
    };

    /** A configuration with a state folder next to it. */
    async function configuration(
      test: TestContext,
      files: Record<string, string>,
      changes: Partial<Job> = {},
    ) {
      const folder = await folderFor(test);
      const configurationFolder = join(folder, 'tree', 'network');
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(configurationFolder, name)), { recursive: true });
        await writeFile(join(configurationFolder, name), text);
      }
      const tree = treeOf(configurationFolder);
      const job = jobOf(changes);
      const bare = {
        job,
        configurationFolder,
        planFile: join(folder, 'plan'),
        temporaryFolder: folder,
        tree,
      };
      const stateFolder = (await driver.state!.isOurs(bare)) ? join(folder, 'state') : null;
      if (stateFolder) await mkdir(stateFolder, { recursive: true });
      const context: DriverContext = { ...bare, stateFolder };
      return {
        context,
        withJob: (next: Partial<Job>): DriverContext => ({ ...context, job: { ...job, ...next } }),
      };
    }

    async function run(context: DriverContext, command: Command): Promise<Ended> {
      const env = {
        PATH: process.env['PATH'],
        ...runEnvironment(context.job),
        ...driver.environment(context),
        ...command.environment,
      };
      const child = spawn(program, command.args, {
        cwd: context.configurationFolder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
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
      for (const file of await driver.files(context)) {
        await mkdir(dirname(join(context.configurationFolder, file.name)), { recursive: true });
        await writeFile(join(context.configurationFolder, file.name), file.content);
      }
      const ended = await runAll(context, onlyCommands(await driver.prepare(context)));
      assert.equal(await driver.state!.file!.checkPrepared(context), null);
      return ended;
    }

    async function planned(context: DriverContext) {
      const ended = await runAll(context, driver.plan(context));
      const captured = [...ended.values()]
        .filter(({ command }) => command.captureTo)
        .map(({ command, output }) => [command.captureTo!, output] as const);
      return { ended, reading: await driver.readPlan(context, new Map(captured)) };
    }

    async function deployed(context: DriverContext) {
      await prepared(context);
      const { reading } = await planned(context);
      const ended = await runAll(context, driver.apply(context));
      return { reading, ended };
    }

    async function stateOf(context: DriverContext) {
      return driver.state!.read(
        await readFile(join(context.stateFolder!, driver.state!.file!.fileName(context))),
      );
    }

    describe('keeps a state of ours', () => {
      const code =
        'variable "size" {}\nresource "terraform_data" "box" {\n  count = var.size\n  input = terraform.workspace\n}\noutput "boxes" {\n  value = terraform_data.box[*].output\n}\n';

      const liveWith = (backend: string) => async (test: TestContext) => {
        const one = { environment: [], terraform: [variable('size', '1')] };
        const { context, withJob } = await configuration(
          test,
          { 'main.tf': code + backend },
          { variables: one },
        );
        const first = await deployed(context);
        assert.deepEqual(first.reading.planSummary, { added: 1, changed: 0, destroyed: 0 });
        const state = await stateOf(context);
        assert.deepEqual(state.outputs, {
          boxes: { value: ['network-abc123'], type: ['tuple', ['string']], sensitive: false },
        });
        assert.deepEqual(state.resources, [
          { provider: 'terraform', type: 'terraform_data', name: 'box[0]', moduleName: '' },
        ]);

        const two = await deployed(
          withJob({ variables: { environment: [], terraform: [variable('size', '2', 'HCL')] } }),
        );
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
      };
      it('where code without a backend is deployed, changed and destroyed', liveWith(''));
      const local = 'terraform {\n  backend "local" {\n    path = "elsewhere.tfstate"\n  }\n}\n';
      itOnce(
        'a local backend',
        'where code with a local backend is deployed, changed and destroyed',
        liveWith(local),
      );

      it('for the workspace default and against a cloud block and later overrides', async (test) => {
        const files = {
          'main.tf':
            'terraform {\n  cloud {\n    organization = "x"\n  }\n}\nresource "terraform_data" "a" {}\n',
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
        assert.equal((await driver.warnings(context)).length, 1);
        const { reading } = await deployed(context);
        assert.equal(reading.planSummary.added, 1);
        assert.notEqual((await stateOf(context)).lineage, 'a');
      });

      itOnce('another init', 'and says so when init set up something else', async (test) => {
        const variables = {
          environment: [variable('TF_CLI_ARGS_init', '-backend-config=path=elsewhere.tfstate')],
          terraform: [],
        };
        const { context } = await configuration(
          test,
          { 'main.tf': 'resource "terraform_data" "a" {}\n' },
          { variables },
        );
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
        await runAll(applying, driver.apply(applying));
        assert.equal((await stateOf(context)).resourceCount, 1);
      });
    });

    describe("leaves the state to the code's own backend", () => {
      it('and reads outputs and resources from there', async (test) => {
        const { address } = await startStateServer(test);
        const { context } = await configuration(test, {
          'main.tf': `terraform {\n  backend "http" {\n    address = "${address}"\n  }\n}\nresource "terraform_data" "a" {}\noutput "id" {\n  value = terraform_data.a.id\n}\n`,
        });
        assert.equal(context.stateFolder, null);
        const { ended } = await deployed(context);
        const state = driver.state!.read(ended.get(`${name} state pull`)!.output);
        assert.equal(state.resourceCount, 1);
        assert.match(String(state.outputs['id']?.value), /^[0-9a-f-]{36}$/);
      });

      it('and selects the workspace where the backend knows workspaces', async (test) => {
        const { context } = await configuration(test, { 'main.tf': 'terraform {\n  backend "s3" {}\n}\n' });
        const labels = onlyCommands(await driver.prepare(context)).map((command) => command.label);
        assert.deepEqual(labels, [`${name} init`, `${name} workspace select`]);
        await writeFile(join(context.configurationFolder, 'main.tf'), 'resource "terraform_data" "a" {}\n');
        const [init, select] = onlyCommands(await driver.prepare(context));
        await runAll(context, [init!, select!]);
        assert.equal(
          (await run(context, { ...select!, args: ['workspace', 'show'] })).output.toString().trim(),
          'network-abc123',
        );
      });
    });

    describe('is reached by variables', () => {
      it('literally, in every format', async (test) => {
        const nasty = 'q" \' ${path.module} %{ if } $${x} \\ \n\t é😀 \u2028 </x> ';
        const long = 'x'.repeat(1_048_576);
        const code = ['text', 'json', 'hcl', 'long']
          .map(
            (name) => `variable "${name}" {\n  type = any\n}\noutput "${name}" {\n  value = var.${name}\n}\n`,
          )
          .join('');
        const hcl =
          '{\n  list = ["$${a}", <<-E\n    two\n    lines\n  E\n  ]\n  number = -1.5\n  nothing = null\n}';
        const variables = {
          environment: [],
          terraform: [
            variable('text', nasty),
            variable('json', '{"n": 12345678901234567890, "s": "${x}"}', 'JSON'),
            variable('hcl', hcl, 'HCL'),
            variable('long', long),
          ],
        };
        const { context } = await configuration(
          test,
          {
            'main.tf': code,
            'aaa.auto.tfvars': 'text = "theirs"\n',
            'zz.auto.tfvars': 'text = "theirs"\n',
            'zzz.auto.tfvars.json': '{ "text": "theirs" }',
          },
          { variables },
        );
        await deployed(context);
        const { outputs } = await stateOf(context);
        assert.equal(outputs['text']?.value, nasty);
        assert.equal(outputs['long']?.value, long);
        assert.deepEqual(outputs['hcl']?.value, {
          list: ['${a}', 'two\nlines\n'],
          number: -1.5,
          nothing: null,
        });
        const state = await readFile(
          join(context.stateFolder!, driver.state!.file!.fileName(context)),
          'utf8',
        );
        assert.match(state, /"n": 12345678901234567890/);
      });

      itOnce('references', 'of type 0 by the environment, with references resolved', async (test) => {
        const code = 'variable "who" {}\noutput "who" {\n  value = var.who\n}\n';
        const variables = {
          environment: [
            variable('TF_VAR_who', 'env ${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_UNKNOWN} ${HOME}'),
          ],
          terraform: [],
        };
        const { context } = await configuration(
          test,
          { 'main.tf': code },
          { variables, systemVariables: { ENVARIUM_ENVIRONMENT_NAME: 'net ${ENVARIUM_ENVIRONMENT_NAME}' } },
        );
        await deployed(context);
        assert.equal(
          (await stateOf(context)).outputs['who']?.value,
          'env net ${ENVARIUM_ENVIRONMENT_NAME} ${ENVARIUM_UNKNOWN} ${HOME}',
        );
      });
    });

    describe('is understood while it works', () => {
      it('is read as progress, and its last error as the message', async (test) => {
        const code =
          'resource "terraform_data" "good" {\n  for_each = toset(["a.b", "c\\"]: Creating..."])\n}\nresource "terraform_data" "bad" {\n  depends_on = [terraform_data.good]\n  provisioner "local-exec" {\n    command = "echo terraform_data.fake: Creating...; exit 3"\n  }\n}\n';
        const { context } = await configuration(test, { 'main.tf': code });
        await prepared(context);
        await planned(context);
        const { code: status, output } = await run(context, driver.apply(context)[0]!);
        assert.equal(status, 1);
        assert.match(output.toString(), /\x1b\[1mterraform_data/, 'colours are kept');
        const events = terraform
          .progress!.fromLog()
          .read(output)
          .map((event: ProgressEvent) => `${event.status} ${event.address}`);
        assert.deepEqual(events.sort(), [
          'done terraform_data.good["a.b"]',
          'done terraform_data.good["c\\"]: Creating..."]',
          'failed terraform_data.bad',
          'started terraform_data.bad',
          'started terraform_data.good["a.b"]',
          'started terraform_data.good["c\\"]: Creating..."]',
        ]);
        assert.match(
          driver.reason(output.toString())!,
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
        const init = await run(context, onlyCommands(await driver.prepare(context))[0]!);
        assert.equal(init.code, 1);
        assert.match(
          driver.reason(init.output.toString())!,
          /^Error: Unclosed configuration block \(and 1 more error\)\n[^]*main.tf line 1/,
        );
      });

      it('a refresh shows targets and drift', async (test) => {
        const code = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n';
        const { context, withJob } = await configuration(
          test,
          { 'main.tf': code },
          { targets: ['terraform_data.a'] },
        );
        const { reading } = await deployed(context);
        assert.deepEqual(
          reading.plan.resourceChanges.map((row) => row.path),
          ['terraform_data.a'],
        );
        const drift = await planned(withJob({ type: 'driftDetection', targets: [] }));
        assert.deepEqual(
          [...drift.ended.keys()],
          [`${name} plan -refresh-only`, `${name} show (refresh-only)`, `${name} plan`, `${name} show`],
        );
        assert.deepEqual(
          drift.reading.plan.resourceChanges.map((row) => [row.path, row.driftByCloud]),
          [['terraform_data.b', undefined]],
        );
        const whole = withJob({ targets: [] });
        await planned(whole);
        await runAll(whole, driver.apply(whole));
        assert.equal(
          (await planned(withJob({ type: 'driftDetection', targets: [] }))).reading.hasChanges,
          false,
        );
      });

      it(
        'takes a refreshed attribute for drift only where the plan changes it',
        withToolbox('provider-time'),
        async (test) => {
          const provider =
            'terraform {\n  required_providers {\n    time = { source = "hashicorp/time" }\n  }\n}\n';
          const code = `${provider}resource "time_rotating" "key" { rotation_years = 1 }\n`;
          const { context: bare, withJob } = await configuration(test, { 'main.tf': code });
          const cliConfigurationFile = await withTimeProvider(test);
          const context = { ...bare, cliConfigurationFile };
          const looking = { ...withJob({ type: 'driftDetection' }), cliConfigurationFile };
          const found = async () => {
            const { plan, hasResourceChanges } = (await planned(looking)).reading;
            const rows = (each: typeof plan.resourceChanges = []) =>
              each.map((row) => [row.path, row.action, row.driftByCloud]);
            return { hasResourceChanges, changes: rows(plan.resourceChanges), settled: rows(plan.settled) };
          };
          await deployed(context);
          const nothing = { hasResourceChanges: false, changes: [], settled: [] };
          assert.deepEqual(await found(), nothing);
          // The provider drops a key whose time has passed from the state.
          const file = join(context.stateFolder!, driver.state!.file!.fileName(context));
          const state = await readFile(file, 'utf8');
          await writeFile(
            file,
            state.replace(/"rotation_rfc3339": "[^"]+"/, '"rotation_rfc3339": "2020-01-01T00:00:00Z"'),
          );
          assert.deepEqual(await found(), {
            hasResourceChanges: true,
            changes: [['time_rotating.key', 'create', true]],
            settled: [],
          });
          await writeFile(join(context.configurationFolder, 'main.tf'), provider);
          assert.deepEqual(await found(), { ...nothing, settled: [['time_rotating.key', 'delete', true]] });
          await planned(context);
          await runAll(context, driver.apply(context));
          assert.deepEqual(await found(), nothing, 'the apply stored what had settled');
        },
      );

      it('names its version', () => {
        const { versionArguments, readVersion } = toolFacts(driver.type)!.program;
        const { stdout } = spawnSync(program, versionArguments, {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'], CHECKPOINT_DISABLE: '1' },
        });
        assert.match(readVersion(stdout), /^\d+\.\d+\.\d+/);
      });
    });

    describe('is changed by variables of its run', () => {
      const environmentOf = (values: Record<string, string>) => ({
        environment: Object.entries(values).map(([key, value]) => variable(key, value)),
        terraform: [],
      });
      const code =
        'variable "a" {\n  default = "none"\n}\nvariable "b" {\n  default = "none"\n}\nresource "terraform_data" "one" {}\nresource "terraform_data" "two" {}\noutput "said" {\n  value = "${var.a}, ${var.b}, ${terraform.workspace}"\n}\n';

      it('which bring files with values and arguments, and keep their values out of the list of arguments', async (test) => {
        const variables = environmentOf({
          ENVARIUM_TERRAFORM_CONFIG_FILE_PATH: 'first.tfvars,../common.tfvars',
          ENVARIUM_CLI_ARGS_PLAN: `-var 'b=from the; arguments' -parallelism=3`,
          ENVARIUM_CLI_ARGS_APPLY: '-parallelism=1',
          TF_CLI_ARGS_plan: '-var=a=beaten -lock=false',
        });
        variables.terraform.push(variable('a', 'of the environment') as never);
        const files = {
          'main.tf': code,
          'first.tfvars': 'a = "first"\nb = "first"\n',
          '../common.tfvars': 'a = "common"\n',
        };
        const { context } = await configuration(test, files, {
          variables,
          source: { ...jobOf().source, path: 'network' },
        });
        assert.deepEqual(driver.refusals(context.job), []);
        await deployed(context);
        assert.equal(
          (await stateOf(context)).outputs['said']?.value,
          'common, from the; arguments, network-abc123',
        );
        const commands = [...driver.plan(context), ...driver.apply(context)];
        assert.ok(commands.every(({ args }) => !args.join(' ').includes('arguments')));
      });

      it('which repeat values for the apply, where those of the plan still count', async (test) => {
        const variables = environmentOf({
          ENVARIUM_CLI_ARGS_PLAN: '-var a=small -var a=planned',
          ENVARIUM_CLI_ARGS_APPLY: driver === opentofu ? '-var a=planned -var=a=small' : '-var a=planned',
        });
        const code =
          'variable "a" {\n  default = "none"\n}\nresource "terraform_data" "one" {\n  input = timestamp()\n}\noutput "said" {\n  value = "${terraform_data.one.id == "" ? "" : var.a}"\n}\n';
        const { context } = await configuration(test, { 'main.tf': code }, { variables });
        assert.deepEqual(driver.refusals(context.job), []);
        await deployed(context);
        assert.equal((await stateOf(context)).outputs['said']?.value, 'planned');
      });

      itOnce(
        'targets of variables',
        'which name targets, unless the deployment does itself or destroys',
        async (test) => {
          const variables = environmentOf({ ENVARIUM_TERRAFORM_TARGET: 'terraform_data.one' });
          const { context, withJob } = await configuration(test, { 'main.tf': code }, { variables });
          const { reading } = await deployed(context);
          const paths = (from: typeof reading) => from.plan.resourceChanges.map((row) => row.path);
          assert.deepEqual(paths(reading), ['terraform_data.one']);
          const own = await deployed(withJob({ variables, targets: ['terraform_data.two'] }));
          assert.deepEqual(paths(own.reading), ['terraform_data.two']);
          const destroying = withJob({ variables, type: 'destroy' });
          assert.match((await driver.warnings(destroying)).join(), /ENVARIUM_TERRAFORM_TARGET is not used/);
          assert.deepEqual(paths((await deployed(destroying)).reading).toSorted(), [
            'terraform_data.one',
            'terraform_data.two',
          ]);
        },
      );

      itOnce(
        'a backend of the code',
        "which complete the code's own backend, and leave ours alone with a warning",
        async (test) => {
          const backend = await startStateServer(test);
          const variables = environmentOf({
            ENVARIUM_TERRAFORM_BACKEND_CONFIG: `address=${backend.address},username=me,more.tfbackend`,
          });
          const files = {
            'main.tf': `terraform {\n  backend "http" {}\n}\n${code}`,
            'more.tfbackend': 'password = "secret"\n',
          };
          const { context } = await configuration(test, files, { variables });
          assert.deepEqual(await driver.warnings(context), []);
          await deployed(context);
          assert.match(backend.stored()?.toString() ?? '', /"said"/);
          assert.equal(backend.authorization(), `Basic ${Buffer.from('me:secret').toString('base64')}`);
          const kept = await configuration(test, files, { variables, state: { isForced: true } });
          assert.match(
            (await driver.warnings(kept.context)).join(),
            /ENVARIUM_TERRAFORM_BACKEND_CONFIG is not used/,
          );
          await deployed(kept.context);
          assert.equal((await stateOf(kept.context)).resourceCount, 2);
        },
      );

      itOnce('no workspace', 'which leave the workspace as it is', async (test) => {
        const variables = environmentOf({ ENVARIUM_SKIP_WORKSPACE: 'true' });
        const { context } = await configuration(test, { 'main.tf': code }, { variables });
        await deployed(context);
        assert.equal(driver.state!.file!.fileName(context), 'terraform.tfstate');
        assert.equal((await stateOf(context)).outputs['said']?.value, 'none, none, default');
        const elsewhere = await configuration(
          test,
          { 'main.tf': 'terraform {\n  backend "s3" {}\n}\n' },
          { variables },
        );
        const labels = onlyCommands(await driver.prepare(elsewhere.context)).map((command) => command.label);
        assert.deepEqual(labels, [`${name} init`, `${name} workspace show`]);
      });

      itOnce('no state', 'which keep no state, but never of an environment that has one', async (test) => {
        const variables = environmentOf({ ENVARIUM_IGNORE_STATE: 'true' });
        const { context, withJob } = await configuration(test, { 'main.tf': code }, { variables });
        assert.equal(context.stateFolder, null);
        assert.match((await driver.warnings(context)).join(), /the state of this run is not stored/);
        const { ended } = await deployed(context);
        const state = driver.state!.read(ended.get(`${name} state pull`)!.output);
        assert.equal(state.outputs['said']?.value, 'none, none, network-abc123');
        const current = { stateVersionId: 'v', serial: 1, lineage: 'l', sha256: 's' };
        for (const refused of [{ isForced: true }, { isForced: false, current }]) {
          const [text, ...more] = driver.refusals(withJob({ variables, state: refused }).job);
          assert.match(text ?? '', /^ENVARIUM_IGNORE_STATE/);
          assert.deepEqual(more, []);
        }
      });

      itOnce(
        'arguments of init',
        'which must not hinder an apply on a tree that is initialised again',
        async (test) => {
          const variables = environmentOf({ TF_CLI_ARGS_init: '-upgrade -no-color' });
          const { context, withJob } = await configuration(test, { 'main.tf': code }, { variables });
          await prepared(context);
          await planned(context);
          await rm(join(context.configurationFolder, '.terraform'), { recursive: true });
          const applying = withJob({ phase: 'apply', variables });
          await prepared(applying);
          await runAll(applying, driver.apply(applying));
          assert.equal((await stateOf(context)).resourceCount, 2);
        },
      );

      it('and refuses those that would lose something, before anything runs', () => {
        for (const [key, value] of [
          ['TF_CLI_ARGS_apply', '-state-out=elsewhere'],
          ['TF_CLI_ARGS_init', '-backend=false'],
          ['TF_WORKSPACE', 'other'],
          ['TF_DATA_DIR', '/tmp'],
          ['ENVARIUM_CLI_ARGS_PLAN', '-out=elsewhere'],
          ['ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', '../outside.tfvars'],
          ['TF_CLI_ARGS_apply', '-var a=huge'],
          ['ENVARIUM_CLI_ARGS_APPLY', '--var-file=huge.tfvars'],
          ['TF_VAR_a', '${ENVARIUM_REVIEWER_NAME}'],
        ] as const) {
          const [text, ...more] = driver.refusals(jobOf({ variables: environmentOf({ [key]: value }) }));
          assert.ok(text?.startsWith(key), `${key}: ${text}`);
          assert.deepEqual(more, []);
        }
        // The system variables of a run are its environment too.
        assert.equal(
          driver.refusals(jobOf({ systemVariables: { ENVARIUM_CLI_ARGS_APPLY: '-state=x' } })).length,
          1,
        );
      });
    });

    it('keeps its state whatever overrides the repository brings', async (test) => {
      const elsewhere = (path: string) => `{"terraform": {"backend": {"local": {"path": "${path}"}}}}`;
      const files = {
        'main.tf': 'resource "terraform_data" "a" {}\n',
        'zzzz_override.tf': 'terraform {\n  backend "local" {\n    path = "one.tfstate"\n  }\n}\n',
        'zzzz_envarium_override.tf.json': elsewhere('two.tfstate'),
        'zzz_envarium_override.tf.json': elsewhere('three.tfstate'),
        'zzz_envarium_override.tofu.json': elsewhere('four.tfstate'),
        'zzzzz_envarium_override.tofu.json': elsewhere('five.tfstate'),
      };
      const { context } = await configuration(test, files);
      await deployed(context);
      assert.equal((await stateOf(context)).resourceCount, 1);
      const left = (await readdir(context.configurationFolder)).filter((entry) => entry.endsWith('.tfstate'));
      assert.deepEqual(left, []);
    });

    if (driver !== opentofu) return;

    it('plans a replacement that leaves the old object alone, which destroys nothing', async (test) => {
      const code = (trigger: string) =>
        `resource "terraform_data" "a" {\n  triggers_replace = ["${trigger}"]\n  lifecycle {\n    destroy = false\n  }\n}\n`;
      const { context } = await configuration(test, { 'main.tf': code('one') });
      await deployed(context);
      await writeFile(join(context.configurationFolder, 'main.tf'), code('two'));
      const { plan, planSummary } = (await planned(context)).reading;
      assert.deepEqual(planSummary, { added: 1, changed: 0, destroyed: 0, forgotten: 1 });
      assert.deepEqual(
        plan.resourceChanges.map(({ action, kind }) => [action, kind]),
        [['create', 'forget']],
      );
    });

    it('keeps a state that its own code encrypts, and reads it by the tool', async (test) => {
      const encryption =
        'variable "passphrase" {\n  sensitive = true\n}\nterraform {\n  encryption {\n    key_provider "pbkdf2" "key" {\n      passphrase = var.passphrase\n    }\n    method "aes_gcm" "sealed" {\n      keys = key_provider.pbkdf2.key\n    }\n    state {\n      method   = method.aes_gcm.sealed\n      enforced = true\n    }\n    plan {\n      method   = method.aes_gcm.sealed\n      enforced = true\n    }\n  }\n}\n';
      const code = `${encryption}resource "terraform_data" "a" {}\noutput "kept" {\n  value = terraform_data.a.id\n}\n`;
      const variables = {
        environment: [],
        terraform: [variable('passphrase', 'correct horse battery staple')],
      };
      const { context } = await configuration(test, { 'main.tf': code }, { variables });
      const { ended, reading } = await deployed(context);
      assert.equal(reading.planSummary.added, 1);
      const sealed = await stateOf(context);
      assert.equal(sealed.isEncrypted, true);
      assert.deepEqual([sealed.resources, sealed.outputs], [[], {}]);
      const pulled = driver.state!.read(ended.get(`${name} state pull`)!.output);
      assert.deepEqual(
        [pulled.lineage, pulled.serial, pulled.resourceCount],
        [sealed.lineage, sealed.serial, 1],
      );
      assert.ok('kept' in pulled.outputs);
      assert.equal((await planned(context)).reading.hasChanges, false);
    });

    it('finds variables of files where they choose a module', async (test) => {
      const files = {
        'main.tofu':
          'variable "which" {\n  type = string\n}\nmodule "chosen" {\n  source = var.which\n}\noutput "chosen" {\n  value = module.chosen.name\n}\n',
        'main.tf': 'this is for another tool',
        'one/main.tf': 'output "name" {\n  value = "one"\n}\n',
        'which.tfvars': 'which = "./one"\n',
      };
      const environment = [variable('ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', 'which.tfvars')];
      const { context } = await configuration(test, files, { variables: { environment, terraform: [] } });
      await deployed(context);
      assert.equal((await stateOf(context)).outputs['chosen']?.value, 'one');
    });

    it('tells its progress in a file of its own', async (test) => {
      const { context } = await configuration(test, { 'main.tf': 'resource "terraform_data" "a" {}\n' });
      await prepared(context);
      await planned(context);
      const [applying] = driver.apply(context);
      await run(context, applying!);
      const events = driver.progress!.fromFile!().read(await readFile(applying!.eventFile!));
      assert.deepEqual(
        events.map(({ status, action, address }) => [status, action, address]),
        [
          ['started', 'create', 'terraform_data.a'],
          ['done', 'create', 'terraform_data.a'],
        ],
      );
    });
  });
