/** The database stores nothing for a while, in the middle of an apply. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ApiError } from '#contract/client/client.ts';
import { withDatabase } from '../database.ts';
import { leaveMark, type Marks, startMarks } from '../marks.ts';
import { withoutTerraform } from '../programs.ts';
import { createEnvironment, deployAndEnd, homeOf, until, untilEnd, wholeLog } from '../runs.ts';
import {
  makeRepository,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
} from '../service.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const skip = !isRoot ? 'needs root, to mount a small file system' : withoutTerraform;
const megabytes = 192;

const configuration = (place: string) => `resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "${leaveMark(place, 'begin')}; for i in $(seq 1 2000); do echo line $i of the run; done; ${leaveMark(place, 'end')}"
  }
}
`;

/** A trouble of the database. */
interface Trouble {
  readonly what: string;
  readonly refusal: RegExp;
  begin(service: RunningService): Promise<void>;
  end(service: RunningService): Promise<void>;
}

const busy = /database is busy/;
const diskOf = (folder: string) => join(folder, 'data', 'postgresql');
const ballastOf = (folder: string) => join(diskOf(folder), 'ballast');

async function setReadOnly(service: RunningService, isReadOnly: boolean): Promise<void> {
  await withDatabase(service, async (database) => {
    await database.query(`alter system set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
    await database.query('select pg_reload_conf()');
  });
}

const troubles: readonly Trouble[] = [
  {
    what: 'its disk is full',
    // If it cannot even write its log, it ends, and is started again and again.
    refusal: /disk of the database is full|database does not answer/,
    async begin({ folder }) {
      const { bavail, bsize } = await statfs(diskOf(folder));
      await writeFile(ballastOf(folder), Buffer.alloc(bavail * bsize)).catch(() => undefined);
    },
    async end({ folder }) {
      await rm(ballastOf(folder));
    },
  },
  {
    what: 'it is read-only',
    refusal: /database is read-only/,
    begin: (service) => setReadOnly(service, true),
    end: (service) => setReadOnly(service, false),
  },
];

for (const trouble of troubles)
  test(`while the database stores nothing because ${trouble.what}, changes are refused with a reason, and a run loses nothing`, {
    skip,
  }, async () => {
    const folder = await scratchFolder();
    const disk = diskOf(folder);
    await mkdir(disk, { recursive: true });
    await chmod(join(folder, 'data'), 0o755);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', disk]);
    const marks = await startMarks(['begin']);
    try {
      await using service = await startService({
        folder,
        settings: { ENVARIUM_LOG_LEVEL: 'error', ENVARIUM_BOOTSTRAP_API_SECRET: 'full'.repeat(11) },
      });
      await liveThrough(trouble, service, marks);
    } finally {
      await marks[Symbol.asyncDispose]();
      await run('umount', ['--lazy', disk]);
      await removeScratch(folder);
    }
  });

async function liveThrough(trouble: Trouble, service: RunningService, marks: Marks): Promise<void> {
  const { client, folder } = service;
  const home = await homeOf(client);
  const { path } = await makeRepository(folder, 'code', { 'main.tf': configuration(marks.addressOf('run')) });
  const { id, deploymentId } = await createEnvironment(client, home, { repository: path });
  await until('the apply', () => marks.of('run').includes('begin'));

  await trouble.begin(service);
  const write = () => refused(() => addProject(client, home.organizationId));
  const refusal = await until('a refusal', async () => {
    const found = await write();
    // A busy machine has reasons of its own before.
    return found !== null && busy.test(found.message) ? null : found;
  });
  assert.equal(refusal.status, 503);
  assert.match(refusal.message, trouble.refusal);
  marks.open('run', 'begin');
  await until('the end of the command', () => marks.of('run').includes('end'));
  // Long enough for the agent to try what cannot be stored.
  await delay(1_000);
  await trouble.end(service);

  // The database may still be starting, or read its settings again.
  await until('the service', async () => (await write()) === null);
  const deployment = await untilEnd(client, deploymentId);
  assert.equal(deployment.resourceCount, 1);
  const lines = (await wholeLog(client, deploymentId)).match(/line \d+ of the run$/gm) ?? [];
  assert.deepEqual([lines.length, new Set(lines).size], [2000, 2000]);
  await deployAndEnd(client, id);
}

type Caller = RunningService['client'];

/** Large enough to need a new page sooner or later. */
async function addProject(client: Caller, organizationId: string): Promise<void> {
  await client.call('createProject', {
    body: { name: `p-${Math.random()}`, organizationId, description: 'x'.repeat(500) },
  });
}

async function refused(call: () => Promise<void>): Promise<ApiError | null> {
  return call().then(
    () => null,
    (error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    },
  );
}
