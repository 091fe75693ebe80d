/**
 * Large states, plans, repositories, logs and numbers of resources in a whole service: each works or is refused by
 * a setting, with less than 500 MB of memory in the server, whose event loop serves others at the same time. The measured
 * values are in docs/operate/running.md.
 */
import assert from 'node:assert/strict';
import { createHash, randomFillSync } from 'node:crypto';
import { createWriteStream, openAsBlob, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { toolboxProgram } from '../tools/toolbox/places.ts';
import { logBytes } from './follow.ts';
import { withoutTerraform } from './programs.ts';
import { createEnvironment, deploy, type Home, homeOf } from './runs.ts';
import {
  makeRepository,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
} from './service.ts';

const mostMegabytes = 500;
const mostTurnMilliseconds = 100;
const patience = 25 * 60_000;
const needs = { skip: withoutTerraform };
const tofu = toolboxProgram('opentofu');

interface Sized {
  readonly folder: string;
  readonly service: RunningService;
  readonly home: Home;
  /** Asks for bytes. */
  get(path: string): Promise<Response>;
}

/** A service whose memory and event loop are measured until the end of the work. */
async function measured(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  work: (sized: Sized) => Promise<void>,
): Promise<void> {
  const folder = await scratchFolder();
  t.after(() => removeScratch(folder));
  const turns = join(folder, 'turns.jsonl');
  await writeFile(turns, '');
  const watch = new URL(`./loop-watch.ts?file=${encodeURIComponent(turns)}`, import.meta.url);
  await using service = await startService({
    folder,
    isLaunched: true,
    settings: {
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_RATE_LIMIT: '0',
      NODE_OPTIONS: `--import=${watch}`,
      PATH: [process.env.PATH, ...(tofu === null ? [] : [dirname(tofu)])].join(':'),
      ...settings,
    },
  });
  const authorization = `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`;
  const get = (path: string) => fetch(`${service.url}/api${path}`, { headers: { authorization } });
  const startedAt = Date.now();
  await work({ folder, service, home: await homeOf(service.client), get });
  // The last turns are written a moment later.
  await delay(1_000);
  const status = await readFile(`/proc/${service.process.pid}/status`, 'utf8');
  const megabytes = Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
  const seen = (await readFile(turns, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Turns);
  const longest = Math.round(Math.max(...seen.filter(({ at }) => at >= startedAt).map(({ cpu }) => cpu)));
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  t.diagnostic(`server: at most ${megabytes} MB, longest turn ${longest} ms, in ${seconds} s`);
  assert.ok(megabytes <= mostMegabytes, `${megabytes} MB of memory in the server`);
  assert.ok(longest <= mostTurnMilliseconds, `${longest} ms in one turn of the event loop`);
}

interface Turns {
  readonly at: number;
  readonly cpu: number;
}

/** Follows a deployment to its end. */
async function followed(
  { service: { client } }: Sized,
  id: string,
  onLog: (step: string, bytes: Buffer) => void = () => undefined,
  isPlan = false,
): Promise<Deployment> {
  for await (const event of client.stream('streamDeployment', {
    params: { id },
    signal: AbortSignal.timeout(patience),
  })) {
    if (event.event === 'log') onLog(event.data.step, logBytes(event));
    if (isPlan && event.event === 'status' && event.data.status === 'WAITING_FOR_USER') break;
  }
  return client.call('getDeployment', { params: { id } });
}

/** Waits for a plan that requires approval. */
function planned(sized: Sized, id: string): Promise<Deployment> {
  return followed(sized, id, undefined, true);
}

function requireSuccess({ status, error }: Deployment): void {
  assert.equal(status, 'SUCCESS', error?.message);
}

/** Reads it to its end without keeping it. */
async function digest(response: Response): Promise<{ sha256: string; bytes: number }> {
  assert.equal(response.status, 200);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

interface StoredState {
  resources: {
    name: string;
    instances: { index_key: number; attributes: Record<string, { value: string }> }[];
  }[];
}

const bigState = `variable "small" {
  default = "a"
}
resource "terraform_data" "big" {
  count = 100
  input = "x"
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "small" {
  input = var.small
}
`;

/** Writes the state with its hundred resources made large; one differs by the mark. */
async function enlarge(file: string, state: StoredState, mark: string): Promise<void> {
  const words = 'größer, with some words 0123456789 ';
  function* pieces() {
    yield `${JSON.stringify({ ...state, resources: undefined }).slice(0, -1)},"resources":[`;
    for (const [index, resource] of state.resources.entries()) {
      const instances = resource.name === 'big' ? [] : resource.instances;
      yield `${index > 0 ? ',' : ''}${JSON.stringify({ ...resource, instances }).slice(0, -2)}`;
      if (resource.name === 'big')
        for (const [place, instance] of resource.instances.entries()) {
          const text = `${place === 7 ? mark : ''}${words}`.padEnd(500_000, words);
          const { attributes } = instance;
          const value = (name: string) => {
            const before = attributes[name];
            return typeof before === 'string' ? text : { ...before, value: text };
          };
          const large = { ...attributes, input: value('input'), output: value('output') };
          yield `${place > 0 ? ',' : ''}${JSON.stringify({ ...instance, attributes: large })}`;
        }
      yield ']}';
    }
    yield ']}';
  }
  await pipeline(Readable.from(pieces()), createWriteStream(file));
}

test('a state of 100 MB is imported, listed, read, compared, rolled back and used by a run', needs, (t) =>
  measured(t, {}, async (sized) => {
    const { folder, service, home, get } = sized;
    const { client } = service;
    const { path } = await makeRepository(folder, 'code', { 'main.tf': bigState });
    const { id, deploymentId } = await createEnvironment(client, home, { repository: path });
    requireSuccess(await followed(sized, deploymentId));
    const list = () => client.call('listStateVersions', { params: { id } });
    const [first] = await list();
    const small = (await (await get(`/state-versions/${first?.id}/content`)).json()) as StoredState;
    const file = join(folder, 'large.tfstate');
    for (const mark of ['one', 'two']) {
      await enlarge(file, small, mark);
      const imported = await fetch(`${service.url}/api/environments/${id}/state-versions`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
          'content-type': 'application/octet-stream',
        },
        body: await openAsBlob(file),
      });
      assert.equal(imported.status, 200, await imported.text());
    }
    const [second, one, ...others] = await list();
    assert.equal(others.length, 1);
    for (const version of [second, one]) {
      const { sha256, bytes } = await digest(await get(`/state-versions/${version?.id}/content`));
      assert.deepEqual({ sha256, bytes }, { sha256: version?.sha256, bytes: version?.bytes });
      assert.ok(bytes > 100_000_000, `${bytes}`);
    }
    const compared = await client.call('compareStateVersions', { params: { id: second?.id ?? '' } });
    assert.deepEqual(
      compared.resources.map(({ address, change }) => [address, change]),
      [['terraform_data.big[7]', 'changed']],
    );
    assert.equal(compared.unchangedResourceCount, 100);
    const tooMuch = await get(`/state-versions/${second?.id}/compare?with=${first?.id}`);
    assert.equal(tooMuch.status, 409);
    assert.match(await tooMuch.text(), /differ in too much to be shown here: download both/);
    const back = await client.call('rollBackState', { params: { id: one?.id ?? '' }, body: {} });
    assert.equal(back.bytes, one?.bytes);
    const again = await deploy(client, id, {
      configurationChanges: [{ name: 'small', value: 'b', type: 1 }],
    });
    requireSuccess(await followed(sized, again.id));
    const [ofRun] = await list();
    assert.ok(ofRun?.origin === 'run' && ofRun.bytes > 100_000_000, JSON.stringify(ofRun));
    const byRun = await client.call('compareStateVersions', { params: { id: ofRun.id } });
    assert.deepEqual(
      byRun.resources.map(({ address }) => address),
      ['terraform_data.small'],
    );
  }),
);

test('a state above its limit is refused with the setting', needs, (t) =>
  measured(t, { ENVARIUM_STATE_LIMIT_MB: '20' }, async ({ folder, service, home }) => {
    const { path } = await makeRepository(folder, 'code', { 'main.tf': bigState });
    const { id } = await createEnvironment(service.client, home, {
      repository: path,
      requiresApproval: true,
    });
    const answer = await fetch(`${service.url}/api/environments/${id}/state-versions`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${service.key}:${service.secret}`).toString('base64')}`,
        'content-type': 'application/octet-stream',
      },
      body: Buffer.alloc(60_000_000, ' '),
    });
    assert.equal(answer.status, 413);
    assert.match(await answer.text(), /limit set by ENVARIUM_STATE_LIMIT_MB/);
  }),
);

