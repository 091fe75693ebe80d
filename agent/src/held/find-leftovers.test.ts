import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { stateFileName } from '../drivers/terraform/backend.ts';
import { workFolderPaths } from '../slots/work-folder.ts';
import { spoolPaths } from '../spool/layout.ts';
import { findLeftovers } from './find-leftovers.ts';

function stateText(serial: number, ...names: string[]): string {
  const provider = 'provider["terraform.io/builtin/terraform"]';
  const resources = names.map((name) => ({
    mode: 'managed',
    type: 'terraform_data',
    name,
    provider,
    instances: [{ attributes: {} }],
  }));
  return JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage: 'line-1',
    outputs: {},
    resources,
  });
}

function setUp(t: TestContext) {
  const folder = temporaryFolder(t, 'leftovers-');
  const current = { stateVersionId: 'v', serial: 4, lineage: 'line-1', sha256: 'x' };
  const job = {
    type: 'deploy',
    tool: 'terraform',
    environmentId: 'e',
    deploymentId: 'd',
    workspaceName: 'w',
    source: { path: 'stack' },
    state: { isForced: false, current },
    variables: { environment: [], terraform: [] },
    systemVariables: {},
  } as unknown as Job;
  const paths = spoolPaths(join(folder, 'spool'));
  const folders = workFolderPaths(join(folder, 'work'), job);
  const stateFile = join(folders.state, stateFileName('w'));
  for (const one of [paths.states, join(folders.tree, 'stack'), dirname(stateFile)])
    mkdirSync(one, { recursive: true });
  return {
    folder,
    job,
    paths,
    folders,
    stateFile,
    errored: join(folders.tree, 'stack', 'errored.tfstate'),
    find: () => findLeftovers({ paths, job, workFolder: join(folder, 'work') }),
  };
}

