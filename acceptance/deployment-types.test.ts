/**
 * Types of deployment other than deploy, from request to what they leave: tasks, remote plans, PR plans alongside an
 * apply, retries, targets, destroys.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type Client, createClient } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { leaveMark, type Marks, startMarks } from './marks.ts';
import { withoutTerraform } from './programs.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  deployNew,
  type Home,
  homeOf,
  stepLines,
  until,
  untilEnd,
  untilStatus,
  wholeLog,
} from './runs.ts';
import { type Files, makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const run = promisify(execFile);
const two =
  'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\noutput "a" { value = terraform_data.a.id }\n';

describe('a deployment of another type', { concurrency: 2, skip: withoutTerraform }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let marks: Marks;
  const settings = {
    ENVARIUM_LOG_LEVEL: 'warn',
    ENVARIUM_AGENT_CONCURRENCY: '3',
    ENVARIUM_TASK_TIME_LIMIT_SECONDS: '12',
    ENVARIUM_ABORT_SECONDS: '2',
    ENVARIUM_HEARTBEAT_SECONDS: '1',
    ENVARIUM_BOOTSTRAP_API_SECRET: 'b'.repeat(43),
  };

  before(async () => {
    folder = await scratchFolder();
    marks = await startMarks(['begin']);
    service = await startService({ folder, settings });
    client = service.client;
    home = await homeOf(client);
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await marks?.[Symbol.asyncDispose]();
  });

  const make = async (name: string, files: Files) => (await makeRepository(folder, name, files)).path;
  const start = (id: string, body: object) => deploy(client, id, body);
  const statesOf = (id: string) => client.call('listStateVersions', { params: { id } });
  const namesIn = async (id: string) => {
    const [newest] = await statesOf(id);
    const bytes = await client.bytes('getStateContent', { params: { id: newest?.id ?? '' } });
    return (JSON.parse(Buffer.from(bytes).toString()) as { resources: { name: string }[] }).resources
      .map(({ name }) => name)
      .sort();
  };
  const reached = (place: string, mark: string) =>
    until(`the mark ${mark} of ${place}`, () => marks.of(place).includes(mark));

  test("a task changes the state through the tool with its secrets masked, and its outputs become the environment's", async () => {
    covers('deployEnvironment', 'body.taskPayload');
    const { id } = await deployNew(client, home, {
      repository: await make('task', { 'main.tf': two }),
      configurationChanges: [{ name: 'TOKEN', value: 'planted-secret-1', type: 0, isSensitive: true }],
    });
    const before = await statesOf(id);
    const { id: taskId } = await start(id, {
      deploymentType: 'task',
      taskPayload: 'echo "with $TOKEN"\nterraform state rm terraform_data.b\n',
      comment: 'tidy',
    });
    const task = await untilEnd(client, taskId);
    const states = await statesOf(id);
    assert.deepEqual(
      [states.length, states[0]?.deploymentLogId, states[0]?.standing, task.stateVersionId],
      [before.length + 1, taskId, 'current', states[0]?.id],
    );
    assert.deepEqual(
      [await namesIn(id), task.resourceCount, Object.keys(task.output ?? {})],
      [['a'], 1, ['a']],
    );
    const log = await wholeLog(client, taskId);
    assert.match(log, /with \*\*\*/);
    assert.doesNotMatch(log, /planted-secret-1/);
    const environment = await client.call('getEnvironment', { params: { id } });
    assert.deepEqual([environment.status, environment.latestDeploymentLog.type], ['ACTIVE', 'task']);
    const failed = await untilEnd(
      client,
      (await start(id, { deploymentType: 'task', taskPayload: 'echo it is planted-secret-1 >&2; exit 9' }))
        .id,
      'FAILURE',
    );
    assert.deepEqual(
      [failed.error?.exitCode, failed.error?.message, failed.failedCommand],
      [9, 'it is ***', 'task'],
    );
  });

  test('a task that never ends is stopped at its limit with all its processes, and its changes to the state are kept', async () => {
    const { id } = await deployNew(client, home, { repository: await make('endless', { 'main.tf': two }) });
    const taskPayload =
      'terraform state rm terraform_data.b\ntrap "" INT TERM\nsleep 4321 &\nsetsid sleep 4321 &\nwhile :; do sleep 1; done\n';
    const task = await untilEnd(
      client,
      (await start(id, { deploymentType: 'task', taskPayload })).id,
      'TIMEOUT',
    );
    assert.match(task.error?.message ?? '', /longer than 12 seconds.*ENVARIUM_TASK_TIME_LIMIT_SECONDS/);
    assert.deepEqual(await namesIn(id), ['a']);
    const steps = await client.call('listSteps', { params: { deploymentLogId: task.id ?? '' } });
    assert.equal(steps.find((step) => step.name === 'task:run')?.status, 'TIMEOUT');
    const commands = await Promise.all(
      (await readdir('/proc'))
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    assert.deepEqual(
      commands.filter((command) => command.includes('4321')),
      [],
    );
  });

  /** The process that runs a deployment. */
  const runnerOf = (deploymentId: string) =>
    until('the runner', async () => {
      const attempts = join(folder, 'data', 'spool', 'attempts');
      for (const name of await readdir(attempts)) {
        const job = JSON.parse(
          await readFile(join(attempts, name, 'job.json'), 'utf8').catch(() => '{}'),
        ) as {
          deploymentId?: string;
          phase?: string;
          type?: string;
        };
        if (job.deploymentId !== deploymentId || (job.phase === 'plan' && job.type !== 'task')) continue;
        return (JSON.parse(await readFile(join(attempts, name, 'runner.json'), 'utf8')) as { pid: number })
          .pid;
      }
      return null;
    });

  const gated = (place: string) =>
    `terraform state rm terraform_data.b\n${leaveMark(place, 'begin')}\n${leaveMark(place, 'end')}\n`;

  test('a task whose runner is killed is never started again, and the state it wrote is kept', async () => {
    const place = marks.addressOf('runner-task');
    const { id } = await deployNew(client, home, {
      repository: await make('runner-task', { 'main.tf': two }),
    });
    const { id: taskId } = await start(id, { deploymentType: 'task', taskPayload: gated(place) });
    await reached('runner-task', 'begin');
    process.kill(await runnerOf(taskId), 'SIGKILL');
    const task = await untilEnd(client, taskId, 'INTERNAL_FAILURE');
    assert.match(task.error?.message ?? '', /lost after it had started to make changes/);
    marks.open('runner-task', 'begin');
    assert.deepEqual([await namesIn(id), marks.of('runner-task')], [['a'], ['begin']]);
    await untilEnd(client, (await start(id, {})).id);
    assert.deepEqual(await namesIn(id), ['a', 'b']);
  });

  test('a remote plan and PR plans run alongside an apply of the same environment on one agent', async () => {
    const place = marks.addressOf('alongside');
    const code = (name: string) =>
      `resource "terraform_data" "${name}" {\n  provisioner "local-exec" { command = "${leaveMark(place, 'begin')}" }\n}\n`;
    const repository = await makeRepository(folder, 'alongside', { 'main.tf': code('slow') });
    await repository.git('branch', 'feature');
    await repository.git('checkout', '--quiet', 'feature');
    await repository.commit({
      'more.tf':
        'resource "terraform_data" "more" {}\noutput "number" { value = var.number }\nvariable "number" {}\n',
    });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: repository.path,
      revision: 'main',
      configurationChanges: [{ name: 'number', value: '7', type: 1 }],
    });
    await reached('alongside', 'begin');
    const upload = join(folder, 'upload');
    await mkdir(upload);
    await writeFile(
      join(upload, 'main.tf'),
      'resource "terraform_data" "uploaded" { count = var.number }\nvariable "number" {}\n',
    );
    await run('tar', ['-czf', `${upload}.tar.gz`, '-C', upload, '.']);
    const source = await client.call('uploadSource', {
      params: { id },
      body: await readFile(`${upload}.tar.gz`),
    });
    const remote = await start(id, { deploymentType: 'remotePlan', sourceId: source.id });
    const plans = await Promise.all(
      [1, 2].map((number) =>
        start(id, {
          deploymentType: 'prPlan',
          blueprintRevision: 'feature',
          gitUserData: { prNumber: String(number) },
        }),
      ),
    );
    assert.deepEqual(
      [remote.status, ...plans.map((plan) => plan.status)],
      ['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS'],
    );
    const planned = await untilEnd(client, remote.id);
    assert.deepEqual(planned.planSummary, { added: 7, changed: 0, destroyed: 0 });
    for (const plan of plans)
      assert.deepEqual((await untilEnd(client, plan.id)).planSummary, { added: 2, changed: 0, destroyed: 0 });
    assert.equal(
      (await client.call('getDeployment', { params: { id: deploymentId } })).status,
      'IN_PROGRESS',
    );
    marks.open('alongside', 'begin');
    const applied = await untilEnd(client, deploymentId);
    assert.deepEqual(
      [applied.resourceCount, marks.of('alongside'), await namesIn(id)],
      [1, ['begin'], ['slow']],
    );
    const environment = await client.call('getEnvironment', { params: { id } });
    assert.deepEqual(
      [
        environment.status,
        environment.latestDeploymentLog.blueprintRevision,
        environment.latestDeploymentLog.id,
      ],
      ['ACTIVE', 'main', deploymentId],
    );
  });

  test('a failed apply is retried as the template specifies, in one step that shows the count', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.retry');
    const flaky =
      'resource "terraform_data" "a" {\n  provisioner "local-exec" { command = "echo x >> tries; test $(wc -l < tries) -gt 1 || { echo Throttled >&2; exit 1; }" }\n}\n';
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: await make('flaky', { 'main.tf': flaky }),
      requiresApproval: true,
      retry: { onDeploy: { times: 2, errorRegex: 'throttled|Throttled' } },
    });
    const done = await approveAndEnd(client, deploymentId);
    assert.equal(done.status, 'SUCCESS');
    const steps = await client.call('listSteps', { params: { deploymentLogId: deploymentId } });
    assert.deepEqual(
      steps.flatMap((step) =>
        step.retryCount === undefined ? [] : [[step.name, step.status, step.retryCount]],
      ),
      [['tf:apply', 'SUCCESS', 1]],
    );
    const lines = (await stepLines(client, deploymentId, 'tf:apply')).map(({ message }) => message);
    assert.equal(lines.filter((line) => line.includes('Retry 1 of 2')).length, 1);
    assert.equal((await statesOf(id)).length, 1);
  });

  test('a retry whose runner is killed is not started again', async () => {
    const place = marks.addressOf('runner-retry');
    const command = `${leaveMark(place, 'try')}; test -e tried && ${leaveMark(place, 'begin')}; touch tried; exit 1`;
    const main = `resource "terraform_data" "a" {}\nresource "terraform_data" "b" {\n  depends_on = [terraform_data.a]\n  provisioner "local-exec" { command = "${command}" }\n}\n`;
    const repository = await make('runner-retry', { 'main.tf': main });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository,
      retry: { onDeploy: { times: 3 } },
    });
    await reached('runner-retry', 'begin');
    process.kill(await runnerOf(deploymentId), 'SIGKILL');
    const ended = await untilEnd(client, deploymentId, 'INTERNAL_FAILURE');
    assert.match(ended.error?.message ?? '', /lost after it had started to make changes/);
    marks.open('runner-retry', 'begin');
    assert.deepEqual(
      [marks.of('runner-retry'), (await namesIn(id)).includes('a')],
      [['try', 'try', 'begin'], true],
    );
  });

  test('targets limit the plan, a dry run changes nothing, and a destroyed environment can be deployed again', async () => {
    covers('deployEnvironment', 'body.targets');
    covers('Deployment', 'targets');
    const repository = await makeRepository(folder, 'parts', {
      'main.tf': `${two}resource "terraform_data" "c" {}\n`,
    });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: repository.path,
      requiresApproval: true,
      deployRequest: { targets: ['terraform_data.a'] },
    });
    const waiting = await untilStatus(client, deploymentId, 'WAITING_FOR_USER');
    assert.deepEqual([waiting.targets, waiting.planSummary?.added], [['terraform_data.a'], 1]);
    await approveAndEnd(client, deploymentId);
    assert.deepEqual(await namesIn(id), ['a']);
    const dry = await untilEnd(client, (await start(id, { deploymentType: 'dryRun' })).id);
    assert.deepEqual([dry.planSummary?.added, (await statesOf(id)).length], [2, 1]);
    await approveAndEnd(client, (await start(id, { targets: 'terraform_data.b, terraform_data.a' })).id);
    assert.deepEqual(await namesIn(id), ['a', 'b']);
    const broken = await repository.commit({ 'main.tf': 'this does not parse' });
    await client.call('updateEnvironment', { params: { id }, body: { requiresApproval: false } });
    const newest = await client.call('destroyEnvironment', {
      params: { id },
      query: { checkoutUpdatedCode: true },
    });
    const failed = await untilEnd(client, newest.id, 'FAILURE');
    assert.equal(failed.gitMetadata?.commit, broken);
    const { id: destroyId } = await client.call('destroyEnvironment', {
      params: { id },
      query: { skipStateRefresh: true },
    });
    const destroyed = await untilEnd(client, destroyId);
    assert.deepEqual(
      [destroyed.planSummary?.destroyed, (await client.call('getEnvironment', { params: { id } })).status],
      [2, 'INACTIVE'],
    );
    await repository.commit({ 'main.tf': two });
    assert.equal((await untilEnd(client, (await start(id, {})).id)).resourceCount, 2);
  });

  test('a wrong target or upload is reported by name', async () => {
    const { id } = await createEnvironment(client, home, {
      repository: await make('wrong', { 'main.tf': two }),
      preventAutoDeploy: true,
    });
    const bad = await untilEnd(client, (await start(id, { targets: ['-lock=false'] })).id, 'FAILURE');
    assert.match(bad.error?.message ?? '', /Invalid target/);
    const evil = join(folder, 'evil.tar.gz');
    await run('tar', [
      '-czf',
      evil,
      '-P',
      '--transform',
      's,^,../up/,',
      '-C',
      folder,
      'repositories/wrong/main.tf',
    ]);
    const source = await client.call('uploadSource', { params: { id }, body: await readFile(evil) });
    const refused = await untilEnd(
      client,
      (await start(id, { deploymentType: 'remotePlan', sourceId: source.id })).id,
      'FAILURE',
    );
    assert.match(
      refused.error?.message ?? '',
      /the uploaded archive is refused: entry "\.\.\/up\/.*" leads out of the folder/,
    );
  });
});