test('a plan of 200 MB as JSON is read and shown', needs, (t) =>
  measured(t, {}, async (sized) => {
    const { folder, service, home } = sized;
    const { path } = await makeRepository(folder, 'code', {
      'main.tf': `locals {
  thousand = join("", [for i in range(100) : "0123456789"])
  text     = join("", [for i in range(1000) : local.thousand])
}
resource "terraform_data" "big" {
  count = 100
  input = sensitive("\${count.index} \${local.text}")
}
`,
    });
    const created = await createEnvironment(service.client, home, {
      repository: path,
      requiresApproval: true,
    });
    const { status, error, plan } = await planned(sized, created.deploymentId);
    assert.equal(status, 'WAITING_FOR_USER', error?.message);
    assert.equal(plan?.resourceChanges.length, 100);
  }),
);

test(
  'a repository of 2 GB is cloned and planned; what its apply needs is above the limit and refused',
  needs,
  (t) =>
    measured(t, {}, async (sized) => {
      const { folder, service, home } = sized;
      const { path, git } = await makeRepository(folder, 'code', {
        'main.tf': 'resource "terraform_data" "one" {}\n',
      });
      await mkdir(join(path, 'blobs'));
      const content = Buffer.alloc(10_000_000);
      for (let index = 0; index < 200; index++)
        writeFileSync(join(path, 'blobs', `${index}.bin`), randomFillSync(content));
      await git('config', 'core.compression', '0');
      await git('config', 'core.bigFileThreshold', '1m');
      await git('add', '--all');
      await git('commit', '--quiet', '--message', 'Large files');
      const request = { repository: path };
      const refused = await createEnvironment(service.client, home, request);
      const { status, error } = await followed(sized, refused.deploymentId);
      assert.equal(status, 'FAILURE');
      assert.match(
        error?.message ?? '',
        /at most 1024 MB can be transferred: .* raise ENVARIUM_TRAVEL_LIMIT_MB/,
      );
    }),
);

