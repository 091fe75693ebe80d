/**
 * A tool that is missing, that hangs, that is stopped while it plans, and one that floods its log. A wrapper
 * wraps the real tool.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { covers } from '#contract/documents/coverage.ts';
import { findProgram, terraform, withoutTerraform } from './programs.ts';
import {
  createEnvironment,
  deploy,
  deployAndEnd,
  type EnvironmentRequest,
  type Home,
  homeOf,
  stepLines,
  streamedLogs,
  until,
  untilEnd,
} from './runs.ts';
import { makeRepository, type RunningService, scratchFolder, startService } from './service.ts';

const git = await findProgram('git');

const megabyte = 1_000_000;
const line = 'terraform says a lot on this line, '.repeat(3);
const begin = Buffer.from('== the flood begins ==\n');
const end = Buffer.from('== the flood ends ==\n');
const noises = 10;

/** A variable of the run decides what it does before a plan. */
const wrapper = `#!/bin/sh
if [ "$1" = plan ]; then
  case "$BEFORE_PLAN" in
    hang) trap '' INT TERM; echo hanging; while :; do sleep 0.1; done ;;
    wait) echo waiting; exec sleep 300 ;;
    flood)
      echo '${begin.toString().trim()}'
      yes '${line}' | head -c ${90 * megabyte}
      cat ${'noise '.repeat(noises)}
      echo '${end.toString().trim()}' ;;
  esac
fi
exec ${terraform} "$@"
`;

/** Bytes that are not text, the same at every call. */
function noise(): Buffer {
  const bytes = Buffer.alloc(megabyte);
  let word = 0x2545f491;
  for (let index = 0; index < bytes.length; index += 4) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    bytes.writeInt32LE(word, index);
  }
  return bytes;
}

/** All that the wrapper writes: 90 MB of text and 10 MB of other bytes. */
function flood(): Buffer {
  return Buffer.concat([
    begin,
    Buffer.alloc(90 * megabyte, `${line}\n`),
    ...Array.from({ length: noises }, noise),
    end,
  ]);
}