describe('a task while the service is killed', { skip: withoutTerraform }, () => {
  test('a task continues while the service is killed, and is started once', async () => {
    const folder = await scratchFolder();
    await using marks = await startMarks(['begin']);
    const settings = {
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_HEARTBEAT_SECONDS: '1',
      ENVARIUM_BOOTSTRAP_API_SECRET: 'b'.repeat(43),
    };
    let service = await startService({ folder, settings });
    const home = await homeOf(service.client);
    const { path } = await makeRepository(folder, 'code', { 'main.tf': two });
    const { id } = await deployNew(service.client, home, { repository: path });
    const place = marks.addressOf('task');
    const taskPayload = `terraform state rm terraform_data.b\n${leaveMark(place, 'begin')}\n${leaveMark(place, 'end')}\n`;
    const { id: taskId } = await deploy(service.client, id, { deploymentType: 'task', taskPayload });
    await until('the task', () => marks.of('task').includes('begin'));
    await service.kill();
    service = await startService({ folder, settings });
    marks.open('task', 'begin');
    const task = await untilEnd(
      createClient({ url: service.url, key: service.key, secret: service.secret }),
      taskId,
    );
    assert.deepEqual([marks.of('task'), task.resourceCount], [['begin', 'end'], 1]);
    await service.stop();
  });
});
