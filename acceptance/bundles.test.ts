/**
 * The command line and the agent as one file each: copied to a folder with nothing else in it, they do a
 * whole deployment.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Agent } from '#contract/agents/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { startStackServer } from '../agent/testing/cloudformation/server.ts';
import { withOwnProgram } from '../agent/testing/cloudformation/with-own-program.ts';
import { scriptOf, startToolMirror, type ToolMirror } from '../agent/testing/tool-mirror.ts';
import { readExample } from '../tools/examples.ts';
import { findProgram, terraform, withoutTerraform } from './programs.ts';
import { allProcesses } from './recovery/processes.ts';
import { deployAndEnd, until, untilEnd, untilStatus, wholeLog } from './runs.ts';
import {
  makeRepository,
  type Repository,
  type RunningService,
  scratchFolder,
  startService,
} from './service.ts';

const bundler = fileURLToPath(new URL('../tools/bundle.ts', import.meta.url));
const manifest = fileURLToPath(new URL('../package.json', import.meta.url));
const kilobyte = 1024;

const greeting = `variable "greeting" { default = "hello" }
variable "shape" {
  type    = object({ sides = number })
  default = { sides = 0 }
}

resource "terraform_data" "it" { input = var.greeting }
output "greeting" { value = terraform_data.it.output }
output "sides" { value = var.shape.sides }
`;

/** Waits in its apply until the gate is there. */
const gated = `resource "terraform_data" "it" {
  provisioner "local-exec" { command = "echo at-the-gate; until [ -e gate ]; do sleep 0.05; done; echo through" }
}
`;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 120_000, ...options }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ status, stdout, stderr });
    });
  });
}

/** The runners that a process tree's agent has started: they are children of the process that adopted them. */
async function runnersOf(program: string): Promise<number[]> {
  return (await allProcesses())
    .filter(({ command }) => command.includes(`${program} runner`))
    .map(({ pid }) => pid);
}

