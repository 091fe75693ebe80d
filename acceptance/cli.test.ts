import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { DeploymentStreamEvent } from '#contract/feeds/shapes.ts';
import { cliProgram } from '../tools/programs/built-programs.ts';
import { commandLine, type TypedWords, wordsOf } from './command-line.ts';
import { withoutTerraform } from './programs.ts';
import { openGate, until } from './runs.ts';
import { makeRepository, type Repository, type RunningService, startService } from './service.ts';

const limitMilliseconds = 60_000;

const quick = `variable "greeting" {
  type    = string
  default = "hello"
}

variable "token" {
  type      = string
  sensitive = true
  default   = ""
}

resource "terraform_data" "server" {
  input = var.greeting
}

output "greeting" {
  value = terraform_data.server.output
}

output "length" {
  value = nonsensitive(length(var.token))
}

output "token" {
  value     = var.token
  sensitive = true
}
`;

/** Runs until it is interrupted, and says so in its log. */
const endless = `resource "terraform_data" "endless" {
  provisioner "local-exec" {
    command = "echo first-tick; sleep 300"
  }
}
`;

/** Counts, and waits half-way until the service was started again. */
const counting = `resource "terraform_data" "counting" {
  provisioner "local-exec" {
    command = "for i in 1 2 3 4 5 6 7 8; do echo tick-$i-of-8; until [ $i != 4 -o -e gate ]; do sleep 0.05; done; done"
  }
}
`;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let service: RunningService;
let repository: Repository;
let login: Record<string, string>;
let home: string;

const baseEnvironment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
});

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout(): string;
}