test('a log of 1 GB is stored as it was printed, followed live and read page by page', needs, (t) =>
  measured(t, { ENVARIUM_STEP_LOG_LIMIT_MB: '2000' }, async (sized) => {
    const { folder, service, home } = sized;
    const rest = 'x'.repeat(1015);
    const lines = 1_000_000;
    const { path } = await makeRepository(folder, 'code', {
      'main.tf': 'resource "terraform_data" "it" {}\n',
    });
    const { id, deploymentId: first } = await createEnvironment(service.client, home, { repository: path });
    requireSuccess(await followed(sized, first));
    const { id: deploymentId } = await deploy(service.client, id, {
      deploymentType: 'task',
      taskPayload: `seq -f '%08.0f ${rest}' 1 ${lines}\n`,
    });
    const live = createHash('sha256');
    let bytes = 0;
    let name = '';
    requireSuccess(
      await followed(sized, deploymentId, (step, part) => {
        if (!step.startsWith('task')) return;
        name = step;
        live.update(part);
        bytes += part.length;
      }),
    );
    assert.ok(bytes > 1_000_000_000, `${bytes}`);
    const stored = createHash('sha256');
    let next = 1;
    const params = { deploymentLogId: deploymentId, name };
    for (let startTime: string | undefined; ; ) {
      const page = await service.client.call('getStepLog', { params, query: { startTime } });
      for (const { message } of page.events) {
        stored.update(`${message}\n`);
        const number = /(\d{8}) x{1015}$/.exec(message)?.[1];
        if (number !== undefined) assert.equal(Number(number), next++);
      }
      if (!page.hasMoreLogs) break;
      startTime = page.nextStartTime;
    }
    assert.equal(next, lines + 1);
    assert.equal(stored.digest('hex'), live.digest('hex'));
  }),
);

test(
  '5,000 resources are planned, approved, created and shown',
  { skip: tofu === null ? 'needs npm run toolbox' : false },
  (t) =>
    measured(t, {}, async (sized) => {
      const { folder, service, get, home } = sized;
      const { client } = service;
      const { path } = await makeRepository(folder, 'code', {
        'main.tf': 'resource "terraform_data" "it" {\n  count = 5000\n  input = count.index\n}\n',
      });
      const { id, deploymentId } = await createEnvironment(
        client,
        { ...home, type: 'opentofu' },
        { repository: path, requiresApproval: true },
      );
      const { plan, error } = await planned(sized, deploymentId);
      assert.equal(plan?.resourceChanges.length, 5000, error?.message);
      await client.call('approveDeployment', { params: { id: deploymentId } });
      requireSuccess(await followed(sized, deploymentId));
      const resources = await client.call('listDeploymentResources', { params: { id: deploymentId } });
      assert.equal(resources.length, 5000);
      for (const place of [
        `/environments/${id}`,
        `/environments/${id}/deployments`,
        `/environments?organizationId=${home.organizationId}`,
        `/environments/deployments/${deploymentId}/timeline`,
      ])
        assert.ok((await digest(await get(place))).bytes > 0, place);
      const [version] = await client.call('listStateVersions', { params: { id } });
      assert.equal(version?.resourceCount, 5000);
      assert.equal(
        (await digest(await get(`/state-versions/${version?.id}/content`))).sha256,
        version?.sha256,
      );
    }),
);