test('the newest complete state is kept, and resources that it does not contain are listed', async (t) => {
  const { paths, stateFile, errored, find } = setUp(t);
  writeFileSync(join(paths.states, '3.tfstate'), stateText(5, 'a'));
  writeFileSync(stateFile, stateText(6, 'a', 'b'));
  writeFileSync(errored, stateText(7, 'a', 'b', 'c'));
  const event = {
    kind: 'resource',
    at: '2026-01-01T00:00:00.000Z',
    provider: 'terraform',
    type: 'terraform_data',
    moduleName: '',
    action: 'create',
  };
  for (const name of ['c', 'd'])
    appendFileSync(
      paths.events,
      `${JSON.stringify({ ...event, name, address: `terraform_data.${name}`, status: 'started' })}\n`,
    );
  const found = await find();
  assert.equal(readFileSync(join(paths.states, '4.tfstate'), 'utf8'), stateText(7, 'a', 'b', 'c'));
  assert.deepEqual(
    found.resources?.map((row) => row.name),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(found.unrecorded, [{ address: 'terraform_data.d', certainty: 'may exist' }]);
});

test('a run that reported resources without an end costs the recovery little', async (t) => {
  const { job, paths, find } = setUp(t);
  const secret = 'planted-secret-0123456789';
  Object.assign(job, { secrets: [secret] });
  mkdirSync(paths.steps);
  const step = 'tf:apply';
  writeFileSync(paths.progress, JSON.stringify({ step, offset: 0 }));
  const long = `${'x'.repeat(1980)}${secret}`;
  const created = Array.from({ length: 150_000 }, (_, index) => `terraform_data.r${index}: Creating...\n`);
  writeFileSync(paths.stepLog(step), `terraform_data.${long}: Creating...\n${created.join('')}`);
  appendFileSync(paths.events, `{"kind":"resource","action":"create","address":"${'y'.repeat(5_000_000)}`);
  const { unrecorded = [] } = await find();
  assert.equal(unrecorded.length, 100_000);
  assert.equal(unrecorded[0]?.address, `terraform_data.${'x'.repeat(1980)}***`);
});

test('torn, older and foreign states are ignored', async (t) => {
  const { paths, stateFile, errored, find } = setUp(t);
  writeFileSync(stateFile, stateText(6, 'a').slice(0, -20));
  writeFileSync(errored, stateText(9, 'a').replace('line-1', 'line-2'));
  await find();
  writeFileSync(stateFile, stateText(4, 'a'));
  await find();
  assert.deepEqual(readdirSync(paths.states), []);
});

test('a link that leads out of the run is not followed', async (t) => {
  const { folder, paths, stateFile, find } = setUp(t);
  writeFileSync(join(folder, 'elsewhere'), stateText(8, 'a'));
  symlinkSync(join(folder, 'elsewhere'), stateFile);
  await find();
  rmSync(stateFile);
  rmSync(dirname(stateFile), { recursive: true });
  symlinkSync(folder, dirname(stateFile));
  await find();
  assert.deepEqual(readdirSync(paths.states), []);
});

test('circular links, sockets and folders in the place of a state do not stop the recovery', async (t) => {
  const { paths, stateFile, errored, find } = setUp(t);
  symlinkSync(errored, errored);
  for (const place of [
    async () => symlinkSync(stateFile, stateFile),
    async () => mkdirSync(stateFile),
    async () => {
      const server = createServer().listen(stateFile);
      await once(server, 'listening');
      t.after(() => server.close());
    },
  ]) {
    await place();
    await find();
    rmSync(stateFile, { recursive: true });
  }
  assert.deepEqual(readdirSync(paths.states), []);
});

test('one of several states that is something else does not cost the others', async (t) => {
  const { folder, job, paths, folders, find } = setUp(t);
  Object.assign(job, { tool: 'terragrunt', settings: { isTerragruntRunAll: true } });
  Object.assign(job.state, { current: undefined });
  writeFileSync(join(folders.state, 'app.tfstate'), stateText(6, 'a'));
  writeFileSync(join(folders.state, 'old.tfstate'), '{"version":3}');
  writeFileSync(join(folders.state, 'odd.tfstate'), stateText(1).replace('[]', '[null]'));
  symlinkSync(join(folders.state, 'round.tfstate'), join(folders.state, 'round.tfstate'));
  symlinkSync(folder, join(folders.tree, 'stack', 'out'));
  symlinkSync('.', join(folders.tree, 'stack', 'again'));
  const found = await find();
  assert.equal(found.resourceCount, 1);
  assert.deepEqual(readdirSync(paths.states), ['1.tfstate']);
});

test('a file that is too large for a state is ignored', async (t) => {
  const { paths, stateFile, errored, find } = setUp(t);
  writeFileSync(stateFile, stateText(6, 'a'));
  writeFileSync(errored, '');
  truncateSync(errored, 3 * 2 ** 30);
  assert.equal((await find()).resourceCount, 1);
  assert.deepEqual(readdirSync(paths.states), ['1.tfstate']);
});

test('what the tool reported after the runner had looked for the last time is listed', async (t) => {
  const { paths, find } = setUp(t);
  const log = paths.stepLog('terraform:apply');
  mkdirSync(paths.steps);
  const before = 'terraform_data.from-an-earlier-try: Creating...\n';
  writeFileSync(log, before);
  writeFileSync(paths.progress, JSON.stringify({ step: 'terraform:apply', offset: before.length }));
  appendFileSync(
    log,
    'terraform_data.a: Creating...\nterraform_data.a: Creation complete after 0s [id=1]\nterraform_data.b: Creating...\nterraform_data.c: Crea',
  );
  assert.deepEqual((await find()).unrecorded, [
    { address: 'terraform_data.a', id: '1', certainty: 'created' },
    { address: 'terraform_data.b', certainty: 'may exist' },
  ]);
  writeFileSync(paths.progress, '{"step":');
  assert.deepEqual((await find()).unrecorded, [], 'torn by a power cut');
});

test('the same from a file of events, which is not read through a link', async (t) => {
  const { folder, job, paths, folders, find } = setUp(t);
  (job as { tool: string }).tool = 'opentofu';
  mkdirSync(folders.temporary);
  const eventFile = join(folders.temporary, 'apply.events.jsonl');
  writeFileSync(paths.progress, JSON.stringify({ step: 'opentofu:apply', offset: 0, eventFile }));
  assert.deepEqual((await find()).unrecorded, [], 'it was killed before it wrote any');
  const hook = { resource: { addr: 'terraform_data.a' }, action: 'create' };
  writeFileSync(eventFile, `${JSON.stringify({ type: 'apply_start', hook })}\n`);
  const expected = [{ address: 'terraform_data.a', certainty: 'may exist' }];
  assert.deepEqual((await find()).unrecorded, expected);
  renameSync(eventFile, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), eventFile);
  assert.deepEqual((await find()).unrecorded, []);
});