function start(
  args: readonly string[],
  options: { environment?: Record<string, string>; input?: string } = {},
): Started {
  const child = spawn(process.execPath, [cliProgram, ...args], {
    env: { ...baseEnvironment(), ...(options.environment ?? login) },
    stdio: 'pipe',
    timeout: limitMilliseconds,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(options.input ?? '');
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
  return { child, ended, stdout: () => stdout };
}

/** Commands in the process of the tests; the program itself is started for terminals, pipes and signals. */
const { envarium, json } = commandLine(() => service);

const create = (...typed: TypedWords) =>
  start(wordsOf`environment create ${wordsOf(...typed)} --repository ${repository.path}`).ended;

/** Has a terminal's width and colours, made by script(1). */
async function onTerminal(
  args: readonly string[],
  environment: Record<string, string> = {},
  answer?: { readonly to: string; readonly keys: string },
): Promise<Ended> {
  const words = [process.execPath, cliProgram, ...args]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  const command = `stty cols 80; exec ${words}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...baseEnvironment(), ...login, TERM: 'xterm', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: limitMilliseconds,
  });
  let stdout = '';
  let isAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isAnswered || answer === undefined || !stdout.includes(answer.to)) return;
    isAnswered = true;
    child.stdin.write(answer.keys);
  });
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, stdout, stderr: '' };
}

async function requireTerminal(context: TestContext): Promise<boolean> {
  const has = await promisify(execFile)('script', ['--version']).then(
    () => true,
    () => false,
  );
  if (!has) context.skip('script(1) of util-linux is not installed');
  return has;
}

describe('command line', { skip: withoutTerraform }, () => {
  before(async () => {
    service = await startService();
    home = service.folder;
    login = {
      ENVARIUM_API_URL: service.url,
      ENVARIUM_API_KEY: service.key,
      ENVARIUM_API_SECRET: service.secret,
    };
    repository = await makeRepository(service.folder, 'quick', {
      'main.tf': quick,
      'endless/main.tf': endless,
      'counting/main.tf': counting,
    });
  });
  after(() => service[Symbol.asyncDispose]());

  it('login reads the secret from standard input, stores it in a private file, and later commands use it', async () => {
    const environment = { ENVARIUM_CONFIG_FILE: join(home, 'login', 'config.json') };
    const args = ['login', '--api-url', service.url, '--api-key', service.key];
    const refused = await start(args, { environment, input: 'not the secret' }).ended;
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /does not accept this key and secret/);
    await assert.rejects(stat(environment.ENVARIUM_CONFIG_FILE), { code: 'ENOENT' });

    const done = await start(args, { environment, input: `${service.secret}\n` }).ended;
    assert.equal(done.status, 0, done.stderr);
    assert.ok(!done.stdout.includes(service.secret));
    assert.equal((await stat(environment.ENVARIUM_CONFIG_FILE)).mode & 0o777, 0o600);
    const list = await start(wordsOf`organization list --json`, { environment }).ended;
    assert.equal(list.status, 0, list.stderr);
    assert.equal((JSON.parse(list.stdout) as unknown[]).length, 1);

    const elsewhere = await start(wordsOf`organization list --api-url http://127.0.0.1:9`, {
      environment,
    }).ended;
    assert.equal(elsewhere.status, 2, 'the kept key is not sent to another address');
    assert.match(elsewhere.stderr, /used for nothing else/);
  });

  it('an environment is created and followed to its approval (status 3), approved, followed to the end, and its outputs shown', async () => {
    const secretFile = join(home, 'token');
    await writeFile(secretFile, 'a-secret-of-24-characters\n');
    const created =
      await create`journey --var ${'greeting=good morning'} --sensitive token=@${secretFile} --require-approval
        --follow`;
    assert.equal(created.status, 3, created.stderr);
    assert.match(
      created.stdout,
      /▸ tf:plan\n[^]*Plan: 1 to add, 0 to change, 0 to destroy\.\n[^]*✔ tf:plan \(\d+\.\d s\)\n/,
    );
    assert.doesNotMatch(created.stdout, /\u001b/, 'no colours in a pipe');
    assert.doesNotMatch(created.stdout, /a-secret-of-24/);
    const id = /envarium approve (\S+)/.exec(created.stdout)?.[1] ?? '';

    const approved = await envarium`approve ${id} --follow`;
    assert.equal(approved.status, 0, approved.stderr);
    assert.doesNotMatch(
      approved.stdout,
      /▸ tf:plan/,
      'what was shown before the approval is not shown again',
    );
    assert.match(approved.stdout, /Apply complete! Resources: 1 added[^]*✔ tf:apply/);
    assert.match(approved.stdout, /greeting +good morning\n[^]*deploy SUCCESS in \d+\.\d s\n$/);

    assert.deepEqual(Object.keys(await json`outputs ${id}`).toSorted(), ['greeting', 'length', 'token']);
    const hidden = await envarium`outputs -e journey --name token`;
    assert.deepEqual([hidden.status, hidden.stdout], [2, ''], 'a sensitive value is not printed');
    const shown = await envarium`outputs -e journey --name token --show-sensitive`;
    assert.equal(shown.stdout, 'a-secret-of-24-characters\n', shown.stderr);
    assert.equal((await envarium`outputs --environment journey --name greeting`).stdout, 'good morning\n');
    assert.equal((await envarium`outputs --environment journey --name length`).stdout, '25\n');
  });

  it('the log of each step is printed before the line with its duration', async () => {
    const { stdout, status } = await envarium`logs --environment journey --follow`;
    assert.equal(status, 0);
    const marks = stdout
      .split('\n')
      .flatMap((line) => /^([▸✔]) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? []);
    const steps = marks.filter((mark) => mark.startsWith('✔')).map((mark) => mark.slice(2));
    assert.deepEqual(
      marks,
      steps.flatMap((step) => (step === 'approval:wait' ? [`✔ ${step}`] : [`▸ ${step}`, `✔ ${step}`])),
    );
    assert.ok(steps.includes('tf:apply'));
  });

  it('logs prints one step, all steps, or JSON', async () => {
    const one = await envarium`logs -e journey --step tf:init`;
    assert.match(
      one.stdout,
      /^(The terraform init of .* is reused, .*\n)?Initializing the backend\.\.\.\n[^]*successfully initialized!\n/,
    );
    const all = await json<
      { step: { name: string }; log: { events: { message: string }[] } }[]
    >`logs -e journey`;
    const init = all.find(({ step }) => step.name === 'tf:init');
    assert.ok(init?.log.events.some(({ message }) => message.includes('successfully initialized!')));
    const unknown = await envarium`logs -e journey --step tf:nothing`;
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /no step "tf:nothing".*tf:init/);
  });

  it('JSON output holds exactly the objects of the API', async () => {
    const [environment] = await json<Environment[]>`environment list --name journey`;
    assert.ok(environment);
    assert.deepEqual(
      environment,
      await service.client.call('getEnvironment', { params: { id: environment.id } }),
    );
    assert.deepEqual(await json`environment show ${environment.id}`, environment);
    const deployments = await json<Deployment[]>`deployments list journey`;
    assert.deepEqual(
      deployments,
      await service.client.call('listDeployments', { params: { id: environment.id } }),
    );
    assert.deepEqual(await json`deployments show -e journey`, deployments[0]);
    assert.deepEqual(await json`project list`, await service.client.call('listProjects'));
    const locked = await json<{
      isLocked: boolean;
      reason: string;
    }>`environment lock journey --reason holidays`;
    assert.deepEqual([locked.isLocked, locked.reason], [true, 'holidays']);
    const refused = await envarium`deploy journey`;
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /locked \(holidays\): unlock it first/);
    assert.equal((await envarium`environment unlock journey`).status, 0);
  });

  it('following with JSON prints the deployment, one line per event, and the ended deployment', async () => {
    const { status, stdout, stderr } =
      await envarium`deploy journey --follow --json --var ${'greeting=good evening'} --comment ${'as JSON'}
        --approve`;
    assert.equal(status, 0, stderr);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; id?: string; data: Deployment });
    assert.deepEqual([lines[0]?.event, lines[0]?.data.comment], ['deployment', 'as JSON']);
    const last = lines.at(-1)?.data;
    assert.deepEqual(
      [last?.status, last?.output?.greeting?.value, last?.planSummary?.changed],
      ['SUCCESS', 'good evening', 1],
    );
    const streamed: DeploymentStreamEvent[] = [];
    for await (const event of service.client.stream('streamDeployment', { params: { id: last?.id ?? '' } }))
      streamed.push(event);
    const kinds = (events: readonly { event: string }[]) =>
      events.filter(({ event }) => event !== 'log').map(({ event }) => event);
    assert.deepEqual(kinds(lines.slice(1, -1)), kinds(streamed));
  });

  it('a terminal gets our colors and those of the log, and NO_COLOR turns both off', async (context) => {
    if (!(await requireTerminal(context))) return;
    const coloured = await onTerminal(wordsOf`logs -e journey --follow`);
    assert.equal(coloured.status, 0);
    assert.ok(coloured.stdout.includes('\u001b[1m\u001b[36m▸ tf:apply'), 'our own colours');
    assert.match(coloured.stdout, /\u001b\[1m\u001b\[32mApply complete!/, 'colours of the tool');
    const plain = await onTerminal(wordsOf`logs -e journey --follow`, { NO_COLOR: '1' });
    assert.doesNotMatch(plain.stdout, /\u001b/);
    const table = await onTerminal(wordsOf`deployments list journey`);
    assert.ok(
      table.stdout.split('\n').every((line) => line.replaceAll(/\u001b\[\d+m|\r/g, '').length <= 80),
      table.stdout,
    );
  });

  it('following an aborted deployment exits with 1, and its log is kept', async () => {
    const following = start(
      wordsOf`environment create endless --repository ${repository.path} --path endless --no-require-approval
        --follow`,
    );
    await until('the first line of the tool', () => following.stdout().includes('first-tick'));
    const aborted = await envarium`abort --environment endless`;
    assert.equal(aborted.status, 0, aborted.stderr);
    const { status, stdout } = await following.ended;
    assert.equal(status, 1);
    assert.match(stdout, /✖ tf:apply \(.* s\) CANCELLED\n[^]*deploy ABORTED in/);
    assert.match((await envarium`logs -e endless --step tf:apply`).stdout, /first-tick/);
    const again = await envarium`abort --environment endless`;
    assert.equal(again.status, 2, 'there is nothing left to abort');
  });

  it('Ctrl-C stops following with status 130 while the deployment continues', async () => {
    const following = start(wordsOf`deploy endless --follow`);
    await until('the first line of the tool', () => following.stdout().includes('first-tick'));
    following.child.kill('SIGINT');
    const { status, stderr } = await following.ended;
    assert.equal(status, 130);
    const id = /envarium abort (\S+)/.exec(stderr)?.[1] ?? '';
    assert.match(stderr, /the deployment continues/);
    assert.equal((await service.client.call('getDeployment', { params: { id } })).status, 'IN_PROGRESS');
    assert.equal((await envarium`abort ${id}`).status, 0);
    assert.equal((await envarium`logs ${id} --follow`).status, 1);
  });

  it('the command ends quietly when the reader of its output disappears', async () => {
    const { child } = start(wordsOf`environment list`);
    child.stdout?.destroy();
    let stderr = '';
    child.stderr?.on('data', (text: string) => (stderr += text));
    const status = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([status, stderr], [141, '']);
  });

  it('cancelling a waiting plan makes its follower exit with 1', async () => {
    assert.equal((await envarium`deploy journey --require-approval --var greeting=never --follow`).status, 3);
    assert.equal((await envarium`cancel --environment journey`).status, 0);
    const [cancelled] = await json<Deployment[]>`deployments list journey --status CANCELLED`;
    assert.equal((await envarium`logs ${cancelled?.id ?? ''} --follow`).status, 1);
  });

  it('following continues after a restart of the service, with every line exactly once', async () => {
    await create`counting --path counting --no-deploy`;
    const following = start(wordsOf`deploy counting --approve --follow`);
    await until('half of the ticks', () => following.stdout().includes('tick-4-of-8'));
    const [waiting] = await json<Environment[]>`environment list --name counting`;
    await service.stop();
    const { port } = new URL(service.url);
    const folder = service.folder;
    service = await startService({
      folder,
      settings: { ENVARIUM_PORT: port, ENVARIUM_BOOTSTRAP_API_SECRET: service.secret },
    });
    await openGate(service, waiting?.id ?? '', 'counting/gate');
    const { status, stdout, stderr } = await following.ended;
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.deepEqual(
      stdout.match(/^.*\): tick-\d-of-8$/gm)?.map((line) => line.replace(/^.*: /, '')),
      [1, 2, 3, 4, 5, 6, 7, 8].map((tick) => `tick-${tick}-of-8`),
    );
  });

  it('a malformed call exits with status 2 and names the mistake', async () => {
    await create`twice --no-deploy`;
    await create`twice --no-deploy`;
    const ids = (await json<Environment[]>`environment list --name twice`).map(({ id }) => id);
    const ambiguous = await envarium`deploy twice`;
    assert.equal(ambiguous.status, 2);
    assert.ok(ids.length === 2 && ids.every((id) => ambiguous.stderr.includes(id)), ambiguous.stderr);

    const wrong: [args: string[], message: RegExp][] = [
      [['deploy', 'nowhere'], /no environment "nowhere"/],
      [['approve', 'journey'], /--environment journey/],
      [['approve', '00000000-0000-7000-8000-000000000000'], /No deployment with id/],
      [['deploy', 'journey', '--type', 'nonsense'], /--type must be one of/],
      [['deploy', 'journey', '--var', 'x'], /--var must have the form name=value/],
      [['deploy', 'journey', '--nonsense'], /unknown option '--nonsense'/],
      [['deploy'], /missing required argument 'environment'/],
      [['environment', 'list', '--api-url', 'http://127.0.0.1:9'], /cannot be reached/],
      [['project', 'list', '--api-key', 'somebody'], /envarium login/],
    ];
    for (const [args, message] of wrong) {
      const { status, stdout, stderr } = await envarium`${args}`;
      assert.deepEqual([status, stdout], [2, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n {4}at /, 'no stack');
    }
  });

  it('projects are created, and environments updated', async () => {
    const project = await json<{ id: string; name: string }>`project create inner --parent Default`;
    assert.equal(
      (await envarium`environment create placed --repository ${repository.path} --project inner --no-deploy`)
        .status,
      0,
    );
    const updated = await json<Environment>`environment update placed --name renamed --no-require-approval`;
    assert.deepEqual(
      [updated.name, updated.requiresApproval, updated.projectId],
      ['renamed', false, project.id],
    );
    const unsaid = await create`unplaced --no-deploy`;
    assert.equal(unsaid.status, 2);
    assert.match(unsaid.stderr, /2 projects: choose one with --project/);
  });

  it('destroy asks for confirmation on a terminal, and leaves no outputs', async (context) => {
    await envarium`environment update journey --no-require-approval`;
    if (await requireTerminal(context)) {
      const question = { to: 'Destroy everything', keys: 'n' };
      const refused = await onTerminal(wordsOf`destroy journey`, {}, question);
      assert.equal(refused.status, 2, refused.stdout);
      assert.match(refused.stdout, /Nothing was destroyed/);
    }
    const destroyed = await envarium`destroy journey --follow`;
    assert.equal(destroyed.status, 0, destroyed.stderr);
    assert.match(destroyed.stdout, /destroy SUCCESS in/);
    assert.equal((await json<Environment>`environment show journey`).status, 'INACTIVE');
    assert.deepEqual(await json`outputs -e journey`, {});
    assert.equal((await envarium`destroy journey`).status, 2, 'there is nothing left to destroy');
  });

  it('version and usage are shown with status 0, without a service', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    const result = await start(wordsOf`--version`, { environment: {} }).ended;
    assert.deepEqual([result.status, result.stdout], [0, `${version}\n`]);
    const help = await start(wordsOf`deploy --help`, { environment: {} }).ended;
    assert.equal(help.status, 0);
    assert.match(help.stdout, /--follow[^]*ENVARIUM_API_URL/);
  });
});
