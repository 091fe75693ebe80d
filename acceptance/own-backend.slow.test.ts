/**
 * Code that keeps its state in a backend of its own, here a real S3 protocol: left alone, or moved into ours
 * on request.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { withAwsServer } from '../agent/testing/secret-stores/aws-server.ts';
import { type ObjectStore, startObjectStore } from './object-store.ts';
import { withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deploy,
  deployNew,
  destroyAndEnd,
  type EnvironmentRequest,
  type Home,
  homeOf,
  untilEnd,
  wholeLog,
} from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const code = (key: string, more = '') => `terraform {
  backend "s3" {
    bucket                      = "states"
    key                         = "${key}"
    region                      = "eu-west-1"
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
  }
}
resource "terraform_data" "it" { input = "one" }
output "it" { value = terraform_data.it.output }
${more}`;
const second = 'resource "terraform_data" "second" {}\n';

const skip = withoutTerraform || withAwsServer().skip;

describe('code with its own backend', { skip, concurrency: 2 }, () => {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let store: ObjectStore;

  before(async () => {
    folder = await scratchFolder();
    [service, store] = await Promise.all([
      startService({ folder, settings: { ENVARIUM_LOG_LEVEL: 'warn' } }),
      startObjectStore(),
    ]);
    client = service.client;
    home = await homeOf(client);
    await store.makeBucket('states');
  });
  after(async () => {
    await Promise.all([service?.[Symbol.asyncDispose](), store?.[Symbol.asyncDispose]()]);
  });

  const access = (url = store.url): EnvironmentRequest['configurationChanges'] =>
    Object.entries({
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'planted-secret',
      AWS_MAX_ATTEMPTS: '1',
    }).map(([name, value]) => ({
      name,
      value,
      type: 0 as const,
      isSensitive: name.endsWith('SECRET_ACCESS_KEY'),
    }));
  const repositoryOf = (key: string) =>
    makeRepository(folder, key.replace('.', '-'), { 'main.tf': code(key) });
  const versions = (id: string) => client.call('listStateVersions', { params: { id } });
  const keptState = async (id: string, key: string) => {
    const { workspaceName } = await client.call('getEnvironment', { params: { id } });
    return store.read('states', `env:/${workspaceName}/${key}`);
  };
  const ask = (id: string, isRemoteBackend: boolean) =>
    client.call('updateEnvironment', { params: { id }, body: { isRemoteBackend } });
  const start = async (id: string, body: Record<string, unknown> = {}) =>
    (await deploy(client, id, { userRequiresApproval: false, ...body })).id ?? '';
  const run = async (id: string, body?: Record<string, unknown>) => untilEnd(client, await start(id, body));

  test("the state stays in the code's backend, where outputs, drift and destroy find it", async () => {
    const { path } = await repositoryOf('alone.tfstate');
    const { id, deployment } = await deployNew(client, home, {
      repository: path,
      configurationChanges: access(),
    });
    assert.equal(deployment.output?.it?.value, 'one');
    assert.match((await keptState(id, 'alone.tfstate')) ?? '', /"terraform_data"/);
    const drift = await run(id, { deploymentType: 'driftDetection' });
    assert.equal(drift.status, 'SUCCESS');
    await destroyAndEnd(client, id);
    // Its workspace goes with what it held.
    assert.equal(await keptState(id, 'alone.tfstate'), null);
    assert.deepEqual(await versions(id), []);
    assert.equal((await run(id)).output?.it?.value, 'one');
  });

  test('the first run that requests it moves the state to the service, and the backend keeps its copy', async () => {
    const key = 'moved.tfstate';
    const repository = await repositoryOf(key);
    const { id } = await deployNew(client, home, {
      repository: repository.path,
      configurationChanges: access(),
    });
    const before = (await keptState(id, key)) ?? '';
    await ask(id, true);

    const dry = await run(id, { deploymentType: 'dryRun' });
    assert.deepEqual(dry.planSummary, { added: 0, changed: 0, destroyed: 0 });
    assert.match(
      await wholeLog(client, dry.id ?? ''),
      /This run only reads it; the next deployment imports it/,
    );
    assert.deepEqual(await versions(id), []);

    await repository.commit({ 'main.tf': code(key, second) });
    const deployment = await run(id);
    assert.deepEqual(deployment.planSummary, { added: 1, changed: 0, destroyed: 0 });
    const log = await wholeLog(client, deployment.id ?? '');
    assert.match(log, /State read from the backend s3 of the code: serial \d+, lineage \S+, 1 resources/);
    assert.match(log, /becomes the environment's first state version/);
    const [newest, moved, ...more] = await versions(id);
    assert.equal(more.length, 0);
    const { serial, lineage } = JSON.parse(before) as { serial: number; lineage: string };
    assert.deepEqual(
      [moved?.origin, moved?.serial, moved?.lineage, moved?.resourceCount],
      ['moved', serial, lineage, 1],
    );
    assert.deepEqual([newest?.follows, newest?.lineage, newest?.resourceCount], [moved?.id, lineage, 2]);
    assert.equal(await keptState(id, key), before);

    // Ours from now on: the backend receives no more requests.
    const again = await run(id, {
      configurationChanges: [{ name: 'AWS_ENDPOINT_URL', value: 'http://127.0.0.1:9', type: 0 }],
    });
    assert.deepEqual(again.planSummary, { added: 0, changed: 0, destroyed: 0 });
  });

  test('an environment can be destroyed in the same run that moves its state', async () => {
    const key = 'destroyed.tfstate';
    const { path } = await repositoryOf(key);
    const { id } = await deployNew(client, home, { repository: path, configurationChanges: access() });
    await ask(id, true);
    const ended = await destroyAndEnd(client, id);
    assert.deepEqual(ended.planSummary, { added: 0, changed: 0, destroyed: 1 });
    assert.deepEqual(
      (await versions(id)).map(({ origin, resourceCount }) => [origin, resourceCount]),
      [
        ['run', 0],
        ['moved', 1],
      ],
    );
  });

  test('an environment starts without a state when its backend has none', async () => {
    const key = 'nothing.tfstate';
    const { path } = await repositoryOf(key);
    const { id, deployment } = await deployNew(client, home, {
      repository: path,
      isRemoteBackend: true,
      configurationChanges: access(),
    });
    assert.match(
      await wholeLog(client, deployment.id ?? ''),
      /Warning: The backend s3 of the code has no workspace envarium\w+, .* It has default/,
    );
    assert.deepEqual(
      (await versions(id)).map(({ origin }) => origin),
      ['run'],
    );
    assert.equal(await keptState(id, key), null);
  });

  test('a first plan in an empty generated workspace stops if existing infrastructure is in another', async () => {
    const { path } = await repositoryOf('elsewhere.tfstate');
    const request = { repository: path, configurationChanges: access() };
    await deployNew(client, home, { ...request, workspaceName: 'default' });
    await deployNew(client, home, { ...request, workspaceName: 'production' });

    const { id, environment, deploymentId } = await createEnvironment(client, home, request);
    const message = new RegExp(
      `^The workspace ${environment.workspaceName} is empty, but other workspaces of the backend s3 are not: ` +
        String.raw`default \(1 resource\), production \(1 resource\)\. .*--workspace.*ENVARIUM_ALLOW_EMPTY_WORKSPACE`,
    );
    assert.match((await untilEnd(client, deploymentId, 'FAILURE')).error?.message ?? '', message);
    const dryRun = await untilEnd(client, await start(id, { deploymentType: 'dryRun' }), 'FAILURE');
    assert.match(dryRun.error?.message ?? '', message);
    // The stopped runs left nothing behind, not even the workspace.
    assert.equal(await keptState(id, 'elsewhere.tfstate'), null);

    const allow = { name: 'ENVARIUM_ALLOW_EMPTY_WORKSPACE', value: 'true', type: 0 };
    const allowed = await run(id, { configurationChanges: [allow] });
    assert.deepEqual(allowed.planSummary, { added: 1, changed: 0, destroyed: 0 });
  });

  test('environments with generated workspaces share a backend', async () => {
    const { path } = await repositoryOf('shared.tfstate');
    const request = { repository: path, configurationChanges: access() };
    await deployNew(client, home, request);
    const { id } = await deployNew(client, home, request);
    assert.match((await keptState(id, 'shared.tfstate')) ?? '', /"terraform_data"/);
  });

  test('an unreachable backend fails the run, and nothing is written', async () => {
    const { path } = await repositoryOf('unreachable.tfstate');
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: path,
      isRemoteBackend: true,
      configurationChanges: access('http://127.0.0.1:9'),
    });
    const ended = await untilEnd(client, deploymentId, 'FAILURE');
    assert.match(
      ended.error?.message ?? '',
      /^The service is to store this environment's state, but it could not be read from the backend s3 of the code, and nothing was changed: /,
    );
    assert.deepEqual(await versions(id), []);
  });

  test("the backend is used again only after the service's state is cleared", async () => {
    const key = 'back.tfstate';
    const { path } = await repositoryOf(key);
    const { id } = await deployNew(client, home, { repository: path, configurationChanges: access() });
    await ask(id, true);
    await run(id);
    await ask(id, false);
    const refused = await untilEnd(client, await start(id), 'FAILURE');
    assert.match(
      refused.error?.message ?? '',
      /but the service stores the state of this environment .* Set isRemoteBackend to true/,
    );
    await client.call('clearState', { params: { id } });
    const back = await run(id);
    assert.deepEqual(back.planSummary, { added: 0, changed: 0, destroyed: 0 });
    assert.ok((await versions(id)).every(({ standing }) => standing === 'superseded'));
  });
});
