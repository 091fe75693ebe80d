import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { UploadedSource } from '#contract/deployments/shapes.ts';
import { covers } from '#contract/documents/coverage.ts';
import { appliedOutcome, plannedOutcome, sha256, stateFile } from '../../../testing/agent.ts';
import { basic } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests({
  ENVARIUM_TASK_TIME_LIMIT_SECONDS: '77',
  ENVARIUM_SOURCE_LIMIT_MB: '1',
});
const { app, agent, send, ok, refused, sql } = tests;
const { createActive, createIdle, deploy, deploymentOf, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

async function fail(id: string): Promise<void> {
  await deploy(id, { userRequiresApproval: false });
  await agent.finish(
    await agent.claim(),
    plannedOutcome({ result: 'failed', commit: 'b'.repeat(40), error: { message: 'does not parse' } }),
  );
}

describe('a task', () => {
  test('a task runs at the last deployed commit and tool version, under its own time limit', async () => {
    covers('deployEnvironment', 'body.taskPayload', 'body.deploymentType');
    const { id } = await createActive();
    await fail(id);
    const secret = 'echo hunter2secret';
    const started = await deploy(id, { deploymentType: 'task', taskPayload: secret, comment: 'tidy up' });
    assert.deepEqual([started.type, started.status, started.comment], ['task', 'IN_PROGRESS', 'tidy up']);
    assert.equal((await environmentOf(id)).status, 'TASK_IN_PROGRESS');
    const job = await agent.claim();
    assert.deepEqual(
      [
        job.type,
        job.phase,
        job.taskPayload,
        job.toolVersion,
        job.source.revision,
        job.limits.runSeconds,
        job.approved,
      ],
      ['task', 'plan', secret, '1.11.4', 'c'.repeat(40), 77, undefined],
    );
    const steps = await ok('listSteps', { params: { deploymentLogId: started.id } });
    assert.deepEqual(fieldOf(steps, 'name'), [
      'git:clone',
      'variables:setup',
      'tf:init',
      'tf:workspace',
      'task:run',
      'state:store',
    ]);
    await agent.mark(job);
    const { stateVersionId } = await agent.putState(
      job,
      stateFile(9, [], id),
      job.state.current?.stateVersionId ?? '',
    );
    await agent.finish(job, appliedOutcome({ stateVersionId }));
    const ended = await deploymentOf(started.id);
    assert.deepEqual(
      [ended.status, ended.stateVersionId, ended.blueprintRevision],
      ['SUCCESS', stateVersionId, ''],
    );
    // The failure before is restored after the task.
    assert.equal((await environmentOf(id)).status, 'FAILED');
    const stored = await sql<{ row: string }>(
      'select row_to_json(deployment)::text as row from deployment where id = $1',
      started.id,
    );
    assert.doesNotMatch(stored[0]?.row ?? '', /hunter2secret/);
  });

  test('a task needs a deployed environment', async () => {
    const { id } = await createIdle();
    const body = { deploymentType: 'task', taskPayload: 'ls' };
    await refused('deployEnvironment', 409, /deploy it first/, { id, body });
    await fail(id);
    await refused('deployEnvironment', 409, /no deployment that applied anything/, { id, body });
  });

  test('a task requires its own right', async () => {
    const as = await app.addKey({ [app.organizationId]: ['VIEW_ENVIRONMENT', 'RUN_PLAN', 'RUN_APPLY'] });
    const { id } = await createActive();
    await refused('deployEnvironment', 403, /RUN_TASK/, {
      id,
      body: { deploymentType: 'task', taskPayload: 'ls' },
      as,
    });
  });

  test('a task waits for its turn, and runs at the commit deployed in the meantime', async () => {
    const { id } = await createActive();
    await deploy(id, { userRequiresApproval: false });
    const task = await deploy(id, { deploymentType: 'task', taskPayload: 'ls' });
    assert.equal(task.status, 'QUEUED');
    const commit = 'd'.repeat(40);
    await agent.run(['a', 'b'], { commit, toolVersion: '1.12.0' });
    const job = await agent.claim();
    assert.deepEqual([job.deploymentId, job.source.revision, job.toolVersion], [task.id, commit, '1.12.0']);
    await agent.finish(job, appliedOutcome());
  });

  test('a task ends with the reason when its environment was destroyed before its turn', async () => {
    const { id } = await createActive();
    await ok('updateEnvironment', { id, body: { requiresApproval: false } });
    await ok('destroyEnvironment', { id });
    const task = await deploy(id, { deploymentType: 'task', taskPayload: 'ls' });
    await agent.run([]);
    const ended = await deploymentOf(task.id);
    assert.equal(ended.status, 'FAILURE');
    assert.match(ended.error?.message ?? '', /is inactive: tasks need deployed infrastructure/);
    assert.equal((await environmentOf(id)).status, 'INACTIVE');
    await refused('deployEnvironment', 409, /INACTIVE/, {
      id,
      body: { deploymentType: 'task', taskPayload: 'ls' },
    });
  });

  test('a task is never started again once it was marked as started', async () => {
    const { id } = await createActive();
    const task = await deploy(id, { deploymentType: 'task', taskPayload: 'ls' });
    const job = await agent.claim();
    await agent.mark(job);
    await agent.finish(job, {
      result: 'internal',
      isLost: true,
      finishedAt: new Date().toISOString(),
      error: { message: 'killed' },
    });
    assert.equal((await deploymentOf(task.id)).status, 'INTERNAL_FAILURE');
    assert.equal(await agent.claimAny(), null);
  });
});

describe('a remote plan', () => {
  const archive = gzipSync(Buffer.alloc(1024));
  const upload = (id: string, payload: Buffer, query = '') =>
    send({
      method: 'POST',
      url: `/api/environments/${id}/sources${query}`,
      headers: { 'content-type': 'application/octet-stream' },
      payload,
    });

  test('a remote plan uses the uploaded code, runs alongside deployments, and leaves the environment unchanged', async () => {
    covers('deployEnvironment', 'body.sourceId');
    const { id } = await createActive({
      revision: 'main',
      path: 'net',
      repository: 'https://user:planted-token@git.example.com/team/net.git',
    });
    const before = await environmentOf(id);
    const reply = await upload(id, archive, '?path=envs/prod/');
    assert.equal(reply.statusCode, 200, reply.body);
    const source = reply.json<UploadedSource>();
    assert.deepEqual(
      [source.environmentId, source.sha256, source.bytes, source.path],
      [id, sha256(archive), archive.length, 'envs/prod'],
    );
    await deploy(id, { userRequiresApproval: false });
    const busy = await agent.claim();
    const started = await deploy(id, { deploymentType: 'remotePlan', sourceId: source.id });
    assert.equal(started.status, 'IN_PROGRESS');
    const job = await agent.claim();
    assert.deepEqual(
      [job.deploymentId, job.source.archive, job.source.path, job.source.revision],
      [started.id, { sha256: source.sha256, bytes: source.bytes }, 'envs/prod', undefined],
    );
    assert.deepEqual(
      [busy.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN'], job.systemVariables['ENVARIUM_VCS_ACCESS_TOKEN']],
      ['planted-token', undefined],
      'uploaded code does not get the credentials of the repository',
    );
    const blob = await agent.send('getBlob', { ...job, blob: 'source', query: { fence: String(job.fence) } });
    assert.deepEqual(blob.rawPayload, archive);
    assert.equal(
      (await agent.send('putBlob', { ...job, blob: 'source', query: { fence: String(job.fence) } }, 'x'))
        .statusCode,
      400,
    );
    await agent.finish(job, plannedOutcome({ approvedParts: undefined, commit: undefined }));
    const ended = await deploymentOf(started.id);
    assert.deepEqual(
      [ended.status, ended.planSummary?.added, ended.blueprintPath],
      ['SUCCESS', 1, 'envs/prod'],
    );
    await agent.finish(busy, plannedOutcome({ result: 'failed' }));
    const after = await environmentOf(id);
    assert.equal(after.latestDeploymentLog.blueprintRevision, before.latestDeploymentLog.blueprintRevision);
  });

  test('uploads of an environment have a limit together, until they expire', async () => {
    const { id } = await createIdle();
    const full = Buffer.concat([archive, Buffer.alloc(1024 * 1024 - archive.length)]);
    for (let count = 0; count < 20; count++) assert.equal((await upload(id, full)).statusCode, 200);
    const refusal = await upload(id, archive);
    assert.deepEqual(
      [refusal.statusCode, /uploads .* more than 20 MB .*ENVARIUM_SOURCE_LIMIT_MB/.test(refusal.body)],
      [413, true],
      refusal.body,
    );
    assert.equal((await upload((await createIdle()).id, archive)).statusCode, 200);
    app.advance(25 * 3600);
    assert.equal((await upload(id, full)).statusCode, 200);
  });

  test('code that is foreign, expired, too large or not an archive is refused', async () => {
    const { id } = await createIdle();
    const other = await createIdle();
    const { id: sourceId } = (await upload(id, archive)).json<UploadedSource>();
    const body = { deploymentType: 'remotePlan', sourceId };
    const noId = { ...body, sourceId: '-'.repeat(36) };
    await refused('deployEnvironment', 400, /\/body\/sourceId does not match an upload/, { id, body: noId });
    await refused('deployEnvironment', 400, /\/body\/sourceId does not match an upload/, {
      id: other.id,
      body,
    });
    assert.match(
      (await upload(id, Buffer.from('no archive'))).json<{ message: string }>().message,
      /must be a tar archive/,
    );
    assert.match(
      (await upload(id, Buffer.alloc(0))).json<{ message: string }>().message,
      /must be a tar archive/,
    );
    const none = await send({ method: 'POST', url: `/api/environments/${id}/sources` });
    assert.deepEqual([none.statusCode, /must be a tar archive/.test(none.body)], [400, true]);
    assert.match(
      (await upload(id, archive, '?path=../up')).json<{ message: string }>().message,
      /\/query\/path is refused/,
    );
    const large = await upload(id, Buffer.concat([archive, Buffer.alloc(1024 * 1024)]));
    assert.deepEqual([large.statusCode, /ENVARIUM_SOURCE_LIMIT_MB/.test(large.body)], [413, true]);
    // Over the network, the sender learns it too, who is still sending.
    const address = await app.listen();
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const body =
        'transfer-encoding' in headers
          ? new Blob([archive, Buffer.alloc(30_000_000)]).stream()
          : Buffer.concat([archive, Buffer.alloc(30_000_000)]);
      const sent = await fetch(`${address}/api/environments/${id}/sources`, {
        method: 'POST',
        headers: { authorization: basic(app.admin) },
        body,
        duplex: 'half',
      } as RequestInit);
      assert.deepEqual(
        [sent.status, ((await sent.json()) as { code: string }).code],
        [413, 'payload_too_large'],
      );
    }
    const outsider = await app.addKey();
    const refusal = await send(
      {
        method: 'POST',
        url: `/api/environments/${id}/sources`,
        headers: { authorization: basic(outsider) },
        payload: archive,
      },
      null,
    );
    assert.equal(refusal.statusCode, 404);
    app.advance(25 * 3600);
    await refused('deployEnvironment', 400, /that expired at/, { id, body });
    await app.carryOutEffects();
    const rows = await app.database.pool.query(
      'select 1 from source_archive where blob is not null and id = $1',
      [sourceId],
    );
    assert.equal(rows.rowCount, 0);
  });
});

describe('a run that only looks', () => {
  test('a read-only run has its own revision, and does not change that of the environment', async () => {
    const { id } = await createActive({ revision: 'main' });
    for (const deploymentType of ['prPlan', 'dryRun'] as const) {
      const run = await deploy(id, {
        deploymentType,
        blueprintRevision: 'feature',
        gitUserData: { gitUser: 'ann', prNumber: '17' },
      });
      assert.deepEqual([run.blueprintRevision, run.prNumber], ['feature', '17']);
      const job = await agent.claim();
      assert.deepEqual([job.source.revision, job.systemVariables.ENVARIUM_PR_NUMBER], ['feature', '17']);
      await agent.finish(job, plannedOutcome());
      assert.equal((await deploymentOf(run.id)).status, 'SUCCESS');
    }
    assert.equal((await deploy(id)).blueprintRevision, 'main');
  });

  test('a dry run shows in the status of its environment, needs no approval, and changes nothing', async () => {
    const { id } = await createActive();
    const run = await deploy(id, { deploymentType: 'dryRun', targets: ['a.b'] });
    assert.equal((await environmentOf(id)).status, 'DRY_RUN_IN_PROGRESS');
    const job = await agent.claim();
    assert.deepEqual([job.type, job.targets], ['dryRun', ['a.b']]);
    assert.equal(await agent.finish(job, plannedOutcome()), null);
    const ended = await deploymentOf(run.id);
    assert.deepEqual(
      [ended.status, ended.planSummary?.added, ended.reviewers, ended.targets],
      ['SUCCESS', 1, [], ['a.b']],
    );
    assert.equal((await environmentOf(id)).status, 'ACTIVE');
  });

  test('PR plans run alongside an apply and each other, but not while a plan awaits approval', async () => {
    const { id } = await createActive({
      requiresApproval: true,
      deployRequest: { userRequiresApproval: false },
    });
    await deploy(id, { userRequiresApproval: true });
    await agent.plan();
    const held = await deploy(id, { deploymentType: 'prPlan' });
    assert.equal(held.status, 'QUEUED');
    const waiting = (await environmentOf(id)).latestDeploymentLog;
    await ok('approveDeployment', { id: waiting.id ?? '' });
    const applying = await agent.claim();
    const first = await agent.claim();
    const second = await deploy(id, { deploymentType: 'prPlan' });
    assert.deepEqual([applying.phase, first.deploymentId, second.status], ['apply', held.id, 'IN_PROGRESS']);
    assert.equal((await agent.claim()).deploymentId, second.id);
  });
});

describe('a destroy', () => {
  const destroy = (id: string, query: Record<string, string> = {}) => ok('destroyEnvironment', { id, query });

  test('a destroy runs at the last applied commit, in its repository and folder, not at one whose plan failed', async () => {
    const repository = 'https://git.example.com/old.git';
    const { id } = await createActive({ repository, path: 'old', revision: 'main' });
    await deploy(id, { blueprintRepository: 'https://git.example.com/new.git', blueprintRevision: 'v2' });
    await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed', commit: 'b'.repeat(40) }));
    await destroy(id);
    const job = await agent.claim();
    assert.deepEqual(
      [job.source.repository, job.source.path, job.source.revision],
      [repository, 'old', 'c'.repeat(40)],
    );
    await agent.finish(job, plannedOutcome({ result: 'failed' }));
    await destroy(id, { checkoutUpdatedCode: 'true', skipStateRefresh: 'true' });
    const newest = await agent.claim();
    assert.deepEqual(
      [newest.source.repository, newest.source.revision, newest.skipStateRefresh],
      ['https://git.example.com/new.git', 'v2', true],
    );
    await agent.finish(newest, plannedOutcome({ result: 'failed' }));
    await destroy(id, { revision: 'v1', checkoutUpdatedCode: 'true' });
    assert.equal((await agent.claim()).source.revision, 'v1');
  });

  test('a destroy that waits for a deploy runs at the commit which that deployed, with its variables', async () => {
    const { id } = await createActive();
    const region = { name: 'region', value: 'north', type: 1 } as const;
    await deploy(id, { userRequiresApproval: false, configurationChanges: [region] });
    const queued = await destroy(id);
    assert.equal(queued.status, 'QUEUED');
    await agent.run(['a'], { commit: 'e'.repeat(40) });
    const job = await agent.claim();
    assert.deepEqual([job.deploymentId, job.source.revision], [queued.id, 'e'.repeat(40)]);
    assert.deepEqual(
      job.variables.terraform.map(({ name, value }) => [name, value]),
      [['region', 'north']],
      'with the variables that its code may need',
    );
  });

  test('a destroy gets the terraform variables of the last deployment, by name, with their current values', async () => {
    const variable = (name: string, value: string, type: 0 | 1 = 1) => ({ name, value, type });
    const { id } = await createActive({
      configurationChanges: [
        variable('size', 'small'),
        variable('gone', 'last'),
        variable('REGION', 'north', 0),
      ],
    });
    const rows = await ok('deployEnvironment', { id, body: { deploymentType: 'prPlan' } });
    const idOf = (name: string) => rows.variables?.find((row) => row.name === name)?.id ?? assert.fail(name);
    await agent.finish(await agent.claim(), plannedOutcome());
    await deploy(id, {
      deploymentType: 'prPlan',
      configurationChanges: [
        { ...variable('size', 'large'), id: idOf('size') },
        { ...variable('gone', ''), id: idOf('gone'), toDelete: true },
        variable('later', 'unknown to the code'),
        variable('PROXY', 'http://proxy', 0),
      ],
    });
    await agent.finish(await agent.claim(), plannedOutcome());
    const started = await destroy(id);
    const job = await agent.claim();
    const values = (list: readonly { name: string; value: string }[]) =>
      Object.fromEntries(list.map(({ name, value }) => [name, value]));
    assert.deepEqual(values(job.variables.terraform), { size: 'large', gone: 'last' });
    assert.deepEqual(values(job.variables.environment), { REGION: 'north', PROXY: 'http://proxy' });
    assert.deepEqual(started.variables?.map((row) => row.name).sort(), ['PROXY', 'REGION', 'gone', 'size']);
  });

  test('a destroy of nothing needs no agent, and a destroyed environment can be deployed again', async () => {
    const { id } = await createActive({}, []);
    assert.equal((await destroy(id)).status, 'SUCCESS');
    assert.equal((await environmentOf(id)).status, 'INACTIVE');
    assert.equal((await deploy(id, { userRequiresApproval: false })).status, 'IN_PROGRESS');
    await agent.run();
    assert.equal((await environmentOf(id)).status, 'ACTIVE');
  });
});

describe('retries', () => {
  test('retry settings reach the apply with the approval, and each retry has its own count and mark', async () => {
    covers('createEnvironmentWithoutTemplate', 'body.retry');
    const retry = { onDeploy: { times: 2, errorRegex: 'throttl' }, onDestroy: { times: 1 } };
    const { id } = await createActive({ retry });
    await deploy(id, { userRequiresApproval: true });
    await agent.plan();
    const { latestDeploymentLog } = await environmentOf(id);
    const deploymentId = latestDeploymentLog.id ?? '';
    await ok('approveDeployment', { id: deploymentId });
    const job = await agent.claim();
    assert.deepEqual(job.retry, { times: 2, errorRegex: 'throttl', isReviewed: true });
    const first = await agent.mark(job);
    const mark = (body: object) => agent.send('mark', job, { fence: job.fence, ...body });
    assert.equal((await mark({ mark: 'x'.repeat(32) })).statusCode, 409);
    assert.equal((await mark({ mark: 'x'.repeat(32), replaces: 'y'.repeat(32) })).statusCode, 409);
    assert.equal((await mark({ mark: 'x'.repeat(32), replaces: first })).statusCode, 200);
    assert.equal((await mark({ mark: 'x'.repeat(32), replaces: first })).statusCode, 200);
    const at = new Date().toISOString();
    await agent.report(job, {
      events: [{ kind: 'step', at, step: 'tf:apply', status: 'IN_PROGRESS', retryCount: 1 }],
    });
    const steps = await ok('listSteps', { params: { deploymentLogId: deploymentId } });
    assert.deepEqual(
      steps.flatMap((step) => (step.retryCount === undefined ? [] : [[step.name, step.retryCount]])),
      [['tf:apply', 1]],
    );
    await agent.finish(job, {
      result: 'failed',
      finishedAt: at,
      error: { message: 'no', exitCode: 1, retryCount: 1 },
    });
    assert.equal((await deploymentOf(deploymentId)).error?.retryCount, 1);
    await deploy(id, { userRequiresApproval: false });
    const automatic = await agent.plan();
    assert.equal(automatic?.retry?.isReviewed, false);
    await agent.apply(automatic ?? assert.fail());
    await ok('updateEnvironment', { id, body: { requiresApproval: false } });
    await ok('destroyEnvironment', { id });
    assert.deepEqual((await agent.plan())?.retry, { times: 1, isReviewed: false });
  });

  test('retry settings that cannot work are refused when they are saved', async () => {
    const create = (retry: object) =>
      refused('createEnvironmentWithoutTemplate', 400, {
        body: {
          name: 'n',
          organizationId: app.organizationId,
          projectId: app.projectId,
          repository: 'https://g.example.com/a.git',
          type: 'terraform',
          retry,
        },
      });
    assert.match(
      (await create({ onDeploy: { times: 1, errorRegex: '(' } })).message,
      /\/body\/retry\/onDeploy\/errorRegex is not a valid regular expression/,
    );
    assert.match(
      (await create({ onDestroy: { times: 1, errorRegex: 'x'.repeat(1001) } })).message,
      /onDestroy\/errorRegex must not be longer than 1000/,
    );
    assert.match((await create({ onDestroy: { times: 4 } })).message, /\/body\/retry\/onDestroy\/times/);
    assert.match((await create({ onDestroy: { times: 0 } })).message, /\/body\/retry\/onDestroy\/times/);
  });
});
