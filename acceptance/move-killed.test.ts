/**
 * A state that moves into ours while runner and service are killed: it becomes one version, and what the
 * backend keeps stays as it was.
 */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveMark, type Marks, startMarks } from './marks.ts';
import { terraform, withoutTerraform } from './programs.ts';
import { createEnvironment, homeOf, until, untilEnd } from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

/** Each story has a state of its own: no one gets the state of another environment in use. */
const lineageOf = (story: string) => `kept-elsewhere-by-${story}`;

const keptBy = (story: string) =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial: 7,
    lineage: lineageOf(story),
    outputs: {},
    resources: [
      {
        mode: 'managed',
        type: 'terraform_data',
        name: 'it',
        provider: 'provider["terraform.io/builtin/terraform"]',
        instances: [
          {
            schema_version: 0,
            attributes: { id: 'made-before', input: null, output: null, triggers_replace: null },
          },
        ],
      },
    ],
  });

describe('a state that moves into the service', { skip: withoutTerraform }, () => {
  let folder: string;
  let service: RunningService;
  let settings: Record<string, string>;
  let marks: Marks;
  const requests: string[] = [];
  /** Readers that wait for the backend's answer, while it gives none. */
  let waiting: (() => void)[] | null = null;
  const backend = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const [story = ''] = /[a-z]+/.exec(request.url ?? '') ?? [];
    const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end(keptBy(story));
    if (waiting) waiting.push(answer);
    else answer();
  });

  before(async () => {
    folder = await scratchFolder();
    marks = await startMarks(['plan']);
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
    const programs = join(folder, 'programs');
    await mkdir(programs);
    const script = `#!/bin/sh\nif [ "$1" = plan ]; then ${leaveMark('"$ENVARIUM_TEST_PLACE"', 'plan')}; fi\nexec ${terraform} "$@"\n`;
    await writeFile(join(programs, 'terraform'), script, { mode: 0o755 });
    settings = {
      PATH: [programs, process.env.PATH].join(delimiter),
      ENVARIUM_BOOTSTRAP_API_SECRET: 'a'.repeat(43),
      ENVARIUM_HEARTBEAT_SECONDS: '1',
      ENVARIUM_ABORT_SECONDS: '2',
      ENVARIUM_LOG_LEVEL: 'warn',
    };
    service = await startService({ folder, settings });
  });
  after(async () => {
    await service?.stop();
    await marks?.[Symbol.asyncDispose]();
    backend.closeAllConnections();
    await new Promise((resolve) => backend.close(resolve));
  });

  const versions = (id: string) => service.client.call('listStateVersions', { params: { id } });
  const readsOf = (story: string) => requests.filter((line) => line.endsWith(`/${story}`));

  async function begin(story: string) {
    const address = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/${story}`;
    const code = `terraform {\n  backend "http" {\n    address = "${address}"\n  }\n}\nresource "terraform_data" "it" {}\n`;
    const { path } = await makeRepository(folder, story, { 'main.tf': code });
    return createEnvironment(service.client, await homeOf(service.client), {
      repository: path,
      isRemoteBackend: true,
      configurationChanges: [{ name: 'ENVARIUM_TEST_PLACE', value: marks.addressOf(story), type: 0 }],
    });
  }

  /** The runner of the one attempt that has not ended. */
  const runnerPid = () =>
    until('the runner', async () => {
      const attempts = join(folder, 'data', 'spool', 'attempts');
      for (const attempt of await readdir(attempts)) {
        if ((await readdir(join(attempts, attempt))).includes('outcome.json')) continue;
        const { pid } = JSON.parse(
          await readFile(join(attempts, attempt, 'runner.json'), 'utf8').catch(() => '{}'),
        ) as { pid?: number };
        if (pid !== undefined) return pid;
      }
      return undefined;
    });

  async function isMovedOnce(id: string, deploymentId: string, story: string): Promise<void> {
    const deployment = await untilEnd(service.client, deploymentId);
    assert.deepEqual(deployment.planSummary, { added: 0, changed: 0, destroyed: 0 });
    const moved = (await versions(id)).filter(({ origin }) => origin === 'moved');
    assert.deepEqual(
      moved.map(({ serial, lineage }) => [serial, lineage]),
      [[7, lineageOf(story)]],
    );
    assert.ok(
      (await versions(id)).every(
        ({ lineage, standing }) => lineage === lineageOf(story) && standing !== 'rescued',
      ),
    );
    assert.ok(
      readsOf(story).every((line) => line.startsWith('GET ')),
      'nothing is written there',
    );
  }

  test('the state is requested again after the runner is killed while it reads the backend', async () => {
    waiting = [];
    const { id, deploymentId } = await begin('asking');
    marks.open('asking', 'plan');
    const held = waiting;
    await until('a request to the backend', () => held.length > 0);
    process.kill(await runnerPid(), 'SIGKILL');
    waiting = null;
    for (const answer of held) answer();
    await isMovedOnce(id, deploymentId, 'asking');
  });

  test('a stored state is found after the runner is killed, without reading the backend again', async () => {
    const { id, deploymentId } = await begin('stored');
    await until('the plan', () => marks.of('stored').length > 0);
    await until('the version', async () => (await versions(id)).length > 0);
    const reads = readsOf('stored').length;
    process.kill(await runnerPid(), 'SIGKILL');
    await until('a second plan', () => marks.of('stored').length > 1);
    marks.open('stored', 'plan');
    await isMovedOnce(id, deploymentId, 'stored');
    assert.equal(readsOf('stored').length, reads);
  });

  test('the next service stores the state after the service is killed', async () => {
    waiting = [];
    const { id, deploymentId } = await begin('service');
    const held = waiting;
    await until('a request to the backend', () => held.length > 0);
    await service.kill();
    waiting = null;
    for (const answer of held) answer();
    service = await startService({ folder, settings });
    marks.open('service', 'plan');
    await isMovedOnce(id, deploymentId, 'service');
  });
});