/** Folders of the PATH without a terraform. */
async function pathWithoutTerraform(): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const has = await Promise.all(
    folders.map((folder) =>
      readFile(join(folder, 'terraform')).then(
        () => true,
        () => false,
      ),
    ),
  );
  return folders.filter((_, index) => !has[index]);
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a misbehaving tool', {
  skip: withoutTerraform || (git === null && 'git is not on the PATH'),
}, () => {
  let folder: string;
  let programs: string;
  let service: RunningService;
  let client: Client;
  let home: Home;
  let repository: string;

  const install = () => writeFile(join(programs, 'terraform'), wrapper, { mode: 0o755 });

  before(async () => {
    folder = await scratchFolder();
    programs = join(folder, 'programs');
    await mkdir(programs);
    await symlink(git ?? '', join(programs, 'git'));
    await install();
    const settings = {
      PATH: [programs, ...(await pathWithoutTerraform())].join(delimiter),
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_RUN_TIME_LIMIT_SECONDS: '25',
      ENVARIUM_ABORT_SECONDS: '1',
      ENVARIUM_RATE_LIMIT: '0',
      ENVARIUM_AGENT_CONCURRENCY: '4',
    };
    service = await startService({ folder, settings });
    client = service.client;
    home = await homeOf(client);
    repository = (
      await makeRepository(folder, 'small', {
        'main.tf': 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n',
      })
    ).path;
  });
  after(() => service?.[Symbol.asyncDispose]());

  const beforePlan = (value: string): EnvironmentRequest => ({
    repository,
    configurationChanges: [{ name: 'BEFORE_PLAN', value, type: 0 }],
  });
  const untilSaid = (deploymentLogId: string, word: string) =>
    until(`"${word}" in the log`, async () => {
      const step = (await client.call('listSteps', { params: { deploymentLogId } })).find(
        ({ name }) => name === 'tf:plan',
      );
      return (
        step?.status === 'IN_PROGRESS' &&
        (await stepLines(client, deploymentLogId, 'tf:plan')).some(({ message }) => message.includes(word))
      );
    });

  describe('during a run', { concurrency: 2 }, () => {
    test('a hanging tool is stopped by the time limit or an abort, and its environment can be deployed again', async () => {
      covers('Deployment', 'status', 'error');
      const hanging = await createEnvironment(client, home, beforePlan('hang'));
      const waiting = await createEnvironment(client, home, beforePlan('wait'));
      const stuck = await createEnvironment(client, home, {
        repository: (
          await makeRepository(folder, 'stuck', {
            'main.tf': `resource "terraform_data" "first" {}
resource "terraform_data" "stuck" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "trap '' INT TERM; while [ \\"$STUCK\\" != no ]; do sleep 0.1; done" }
}
`,
          })
        ).path,
      });
      await untilSaid(waiting.deploymentId, 'waiting');
      await client.call('abortDeployment', { params: { id: waiting.deploymentId } });
      const aborted = await untilEnd(client, waiting.deploymentId, 'ABORTED');
      assert.equal(aborted.stateVersionId, undefined);
      assert.equal((await client.call('getEnvironment', { params: { id: waiting.id } })).status, 'ABORTED');
      const late = await untilEnd(client, hanging.deploymentId, 'TIMEOUT');
      assert.match(late.error?.message ?? '', /ENVARIUM_RUN_TIME_LIMIT_SECONDS|time limit/);
      assert.equal((await client.call('getEnvironment', { params: { id: hanging.id } })).status, 'TIMEOUT');
      const cut = await untilEnd(client, stuck.deploymentId, 'TIMEOUT');
      assert.equal(cut.failedCommand, 'terraform apply');
      assert.ok(cut.stateVersionId, 'what was made is recorded');
      assert.equal(
        (
          await deployAndEnd(client, stuck.id, {
            configurationChanges: [{ name: 'STUCK', value: 'no', type: 0 }],
          })
        ).resourceCount,
        2,
      );
      for (const { id } of [hanging, waiting]) {
        assert.equal(
          (
            await deployAndEnd(client, id, {
              configurationChanges: [{ name: 'BEFORE_PLAN', value: 'nothing', type: 0 }],
            })
          ).resourceCount,
          1,
        );
      }
    });

    test('the 100 MB of text and bytes that a tool writes are all in the log, live and page by page', async () => {
      const written = flood();
      const noisy = await makeRepository(folder, 'noisy', {
        'main.tf': 'resource "terraform_data" "it" {}\n',
      });
      await writeFile(join(noisy.path, 'noise'), noise());
      await noisy.commit({});
      const { deploymentId } = await createEnvironment(client, home, {
        ...beforePlan('flood'),
        repository: noisy.path,
      });
      const log = (await streamedLogs(client, deploymentId)).get('tf:plan') ?? Buffer.alloc(0);
      await untilEnd(client, deploymentId);
      const start = log.indexOf(begin);
      const stop = log.lastIndexOf(end) + end.length;
      assert.equal(stop - start, written.length);
      assert.equal(sha256(log.subarray(start, stop)), sha256(written));
      const lines = await stepLines(client, deploymentId, 'tf:plan');
      const text = lines.map(({ message }) => message).join('\n');
      const expected = log
        .toString('latin1')
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => Buffer.from(line, 'latin1').toString('utf8').replace(/\r$/, ''));
      assert.equal(lines.length, expected.length);
      assert.equal(sha256(Buffer.from(text)), sha256(Buffer.from(expected.join('\n'))));
    });
  });

  test('a missing tool is reported by name, and found without a restart once it is installed', async () => {
    await rm(join(programs, 'terraform'));
    const { id, deploymentId } = await createEnvironment(client, home, { repository });
    const message = await until('a word about terraform', async () => {
      const { status, error, waitingFor } = await client.call('getDeployment', {
        params: { id: deploymentId },
      });
      return status === 'FAILURE'
        ? error?.message
        : waitingFor?.text.includes('terraform') && waitingFor.text;
    });
    assert.match(message, /terraform.*install|install.*terraform/s);
    await install();
    const { status } = await client.call('getDeployment', { params: { id: deploymentId } });
    const next = status === 'FAILURE' ? (await deploy(client, id)).id : deploymentId;
    await untilEnd(client, next);
  });
});