describe('the bundles', { skip: withoutTerraform }, () => {
  let folder: string;
  let bare: string;
  let cli: string;
  let agentProgram: string;
  let service: RunningService;
  let repository: Repository;
  let mirror: ToolMirror;
  let agent: ChildProcess | undefined;
  let agentSecret: string;
  let agentLog = '';

  /** The bundled command line, in an empty folder and with nothing in its environment but the login. */
  const envarium = (...args: string[]) =>
    run(process.execPath, [cli, ...args], {
      cwd: bare,
      env: {
        ENVARIUM_API_URL: service.url,
        ENVARIUM_API_KEY: service.key,
        ENVARIUM_API_SECRET: service.secret,
      },
    });
  const json = async <T>(...args: string[]): Promise<T> => {
    const { status, stdout, stderr } = await envarium(...args, '--json');
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as T;
  };

  function startAgent(): ChildProcess {
    const child = spawn(process.execPath, [agentProgram], {
      cwd: bare,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH ?? '',
        ENVARIUM_URL: service.url,
        ENVARIUM_AGENT_KEY: 'ENVARIUM_DEFAULT',
        ENVARIUM_AGENT_SECRET: agentSecret,
        ENVARIUM_SPOOL_DIR: join(folder, 'spool'),
        ENVARIUM_WORK_DIR: join(folder, 'work'),
        ENVARIUM_TOOL_MIRROR_TERRAFORM: mirror.url,
        ENVARIUM_TOOL_MIRROR_KEY_TERRAFORM: join(folder, 'mirror.asc'),
        ENVARIUM_LOG_LEVEL: 'warn',
      },
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (agentLog += text));
    return child;
  }

  async function endAgent(signal: NodeJS.Signals): Promise<void> {
    if (!agent || agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = new Promise((resolve) => agent?.once('exit', resolve));
    agent.kill(signal);
    await ended;
  }

  before(async () => {
    folder = await scratchFolder();
    const built = await run(process.execPath, [bundler, join(folder, 'built')]);
    assert.equal(built.status, 0, built.stderr);
    bare = join(folder, 'a bare place');
    await cp(join(folder, 'built'), bare, { recursive: true });
    for (const name of ['LICENSES.txt', 'sbom.cdx.json', 'web'])
      await rm(join(bare, name), { recursive: true });
    [cli, agentProgram] = [join(bare, 'envarium.mjs'), join(bare, 'envarium-agent.mjs')];
    for (const file of [cli, agentProgram]) await chmod(file, 0o555);
    await chmod(bare, 0o555);
    service = await startService({ folder, settings: { ENVARIUM_BUILT_IN_AGENT: 'false' } });
    repository = await makeRepository(folder, 'infra', { 'main.tf': greeting, 'gated/main.tf': gated });
    ({ secret: agentSecret } = await service.client.call('createAgentSecret', {
      params: { agentKey: 'ENVARIUM_DEFAULT' },
    }));
    const versions = [
      { version: '0.13.7', content: scriptOf('0.13.7', terraform ?? '') },
      { version: '0.15.5', lie: 'other key' } as const,
    ];
    mirror = await startToolMirror('terraform', versions);
    await writeFile(join(folder, 'mirror.asc'), mirror.publicKey);
    agent = startAgent();
  });
  after(async () => {
    await endAgent('SIGTERM');
    await service?.[Symbol.asyncDispose]();
    await mirror?.[Symbol.asyncDispose]();
    await chmod(bare, 0o755);
  });

  const create = (name: string, ...more: string[]) =>
    envarium(
      'environment',
      'create',
      name,
      '--repository',
      repository.path,
      '--no-require-approval',
      ...more,
    );
  const named = (name: string) => json<Environment>('environment', 'show', name);
  /** Whether the apply of an environment's latest deployment has come to its gate. */
  const atGate = async (name: string) => {
    const id = (await named(name)).latestDeploymentLogId ?? '';
    await until(
      'the gate',
      async () =>
        (await readFile(join(folder, 'work', (await named(name)).id, 'tree', 'gated', 'main.tf')).catch(
          () => '',
        )) !== '',
    );
    for await (const event of service.client.stream('streamDeployment', {
      params: { id },
      signal: AbortSignal.timeout(60_000),
    }))
      if (event.event === 'log' && event.data.text?.includes('at-the-gate')) break;
    return id;
  };
  const openGate = async (name: string) =>
    writeFile(join(folder, 'work', (await named(name)).id, 'tree', 'gated', 'gate'), '');

  test('the bundles are of limited size, with their version and the licenses and bill of their contents', async () => {
    const built = join(folder, 'built');
    assert.deepEqual((await readdir(built)).toSorted(), [
      'LICENSES.txt',
      'envarium-agent.mjs',
      'envarium.mjs',
      'sbom.cdx.json',
      'web',
    ]);
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
    for (const [file, most] of [
      [cli, 600],
      [agentProgram, 8_000],
    ] as const) {
      const { size, mode } = await stat(join(built, file.slice(bare.length + 1)));
      assert.ok(size < most * kilobyte, `${file} has ${size} bytes`);
      assert.equal(mode & 0o111, 0o111, 'it can be started by its name');
      assert.equal((await run(process.execPath, [file, '--version'])).stdout, `${version}\n`);
      assert.doesNotMatch(
        await readFile(file, 'utf8'),
        new RegExp(fileURLToPath(new URL('..', import.meta.url))),
        'names no checkout',
      );
    }
    assert.match(await readFile(join(built, 'LICENSES.txt'), 'utf8'), /commander \d[^]*MIT/);
    assert.match(await readFile(join(built, 'sbom.cdx.json'), 'utf8'), /"CycloneDX"[^]*"commander"/);
  });

  test('an older Node gets one sentence that says what it lacks', async (context: TestContext) => {
    const node = await findProgram('node');
    const major =
      node === null ? Number.NaN : Number((await run(node, ['--version'])).stdout.slice(1).split('.')[0]);
    if (node === null || !(major < 22)) return context.skip('the PATH has no Node older than 22');
    for (const [file, sentence] of [
      [
        cli,
        /^The command line of Envarium needs Node 22 or later; this is Node \d+\.\d+\.\d+ \(.*node\)\.\n$/,
      ],
      [agentProgram, /^The agent of Envarium needs Node 24 or later; this is Node .*\n$/],
    ] as const) {
      const { status, stdout, stderr } = await run(node, [file]);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, sentence);
    }
  });

  test('the agent shows its usage, and refuses an unknown argument', async () => {
    assert.match(
      (await run(process.execPath, [agentProgram, '--help'])).stdout,
      /ENVARIUM_AGENT_SECRET_FILE/,
    );
    const refused = await run(process.execPath, [agentProgram, 'start']);
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /does not know "start"/);
    const unset = await run(process.execPath, [agentProgram], { env: {} });
    assert.equal(unset.status, 1);
    assert.match(unset.stderr, /ENVARIUM_URL is not set/);
  });

  test('the bundles run a whole deployment with HCL values, which the embedded parser reads', async () => {
    const created = await create('whole', '--var', 'greeting=good morning', '--follow');
    assert.equal(created.status, 0, `${created.stderr}${created.stdout}${agentLog}`);
    assert.match(created.stdout, /✔ tf:apply[^]*deploy SUCCESS in/);
    assert.equal((await envarium('outputs', '-e', 'whole', '--name', 'greeting')).stdout, 'good morning\n');
    const { id } = await named('whole');
    assert.equal(
      (
        await deployAndEnd(service.client, id, {
          userRequiresApproval: false,
          configurationChanges: [
            { name: 'shape', value: '{ sides = 5 }', type: 1, schema: { type: 'string', format: 'HCL' } },
          ],
        })
      ).output?.sides?.value,
      5,
    );
    const [registered] = await service.client.call('listAgents');
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
    assert.equal((registered as Agent | undefined)?.version, version);
  });

  test('a tool that is a part of the agent runs from its bundle', withOwnProgram, async () => {
    await using aws = await startStackServer();
    const files = readExample('cloudformation');
    const stack = await makeRepository(folder, 'stack', files);
    const access = Object.entries(aws.environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const template = ['--type', 'cloudformation', '--file-name', 'template.yaml'];
    const created = await envarium(
      ...['environment', 'create', 'stack', '--repository', stack.path, '--no-require-approval'],
      ...[...template, ...access, '--follow'],
    );
    assert.equal(created.status, 0, `${created.stderr}${created.stdout}${agentLog}`);
    assert.equal(aws.account.cloud.resources.size, 3);
  });

  test('a tool version that the machine lacks is downloaded, verified by its signature and unpacked', async () => {
    const fetched = await create('fetched', '--tool-version', '0.13.7', '--follow');
    assert.equal(fetched.status, 0, fetched.stdout + fetched.stderr);
    assert.match(fetched.stdout, /0\.13\.7/);
    const refused = await create('refused', '--tool-version', '0.15.5', '--follow');
    assert.equal(refused.status, 1);
    assert.match(refused.stdout, /signature|key/);
  });

  test('after a bundled agent is killed, the next one continues its runs', async () => {
    assert.equal((await create('adopted', '--path', 'gated')).status, 0);
    const id = await atGate('adopted');
    await endAgent('SIGKILL');
    const before = await runnersOf(agentProgram);
    assert.ok(before.length > 0, 'the runner outlives its agent');
    agent = startAgent();
    await openGate('adopted');
    const done = await untilEnd(service.client, id);
    assert.equal(done.resourceCount, 1);
    assert.equal((await wholeLog(service.client, id)).match(/at-the-gate\n/g)?.length, 1, 'it ran once');
  });

  test('after a bundled runner is killed during an apply, the deployment ends and the next one works', async () => {
    assert.equal((await create('lost', '--path', 'gated')).status, 0);
    const id = await atGate('lost');
    const tool = (await runnersOf(agentProgram)).map(String);
    const busy = await until('the runner that has the tool', async () => {
      for (const pid of tool) {
        const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
        const commands = await Promise.all(
          children
            .split(' ')
            .filter(Boolean)
            .map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
        );
        const isTool = (command: string) =>
          /terraform|bwrap|setpriv/.test(command) && !command.includes('tree-server');
        if (commands.some(isTool)) return Number(pid);
      }
      return null;
    });
    process.kill(busy, 'SIGKILL');
    const lost = await untilStatus(service.client, id);
    assert.match(lost.status, /FAILURE/);
    const again = await envarium('deploy', 'whole', '--var', 'greeting=still here', '--approve', '--follow');
    assert.equal(again.status, 0, again.stdout);
  });

  test('the bundled command line approves a waiting plan', async () => {
    const created = await envarium(
      'environment',
      'create',
      'asked',
      '--repository',
      repository.path,
      '--require-approval',
      '--follow',
    );
    assert.equal(created.status, 3, created.stderr);
    const id = (await named('asked')).latestDeploymentLogId ?? '';
    assert.equal((await envarium('approve', '--environment', 'asked')).status, 0);
    assert.equal((await untilEnd(service.client, id)).status, 'SUCCESS');
  });
});
